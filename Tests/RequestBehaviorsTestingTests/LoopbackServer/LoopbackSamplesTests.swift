import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

/// The samples of the server's documentation.
@Suite struct LoopbackSamplesTests {
  private let get = "GET /users/1 HTTP/1.1\r\nHost: x\r\n\r\n"

  @Test func `the queue comes before the handler`() async throws {
    let server = try LoopbackServer { request in
      request.path == "/users/1" ? .json(#"{"id": 1, "name": "Ada"}"#) : .status(404)
    }
    server.enqueue(.status(503).header("Retry-After", "1"))

    let client = try RawClient(port: server.port)
    try client.send(get)
    #expect(try await client.readHead().contains("Retry-After: 1"))
    try client.send(get)
    #expect(try await client.readHead().hasPrefix("HTTP/1.1 200 "))
    let received = await server.requests(count: 2)
    #expect(received.map(\.path) == ["/users/1", "/users/1"])
  }

  @Test func `a chunk is held while the test looks`() async throws {
    let server = try LoopbackServer()
    let gate = LoopbackGate()
    server.enqueue(.chunked(["one", "two"]).held(by: gate, at: .body(after: 8)))
    try await {
      let client = try RawClient(port: server.port)
      try client.send(get)
      _ = try await client.readHead()
      #expect(try await client.read(8) == "3\r\none\r\n")
      await gate.arrivals(1)
      gate.open()
      #expect(try await client.read(8) == "3\r\ntwo\r\n")
    }()
    await server.openConnections(atMost: 0)
  }

  /// The table of faults.
  @Test(arguments: [
    (LoopbackResponse.status(200).fault(.close, at: .request), ""),
    (.status(200).fault(.close, at: .accept), ""),
    (.text("hi").fault(.close, at: .head(after: 20)), "HTTP/1.1 200 OK\r\nCon"),
    (LoopbackResponse(body: Data("hi".utf8)).fault(.close, at: .end), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
    (
      LoopbackResponse(body: Data("hi".utf8)).header("Content-Length", "10"),
      "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\nhi"
    ),
    (.raw("HTTP/1.1 200\r\n\r\n"), "HTTP/1.1 200\r\n\r\n"),
  ])
  func `the faults of the table are what they are said to be`(response: LoopbackResponse, wire: String) async throws {
    let server = try LoopbackServer()
    server.enqueue(response)
    #expect(try await RawClient(port: server.port).exchange(get) == wire)
  }
}
