#if canImport(CRequestBehaviorsCurl)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsCurl
  import RequestBehaviorsTesting
  import Testing

  /// Where the body of a response ends (RFC 9112 §6.3), and which responses leave that in doubt.
  @Suite(.limited) struct CurlFramingTests {
    let server: LoopbackServer
    let transport = CurlTransport()

    init() throws { server = try LoopbackServer { _ in .text("fresh") } }

    private func outcome(
      _ raw: String, isStreamed: Bool, method: RequestMethod = .get, closes: Bool = true
    ) async throws -> NetworkResponse {
      server.enqueue(.raw(raw, closes: closes))
      var request = server.request(method)
      if isStreamed { request.options.delivery = .streamed }
      return try await transport.send(request)
    }

    @Test(
      arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775808\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length: 5, 5,\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length:\r\n 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\t0\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunkedx\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked;a=b\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: \"chunked\"\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: \u{B}chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 103 X\r\nTransfer-Encoding: chunked\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 103 X\r\nContent-Length: 3\r\n\r\nHTTP/1.1 200 OK\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Encoding:\r\n gzip\r\nContent-Length: 5\r\n\r\nhello",
      ], [false, true])
    func `a response whose end is in doubt is refused, and its connection is closed`(
      raw: String, isStreamed: Bool
    ) async throws {
      let error = await #expect(throws: NetworkError.self) {
        try await outcome(raw, isStreamed: isStreamed, closes: false)
      }
      #expect(error?.code == .badResponse)
      #expect(try await transport.send(server.request()).text == "fresh")
      #expect(server.requests.map(\.connectionIndex) == [0, 1])
    }

    @Test(
      arguments: [
        "HTTP/1.1 200 OK\r\ntransfer-encoding: \t CHUNKED \r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length: 5, 05\r\n\r\nhello",
        "HTTP/1.1 100 X\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
      ], [false, true])
    func `a response with a certain end is accepted`(raw: String, isStreamed: Bool) async throws {
      #expect(try await outcome(raw, isStreamed: isStreamed).buffered().text == "hello")
    }

    @Test(arguments: [false, true])
    func `a body without any encoded data is incomplete if it ends with the connection`(
      isStreamed: Bool
    ) async throws {
      for version in ["1.0", "1.1"] {
        let raw = "HTTP/\(version) 200 OK\r\nContent-Encoding: gzip\r\n\r\n"
        let response = Task { try await outcome(raw, isStreamed: isStreamed).buffered() }
        let error = await #expect(throws: NetworkError.self) { try await response.value }
        #expect(error?.code == .truncatedBody)
      }
    }

    @Test(arguments: [
      ("200 OK", "Content-Length: 0\r\n", "", RequestMethod.get),
      ("200 OK", "Transfer-Encoding: chunked\r\n", "0\r\n\r\n", .get), ("204 No Content", "", "", .get),
      ("304 Not Modified", "", "", .get), ("200 OK", "", "", .head),
      ("200 OK", "Content-Length: 99\r\n", "", .head), ("304 Not Modified", "Content-Length: 99\r\n", "", .get),
    ])
    func `a response without a body needs no encoded data`(
      status: String, field: String, body: String, method: RequestMethod
    ) async throws {
      let raw = "HTTP/1.1 \(status)\r\n\(field)Content-Encoding: gzip\r\n\r\n\(body)"
      #expect(try await outcome(raw, isStreamed: false, method: method).data.isEmpty)
    }
  }
#endif
