import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The length of a body by its head, and whether it is complete (RFC 9112 §6.3).
@Suite(.limited) struct ResponseFramingTests {
  private let transport = URLSessionTransport()

  private func raw(_ fields: String, _ body: String = "hello", status: String = "200 OK") -> LoopbackResponse {
    .raw("HTTP/1.1 \(status)\r\n\(fields)\r\n\r\n\(body)")
  }

  @Test(arguments: [
    "Content-Length: 5\r\nContent-Length: 3", "Content-Length: 3\r\nContent-Length: 5", "Content-Length: 5, 3",
    "Content-Length: 5,", "Content-Length: +5",
  ])
  func `contradictory or invalid lengths are refused`(fields: String) async throws {
    let server = try LoopbackServer()
    server.enqueue(raw(fields))
    let error = try await transport.failure(of: server.request())
    #expect(error.code == .badResponse)
    #expect(error.request != nil)
  }

  @Test func `contradicting lengths are refused with every status and method`() async throws {
    let lengths = "Content-Length: 3\r\nContent-Length: 5"
    let server = try LoopbackServer()
    server.enqueue(
      raw(lengths, status: "404 Not Found"), raw(lengths, "", status: "304 Not Modified"), raw(lengths, ""),
      raw("\(lengths)\r\nLocation: /b", status: "302 Found"), raw(lengths, status: "301 Moved"),
      raw("\(lengths)\r\nWWW-Authenticate: Basic realm=\"x\"", status: "401 Unauthorized"))
    for method in [RequestMethod.get, .get, .head, .get, .get, .get] {
      let error = try await transport.failure(of: server.request(method))
      #expect(error.code == .badResponse)
      #expect(error.message == "the response has more than one Content-Length: 3, 5")
    }
  }

  @Test func `the same length twice is one length`() async throws {
    let server = try LoopbackServer()
    server.enqueue(raw("Content-Length: 5\r\nContent-Length: 5"), raw("Content-Length: 5, 5"))
    for _ in 1...2 { #expect(try await transport.send(server.request()).text == "hello") }
  }

  @Test(
    .enabled(if: isLinux, "elsewhere the platform names another coding than came"),
    arguments: ["gzip", "identity", "chunked, chunked", "gzip, chunked", "chunkedx", "\"chunked\""])
  func `a transfer coding other than chunks is refused`(coding: String) async throws {
    let server = try LoopbackServer()
    server.enqueue(raw("Transfer-Encoding: \(coding)", "5\r\nhello\r\n0\r\n\r\n"))
    let error = try await transport.failure(of: server.request())
    #expect(error.code == .badResponse)
  }

  @Test(.enabled(if: isLinux, "not known of others"))
  func `a body without any encoded data is incomplete if it ends with the connection`() async throws {
    let server = try LoopbackServer()
    server.enqueue(raw("Content-Encoding: gzip", ""))
    #expect(try await transport.failure(of: server.request()).code == .truncatedBody)
    server.enqueue(raw("Content-Encoding: gzip\r\nContent-Length: 0", ""), raw("Content-Encoding: gzip", ""))
    #expect(try await transport.send(server.request()).data.isEmpty)
    #expect(try await transport.send(server.request(.head)).data.isEmpty)
  }

  @Test func `a length that is too large for an integer is too long`() async throws {
    let server = try LoopbackServer()
    server.enqueue(raw("Content-Length: 99999999999999999999"))
    let error = try await transport.failure(of: server.request())
    #expect([.bodyTooLarge, .badResponse].contains(error.code))
  }

  @Test func `more than 1,000 header fields are refused`() async throws {
    func fields(_ count: Int) -> String {
      (1..<count).map { "X-\($0): y" }.joined(separator: "\r\n") + "\r\nContent-Length: 5"
    }
    let server = try LoopbackServer()
    server.enqueue(raw(fields(1_000)), raw(fields(1_001)))
    #expect(try await transport.send(server.request()).headers.count == 1_000)
    let error = try await transport.failure(of: server.request())
    #expect(error.code == .badResponse)
    #expect(error.message == "the response has 1001 header fields; at most 1000 are accepted")
  }

  @Test func `a response without fields is refused if the platform accepts any bytes as HTTP`() throws {
    func objection(_ status: Int, _ fields: [String: String], takesAnything: Bool) throws -> String? {
      let response = try #require(
        HTTPURLResponse(url: baseURL, statusCode: status, httpVersion: nil, headerFields: fields))
      return ResponseFraming(response, to: .get, takesAnythingForHTTP: takesAnything).objection
    }
    #expect(try objection(200, [:], takesAnything: true) == "the response has no header field: it is not HTTP/1.1")
    #expect(try objection(200, [:], takesAnything: false) == nil)
    #expect(try objection(204, [:], takesAnything: true) == nil)
    #expect(try objection(200, ["Date": "x"], takesAnything: true) == nil)
  }

  #if os(Linux)
    /// What Limitations in the documentation says of URLSession on Linux; when it fails, the documentation can follow.
    @Test func `a compressed body that is cut off passes as whole`() async throws {
      let compressed = Data(base64Encoded: "H4sIAAAAAAACA0tMHAWjYBSMgqEBACs6PfuwBAAA") ?? Data()
      let server = try LoopbackServer()
      server.enqueue(.data(compressed.dropLast(12)).header("Content-Encoding", "gzip"))
      #expect(try await transport.send(server.request()).data.count < 1_200)
    }

    @Test func `the body of a redirect without Location is lost`() async throws {
      let server = try LoopbackServer()
      server.enqueue(.text("moved", status: 301))
      let response = try await transport.send(server.request())
      #expect(response.statusCode == 301)
      #expect(try response.text == "")
    }
  #endif
}
