import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// A server that closes an idle connection at the moment at which a client reuses it.
///
/// URLSession sends the request again by itself then, on Linux without the bytes of the body that it has sent before.
@Suite(.limited) struct StaleConnectionTests {
  // One for all runs, because arguments are made before the tests and nothing runs after them.
  private static let file: URL = {
    let file = FileManager.default.temporaryDirectory.appending(path: "RequestBehaviors-stale-connection-test")
    try? Data("hello".utf8).write(to: file, options: .atomic)
    return file
  }()

  private static let bodies: [RequestBody] = [
    .data(Data("hello".utf8)), .file(file), .stream { ByteStream(chunks: [Data("hel".utf8), Data("lo".utf8)]) },
  ]

  @Test(arguments: [RequestMethod.post, .put, .patch, .delete, "REPORT", .query], bodies)
  func `a body arrives whole or the send fails, without delay`(method: RequestMethod, body: RequestBody) async throws {
    for fault in [LoopbackFault.close, .reset, .close, .reset] {
      let server = try LoopbackServer { .text($0.text) }
      server.enqueue(.text("warm").fault(fault, at: .nextRequest))
      let transport = URLSessionTransport()
      _ = try await transport.send(server.request())
      do {
        let response = try await transport.send(server.request(method, body: body))
        #expect(try response.text == "hello")
      } catch let error as NetworkError {
        #expect(error.code == .connectionLost)
      }
      #expect(server.requests.dropFirst().map(\.text) == [] || server.requests.dropFirst().map(\.text) == ["hello"])
    }
  }

  // Apple's URLSession does not repeat such a request (QA1941): it fails, or another connection is used.
  #if !canImport(FoundationNetworking)
    @Test(arguments: [RequestMethod.post, .patch, "REPORT"], [nil, RequestBody.data(Data())])
    func `a request that must not be repeated and has no body arrives once or fails`(
      method: RequestMethod, body: RequestBody?
    ) async throws {
      let server = try LoopbackServer { _ in .text("ok") }
      server.enqueue(.text("warm").fault(.close, at: .nextRequest))
      let transport = URLSessionTransport()
      _ = try await transport.send(server.request())
      do {
        #expect(try await transport.send(server.request(method, body: body)).text == "ok")
        #expect(server.requestCount == 2)
      } catch let error as NetworkError {
        #expect(error.code == .connectionLost)
        #expect(server.requestCount == 1)
      }
    }
  #endif

  @Test(
    .enabled(if: isLinux, "URLSession does not repeat it elsewhere"),
    arguments: [RequestMethod.post, .patch, "REPORT"], [nil, RequestBody.data(Data())])
  func `a request that must not be repeated and has no body uses a fresh connection`(
    method: RequestMethod, body: RequestBody?
  ) async throws {
    let server = try LoopbackServer { _ in .text("ok") }
    server.enqueue(.text("warm").fault(.close, at: .nextRequest))
    let transport = URLSessionTransport()
    _ = try await transport.send(server.request())
    #expect(try await transport.send(server.request(method, body: body)).text == "ok")
    #expect(try await transport.send(server.request(method, body: body)).text == "ok")
    #expect(server.requests.map(\.connectionIndex) == [0, 1, 2])
    await server.waitForConnections(atMost: 1)
  }

  @Test(
    .enabled(if: isLinux, "elsewhere URLSession may repeat it, and need not"),
    arguments: [RequestMethod.get, .head, .options, .delete, .put])
  func `a request that may be repeated and has no body is sent again`(method: RequestMethod) async throws {
    let server = try LoopbackServer { _ in .text("ok") }
    server.enqueue(.text("warm").fault(.reset, at: .nextRequest))
    let transport = URLSessionTransport()
    _ = try await transport.send(server.request())
    #expect(try await transport.send(server.request(method)).statusCode == 200)
    #expect(server.requests.map(\.method) == [.get, method])
  }

  @Test(.enabled(if: isLinux, "elsewhere URLSession makes no second connection for it"))
  func `a body that was sent before the server went away is not sent again`() async throws {
    let gate = LoopbackGate()
    let server = try LoopbackServer()
    server.enqueue(.text("warm"), .text("held").held(by: gate))
    let retry = RetryPolicy(backoff: Backoff(base: .zero, floor: .zero))
    let client = NetworkClient(baseURL: server.baseURL, behaviors: [.retry(retry)])
    try await client.send(.get("warm"))
    let sent = Task { try await client.send(.post("orders", body: .json(["count": 1]))) }
    await gate.waitForArrivals(1)
    server.stop()
    let error = try await #require(throws: NetworkError.self) { try await sent.value }
    #expect(error.code == .connectionLost, "\(error)")
    #expect(error.progress == NetworkError.Progress(.sent, reusedConnection: true))
    #expect(error.mayHaveArrived)
    #expect(error.attempts.count == 1)
  }
}
