import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Which requests go over a connection that has served others.
@Suite(.limited) struct ConnectionReuseTests {
  @Test(arguments: [
    (URLSessionTransport.ConnectionReuse.all, [0, 0, 0, 0, 0]), (.safeRequests, [0, 1, 0, 2, 0]),
    (.never, [0, 1, 2, 3, 4]),
  ])
  func `requests that must not get a stray response have separate connections`(
    reuse: URLSessionTransport.ConnectionReuse, connections: [Int]
  ) async throws {
    let server = try LoopbackServer { _ in .text("ok") }
    var settings = URLSessionTransport.Configuration()
    #expect(settings.connectionReuse == .all)
    settings.connectionReuse = reuse
    let transport = URLSessionTransport(configuration: settings)
    for method in [RequestMethod.get, .post, .head, .delete, .get] {
      let body: RequestBody? = method == .post ? .data(Data("x".utf8)) : nil
      _ = try await transport.send(server.request(method, body: body))
    }
    #expect(server.requests.map(\.connectionIndex) == connections)
  }

  @Test(.enabled(if: isLinux, "elsewhere the platform does not repeat the request"))
  func `a request with a connection of its own asks the server to close it`() async throws {
    let server = try LoopbackServer { _ in .text("ok") }
    let transport = URLSessionTransport()
    _ = try await transport.send(server.request(.post))
    _ = try await transport.send(server.request(.post, headers: ["Connection": "keep-alive, x"]))
    #expect(server.requests.map { $0.headers["Connection"] } == ["close", "keep-alive, x"])
  }
}
