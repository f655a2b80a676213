import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

/// Each kind of response on the wire, byte by byte.
@Suite(.limited) struct LoopbackFramingTests {
  private static let get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

  /// Everything that the server sends in answer to a request, up to the end of the connection or, if it stays open, what
  /// comes before the response to a next request.
  private func answer(_ response: LoopbackResponse, to request: String = get) async throws -> String {
    let mark = "HTTP/1.1 299 \r\nConnection: close\r\n\r\n"
    let server = try LoopbackServer { _ in .raw(mark) }
    server.enqueue(response)
    let client = try RawClient(port: server.port)
    let all = try await client.exchange(request + LoopbackFramingTests.get)
    return all.hasSuffix(mark) ? "\(all.dropLast(mark.count))(open)" : all
  }

  @Test func `a body has a Content-Length and the connection stays open`() async throws {
    let json = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 8\r\n\r\n{\"id\":1}(open)"
    #expect(try await answer(.json(#"{"id":1}"#)) == json)
    #expect(try await answer(.json(encoding: ["id": 1])) == json)
    #expect(
      try await answer(.html("<p>", status: 404))
        == "HTTP/1.1 404 Not Found\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 3\r\n\r\n<p>(open)")
    #expect(
      try await answer(.data(Data([0x41]), repeated: 3))
        == "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: 3\r\n\r\nAAA(open)")
  }

  @Test func `reason, header fields in order and repeated ones are sent as given`() async throws {
    let response = LoopbackResponse.status(299).reason("Fine").header("b", "1").header("A", "2").header("b", "3")
    #expect(
      try await answer(response) == "HTTP/1.1 299 Fine\r\nb: 1\r\nA: 2\r\nb: 3\r\nContent-Length: 0\r\n\r\n(open)")
  }

  @Test func `a redirect has a Location and the status`() async throws {
    #expect(
      try await answer(.redirect(to: "../x", status: 308))
        == "HTTP/1.1 308 Permanent Redirect\r\nLocation: ../x\r\nContent-Length: 0\r\n\r\n(open)")
  }

  @Test func `chunks are sent with their sizes, empty ones left out, and trailers at the end`() async throws {
    #expect(
      try await answer(.chunked(["one", "", "sixteen bytes ok"], trailers: ["X-Sum": "9"]))
        == "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n10\r\nsixteen bytes ok\r\n"
        + "0\r\nX-Sum: 9\r\n\r\n(open)")
  }

  @Test func `an HTTP/1.0 client gets chunks as one body that ends with the connection`() async throws {
    #expect(
      try await answer(.chunked(["one", "two"]), to: "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        == "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nonetwo")
  }

  @Test func `a close-delimited body has no length and ends with the connection`() async throws {
    #expect(try await answer(.closeDelimited("abc")) == "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc")
  }

  @Test func `a raw response is sent unchanged`() async throws {
    #expect(try await answer(.raw("HTTP/1.1 200\r\n\r\n")) == "HTTP/1.1 200\r\n\r\n")
    #expect(
      try await answer(.raw("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", closes: false))
        == "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n(open)")
    #expect(try await !answer(.garbage).contains("HTTP"))
  }

  @Test func `the response to HEAD has the head of a GET, and no body`() async throws {
    let request = "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n"
    #expect(
      try await answer(LoopbackResponse(body: Data("hello".utf8)), to: request)
        == "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n(open)")
    #expect(
      try await answer(.chunked(["hello"]), to: request)
        == "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n(open)")
  }

  @Test func `204 and 304 have neither body nor length`() async throws {
    let body = Data("no".utf8)
    #expect(try await answer(LoopbackResponse(status: 204, body: body)) == "HTTP/1.1 204 No Content\r\n\r\n(open)")
    #expect(
      try await answer(LoopbackResponse(status: 304, headers: ["ETag": "1"], body: body))
        == "HTTP/1.1 304 Not Modified\r\nETag: 1\r\n\r\n(open)")
  }

  @Test func `framing fields of the response's own are sent instead, and the connection closed if they lie`()
    async throws
  {
    #expect(
      try await answer(LoopbackResponse(body: Data("hello".utf8)).header("Content-Length", "9"))
        == "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nConnection: close\r\n\r\nhello")
    #expect(
      try await answer(LoopbackResponse(body: Data("hello".utf8)).header("content-length", "5"))
        == "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello(open)")
    #expect(
      try await answer(LoopbackResponse(body: Data("0\r\n\r\n".utf8)).header("Transfer-Encoding", "chunked"))
        == "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n")
    #expect(
      try await answer(.status(200).header("Connection", "close"))
        == "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
  }

  @Test func `a bad chunk follows good ones and ends the connection`() async throws {
    #expect(
      try await answer(.badChunk(after: ["one"]))
        == "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n3\r\none\r\nxyz\r\n")
  }

  @Test func `a body too large for one write arrives whole`() async throws {
    let body = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0) })
    let server = try LoopbackServer { _ in .data(body) }
    let client = try RawClient(port: server.port)
    try client.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    _ = try await client.readHead()
    #expect(try await client.readBytes(nil) == Array(body))
  }
}
