import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

/// The table of faults in the server's documentation.
@Suite(.limited) struct LoopbackFaultTableTests {
  private let get = "GET /users/1 HTTP/1.1\r\nHost: x\r\n\r\n"

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
  func `each fault has the effect that the table documents`(response: LoopbackResponse, wire: String) async throws {
    let server = try LoopbackServer()
    server.enqueue(response)
    #expect(try await RawClient(port: server.port).exchange(get) == wire)
  }
}
