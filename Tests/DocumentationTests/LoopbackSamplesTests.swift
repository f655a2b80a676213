import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

/// The samples of the loopback server's documentation.
@Suite struct LoopbackSamplesTests {
  @Test func `the queue comes before the handler, and the test waits for what arrives`() async throws {
    let server = try LoopbackServer { request in
      request.path == "/users/1" ? .json(#"{"id": 1, "name": "Ada"}"#) : .status(404)
    }
    server.enqueue(.status(503).header("Retry-After", "1"))

    try await {
      let client = NetworkClient(baseURL: server.baseURL)
      let error = await #expect(throws: NetworkError.self) { let _: User = try await client.send(.get("users/1")) }
      #expect(error?.statusCode == 503)
      let user: User = try await client.send(.get("users/1"))
      #expect(user.name == "Ada")
    }()

    let received = await server.waitForRequests(2)  // until two requests have arrived
    await server.waitForConnections(atMost: 0)  // until the client has let go of its connections
    #expect(received.map(\.path) == ["/users/1", "/users/1"])
  }

  @Test func `a chunk is held while the test looks`() async throws {
    let server = try LoopbackServer()
    let client = NetworkClient(baseURL: server.baseURL)
    let gate = LoopbackGate()
    server.enqueue(.chunked(["one", "two"]).held(by: gate, at: .body(after: 8)))
    async let text: String = client.send(.get("file"))
    await gate.waitForArrivals(1)  // the first chunk is sent, the second waits
    gate.open()
    #expect(try await text == "onetwo")
  }
}
