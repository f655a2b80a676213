import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

/// The samples of the loopback server's documentation.
@Suite(.limited) struct LoopbackSamplesTests {
  @Test func `the queue comes before the handler, and the test waits for the requests`() async throws {
    let server = try LoopbackServer { request in
      guard request.path == "/users/1" else { return .status(404) }
      return .json(#"{"id": 1, "name": "Ada"}"#)
    }
    server.enqueue(.status(503).header("Retry-After", "1"))

    try await {
      let client = NetworkClient(baseURL: server.baseURL)
      let error = await #expect(throws: NetworkError.self) { let _: User = try await client.send(.get("users/1")) }
      #expect(error?.statusCode == 503)
      let user: User = try await client.send(.get("users/1"))
      #expect(user.name == "Ada")
    }()

    // Until two requests have arrived.
    let received = await server.waitForRequests(2)
    // Until the client has let go of its connections.
    await server.waitForConnections(atMost: 0)
    #expect(received.map(\.path) == ["/users/1", "/users/1"])
  }

  @Test func `a chunk is held while the test looks`() async throws {
    let server = try LoopbackServer()
    let client = NetworkClient(baseURL: server.baseURL)
    let gate = LoopbackGate()
    server.enqueue(
      .chunked(["one", "two"]).held(by: gate, at: .body(after: 8)))
    async let text: String = client.send(.get("file"))
    await gate.waitForArrivals(1)  // the second chunk waits
    gate.open()
    #expect(try await text == "onetwo")
  }
}
