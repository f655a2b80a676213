import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

/// The server's treatment of valid and invalid requests (RFC 9112).
@Suite(.limited) struct LoopbackProtocolTests {
  private func server(bodyLimit: Int = 100, sendsContinue: Bool = true) throws -> LoopbackServer {
    try LoopbackServer(options: .init(bodyLimit: bodyLimit, sendsContinue: sendsContinue)) { request in
      LoopbackResponse(status: 299, reason: "", body: Data("\(request.path):\(request.text)".utf8))
    }
  }

  private func head(_ length: Int, _ extra: String = "") -> String {
    "HTTP/1.1 299 \r\nContent-Length: \(length)\r\n\(extra)\r\n"
  }

  @Test func `pipelined requests are answered in order, in whatever pieces they arrive`() async throws {
    let server = try server()
    let requests =
      "POST /1 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc\r\n"
      + "POST /2 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nT: 1\r\n\r\n"
      + "GET /3 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    let expected = head(6) + "/1:abc" + head(8) + "/2:abcde" + head(3, "Connection: close\r\n") + "/3:"
    #expect(try await RawClient(port: server.port).exchange(requests) == expected)
    let client = try RawClient(port: server.port)
    for byte in requests.utf8 { try client.send([byte]) }
    #expect(try await client.readToEnd() == expected)
  }

  @Test func `an HTTP/1.0 connection closes unless it asks not to`() async throws {
    let server = try server()
    #expect(
      try await RawClient(port: server.port).exchange("GET / HTTP/1.0\r\n\r\n") == head(2, "Connection: close\r\n")
        + "/:")
    #expect(
      try await RawClient(port: server.port).exchange(
        "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\nGET / HTTP/1.0\r\n\r\n")
        == head(2, "Connection: keep-alive\r\n") + "/:" + head(2, "Connection: close\r\n") + "/:")
  }

  @Test func `a client that expects 100-continue gets it`() async throws {
    let server = try server()
    let client = try RawClient(port: server.port)
    let request = "PUT / HTTP/1.1\r\nHost: x\r\nExpect: 100-Continue\r\nContent-Length: 2\r\nConnection: close\r\n\r\n"
    try client.send(request)
    #expect(try await client.readHead() == "HTTP/1.1 100 Continue\r\n\r\n")
    #expect(try await client.exchange("hi") == head(4, "Connection: close\r\n") + "/:hi")
    let silent = try self.server(sendsContinue: false)
    #expect(
      try await RawClient(port: silent.port).exchange(request + "hi") == head(4, "Connection: close\r\n") + "/:hi")
  }

  @Test func `a body over the limit is refused before it is read`() async throws {
    let server = try server(bodyLimit: 4)
    let post = "POST / HTTP/1.1\r\nHost: x\r\n"
    let refused = try await RawClient(port: server.port).exchange(
      post + "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n")
    #expect(refused.hasPrefix("HTTP/1.1 413 Content Too Large\r\n"))
    #expect(refused.hasSuffix("LoopbackServer: the body is longer than 4 bytes.\n"))
    let chunked = try await RawClient(port: server.port).exchange(
      post + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
    #expect(chunked.hasPrefix("HTTP/1.1 413 "))
    #expect(server.requestCount == 0)
  }

  @Test func `a head over 64 KiB is refused`() async throws {
    let server = try server()
    let line = "X: " + String(repeating: "a", count: 65_000) + "\r\n"
    let request = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    #expect(try await RawClient(port: server.port).exchange(request + line + "\r\n").hasPrefix("HTTP/1.1 299 "))
    #expect(try await RawClient(port: server.port).exchange(request + line + line + "\r\n").hasPrefix("HTTP/1.1 431 "))
  }

  @Test(arguments: [
    ("GET /\r\n\r\n", 400), ("GET  / HTTP/1.1\r\nHost: x\r\n\r\n", 400), ("GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505),
    ("G(T / HTTP/1.1\r\nHost: x\r\n\r\n", 400), ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / ICY/1.1\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost : x\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: x\nX: y\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: x\0y\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
    ("GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\nab\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n+5\r\nhello\r\n0\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n+0\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n 5\r\nhello\r\n0\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1000000000000000\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: +1\r\n\r\na", 400),
  ])
  func `a malformed request is refused with a reason, the connection is closed, and no request is recorded`(
    request: String, status: Int
  ) async throws {
    let server = try server()
    let answer = try await RawClient(port: server.port).exchange(request)
    #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
    #expect(answer.contains("Connection: close\r\n"))
    #expect(server.requestCount == 0)
  }

  @Test func `a request that breaks off is refused and not recorded`() async throws {
    let server = try server()
    for request in ["GET / HTTP/1.1\r\nHo", "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab"] {
      let client = try RawClient(port: server.port)
      try client.send(request)
      client.finish()
      #expect(try await client.readToEnd().hasPrefix("HTTP/1.1 400 "))
    }
    #expect(server.requestCount == 0)
  }

  @Test func `a refused upload is read on, so that the refusal arrives`() async throws {
    let server = try server(bodyLimit: 1)
    let client = try RawClient(port: server.port)
    try client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\n")
    #expect(try await client.readHead().hasPrefix("HTTP/1.1 413 "))
    for _ in 0..<20 { try client.send([UInt8](repeating: 0x61, count: 100_000)) }
    #expect(try await client.readToEnd() == "LoopbackServer: the body is longer than 1 bytes.\n")
  }
}
