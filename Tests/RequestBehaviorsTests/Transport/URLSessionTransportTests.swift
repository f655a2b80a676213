import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

@Suite(.limited) struct URLSessionTransportTests {
  @Test func `a GET brings status, headers, body and timings`() async throws {
    let server = try LoopbackServer()
    server.enqueue(.text("hello", status: 203).header("ETag", "\"a\"").header("X-Two", "1").header("X-Two", "2"))
    let response = try await URLSessionTransport().send(
      server.request(headers: ["Accept": "text/plain", "X-A": "1", "x-a": "2", "Cookie": "a=1", "cookie": "b=2"]))
    #expect(response.statusCode == 203)
    #expect(try response.text == "hello")
    #expect(response.headers["etag"] == "\"a\"")
    #expect(response.headers["x-two"] == "1, 2")
    #expect(response.headers["content-length"] == "5")
    let request = try #require(server.requests.first)
    #expect(request.method == .get)
    #expect(request.headers["Accept"] == "text/plain")
    #expect(request.headers["X-A"] == "1, 2")
    #expect(request.headers["Cookie"] == "a=1; b=2")
    let timings = response.timings
    let (firstByte, lastByte) = (try #require(timings.firstByte), try #require(timings.lastByte))
    #expect(timings.sent <= firstByte)
    #expect(firstByte <= lastByte)
    #expect(timings.total == lastByte - timings.sent)
  }

  @Test(arguments: [RequestMethod.post, .put, .patch, .delete, .query, .options, "REPORT"])
  func `a body is sent unchanged`(method: RequestMethod) async throws {
    let server = try LoopbackServer { .text($0.text) }
    let transport = URLSessionTransport()
    let response = try await transport.send(
      server.request(method, body: .data(Data("a=1".utf8), contentType: "text/x")))
    #expect(try response.text == "a=1")
    #expect(server.requests.first?.method == method)
    #expect(server.requests.first?.headers["Content-Type"] == "text/x")
    _ = try await transport.send(server.request(method, body: .data(Data("a=1".utf8))))
    #expect(server.requests.last?.headers["Content-Type"] == "application/octet-stream")
  }

  @Test func `a task that is already cancelled sends no request`() async throws {
    let server = try LoopbackServer { _ in .status(200) }
    let transport = URLSessionTransport()
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await transport.send(server.request())
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(server.connectionCount == 0)
  }

  @Test(arguments: [100, 102, 103]) func `an interim response without a final one is an error`(status: Int) async throws
  {
    let server = try LoopbackServer()
    server.enqueue(.raw("HTTP/1.1 \(status) Interim\r\nLink: </a>\r\n\r\n"))
    let error = await #expect(throws: NetworkError.self) { try await URLSessionTransport().send(server.request()) }
    #expect([.badResponse, .connectionLost].contains(error?.code))
    #expect(error?.response == nil)
  }

  @Test func `a redirect comes back with its body`() async throws {
    let server = try LoopbackServer()
    server.enqueue(LoopbackResponse(status: 302, headers: ["Location": "/b"], body: Data("moved".utf8)))
    let response = try await URLSessionTransport().send(server.request())
    #expect(response.statusCode == 302)
    #expect(response.headers["Location"] == "/b")
    #expect(try response.text == "moved")
    #expect(server.requestCount == 1)
  }

  @Test(arguments: ["Basic realm=\"x\"", "Basic", "Digest realm=\"x\", nonce=\"y\"", "Bearer"])
  func `a 401 comes back at once with its body`(challenge: String) async throws {
    let server = try LoopbackServer()
    server.enqueue(.text("who?", status: 401).header("WWW-Authenticate", challenge))
    let response = try await URLSessionTransport().send(server.request())
    #expect(response.statusCode == 401)
    #expect(response.headers["WWW-Authenticate"] == challenge)
    #expect(try response.text == "who?")
  }

  @Test func `a send after shutdown is an error`() async throws {
    let server = try LoopbackServer()
    server.enqueue(.status(200).fault(.stall, at: .request))
    let transport = URLSessionTransport()
    async let failure = transport.failure(of: server.request())
    await server.waitForRequests(1)
    await transport.shutdown()
    await transport.shutdown()
    #expect(try await failure.code == .clientShutDown)
    let late = try await transport.failure(of: server.request())
    #expect(late.code == .clientShutDown)
    #expect(late.progress?.stage == .notSent)
  }
}
