import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

@Suite(.limited) struct LoopbackServerTests {
  @Test func `queued responses are served in order, then an error response says that the queue is empty`() async throws
  {
    let server = try LoopbackServer()
    server.enqueue(.text("one"), .status(503))
    let client = try RawClient(port: server.port)
    try client.send("GET /a?b=1 HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(
      try await client.readHead() + client.read(3)
        == "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 3\r\n\r\none")
    try client.send("GET /b HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(try await client.readHead() == "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
    let last = try await client.exchange("GET /c HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    #expect(last.hasPrefix("HTTP/1.1 404 Not Found\r\n"))
    #expect(last.contains("no response is left in the queue for GET /c"))
    #expect(server.queuedResponseCount == 0)
  }

  @Test func `the handler responds when the queue is empty`() async throws {
    let server = try LoopbackServer { request in .json("{\"path\":\"\(request.path)\"}", status: 201) }
    server.enqueue(.status(500))
    let client = try RawClient(port: server.port)
    let answer = try await client.exchange(
      "GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    #expect(answer.hasPrefix("HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\nHTTP/1.1 201 Created\r\n"))
    #expect(answer.hasSuffix("\r\n\r\n{\"path\":\"/2\"}"))
  }

  @Test func `an asynchronous handler responds, and its error becomes a 500`() async throws {
    struct Broken: Error {}
    let server = try LoopbackServer { request in
      let isBroken = await Task { request.path == "/broken" }.value
      if isBroken { throw Broken() }
      return .text(request.text)
    }
    let client = try RawClient(port: server.port)
    try client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi")
    #expect(try await client.readHead().hasSuffix("Content-Length: 2\r\n\r\n"))
    #expect(try await client.read(2) == "hi")
    let failed = try await client.exchange("GET /broken HTTP/1.0\r\n\r\n")
    #expect(failed.hasPrefix("HTTP/1.1 500 "))
    #expect(failed.contains("Broken()"))
  }

  @Test func `a request is recorded as it was sent`() async throws {
    let server = try LoopbackServer { _ in .status(204) }
    let client = try RawClient(port: server.port)
    let head = "POST /a%20b/?q=%2F&q HTTP/1.1\r\nHost: x\r\nX-Two: 1\r\nx-two:  2 \r\nContent-Length: 3\r\n\r\n"
    try client.send(head + "abc" + "GET http://h:1/p HTTP/1.1\r\nHost: h:1\r\n\r\n")
    let requests = await server.waitForRequests(2)
    let first = try #require(requests.first)
    #expect(first.head == head)
    #expect(first.method == .post)
    #expect(first.target == "/a%20b/?q=%2F&q")
    #expect(first.path == "/a%20b/")
    #expect(first.query == "q=%2F&q")
    #expect(first.headers.map(\.name) == ["Host", "X-Two", "x-two", "Content-Length"])
    #expect(first.headers.values(for: "X-TWO") == ["1", "2"])
    #expect(first.text == "abc")
    #expect(first.description == "POST /a%20b/?q=%2F&q (3 bytes)")
    let second = try #require(requests.last)
    #expect(second.path == "/p")
    #expect(second.query == nil)
    #expect(first.requestIndex == 0)
    #expect(second.requestIndex == 1)
    #expect(second.connectionIndex == 0)
  }

  @Test func `connections are counted, and a test can wait for clients to close them`() async throws {
    let server = try LoopbackServer { _ in .status(204) }
    do {
      let clients = try (0..<3).map { _ in try RawClient(port: server.port) }
      for client in clients { try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n") }
      let requests = await server.waitForRequests(3)
      #expect(requests.map(\.connectionIndex).sorted() == [0, 1, 2])
      #expect(server.connectionCount == 3)
      #expect(server.openConnectionCount == 3)
    }
    await server.waitForConnections(atMost: 0)
    #expect(server.openConnectionCount == 0)
    #expect(server.connectionCount == 3)
  }

  @Test func `requests are counted even if they are not kept`() async throws {
    let server = try LoopbackServer(options: .init(recordsRequests: false)) { _ in .status(204) }
    let client = try RawClient(port: server.port)
    try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(await server.waitForRequests(1).isEmpty)
    #expect(server.requestCount == 1)
  }

  @Test func `stopping ends connections and waits, and refuses new connections`() async throws {
    let server = try LoopbackServer()
    server.enqueue(.status(200).fault(.stall, at: .request))
    let client = try RawClient(port: server.port)
    try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    await server.waitForRequests(1)
    async let hopeless = server.waitForRequests(100)
    server.stop()
    server.stop()
    #expect(try await client.readToEnd() == "")
    #expect(await hopeless.count == 1)
    #expect(throws: RawClient.Failure.self) { try RawClient(port: server.port) }
    await server.waitForConnections(atMost: 0)
  }

  @Test func `releasing the server stops it`() throws {
    var server: LoopbackServer? = try LoopbackServer()
    let port = try #require(server?.port)
    server = nil
    #expect(throws: RawClient.Failure.self) { try RawClient(port: port) }
  }

  @Test func `a port in use is an error that says so, and a freed port can be used again`() throws {
    let server = try LoopbackServer()
    let error = #expect(throws: LoopbackError.self) { try LoopbackServer(options: .init(port: server.port)) }
    #expect(error?.call == "bind")
    #expect(error?.description.contains("Port \(server.port) may be in use") == true)
    server.stop()
    let second = try LoopbackServer(options: .init(port: server.port))
    #expect(second.baseURL.absoluteString == "http://127.0.0.1:\(server.port)/")
  }

  @Test(.enabled(if: isLinux, "elsewhere the port is free again"))
  func `the port of a stopped server is reserved for the process`() throws {
    let server = try LoopbackServer()
    server.stop()
    #expect(throws: RawClient.Failure.self) { try RawClient(takingPort: server.port) }
    let second = try LoopbackServer(options: .init(port: server.port))
    #expect(second.port == server.port)
  }

  @Test func `waiting for requests ends when the task is cancelled`() async throws {
    let server = try LoopbackServer()
    let task = Task { await server.waitForRequests(1) }
    task.cancel()
    #expect(await task.value.isEmpty)
  }

  @Test func `two hundred connections are served at once`() async throws {
    let gate = LoopbackGate()
    let server = try LoopbackServer { _ in LoopbackResponse.text("hi").held(by: gate) }
    let clients = try (0..<200).map { _ in try RawClient(port: server.port) }
    for client in clients { try client.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n") }
    await gate.waitForArrivals(200)
    #expect(server.openConnectionCount == 200)
    gate.open()
    for client in clients { #expect(try await client.readToEnd().hasSuffix("\r\n\r\nhi")) }
  }
}
