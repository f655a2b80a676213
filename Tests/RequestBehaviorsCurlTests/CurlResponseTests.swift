#if canImport(CRequestBehaviorsCurl)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsCurl
  import RequestBehaviorsTesting
  import Testing

  @Suite(.limited) struct CurlResponseTests {
    let server: LoopbackServer
    let transport = CurlTransport()

    init() throws { server = try LoopbackServer() }

    @Test func `header fields keep their order, their names and their duplicates`() async throws {
      server.enqueue(
        .raw(
          "HTTP/1.1 200 OK\r\nx-B: 1\r\nSet-Cookie: a=1; Expires=Thu, 01 Jan 2026 00:00:00 GMT\r\nX-a: 2\r\n"
            + "Set-Cookie: b=2\r\nx-b:3\r\nX-Empty:\r\nX-Folded: one\r\n  two\r\nX-Latin: gr\u{FC}n\r\n"
            + "Content-Length: 0\r\n\r\n"))
      let headers = try await transport.send(server.request()).headers
      #expect(
        headers.map { "\($0.name): \($0.value)" } == [
          "x-B: 1", "Set-Cookie: a=1; Expires=Thu, 01 Jan 2026 00:00:00 GMT", "X-a: 2", "Set-Cookie: b=2", "x-b: 3",
          "X-Empty: ", "X-Folded: one two", "X-Latin: grün", "Content-Length: 0",
        ])
    }

    @Test func `a header value in ISO 8859-1 is read as such`() async throws {
      server.enqueue(.raw(Array("HTTP/1.1 200 OK\r\nX: gr".utf8) + [0xFC, 0x6E] + Array("\r\n\r\n".utf8)))
      #expect(try await transport.send(server.request()).headers["X"] == "grün")
    }

    @Test func `bodies of all sizes come whole, one after the other`() async throws {
      let counts = [16_384, 3, 16_385, 0, 200_000, 16_383, 1, 40_000, 2_000_000, 7]
      let bodies = counts.map { count in Data((0..<count).map { UInt8(($0 + count) % 251) }) }
      for body in bodies {
        let parts = stride(from: 0, to: body.count, by: 10_000).map { body[$0..<min($0 + 10_000, body.count)] }
        server.enqueue(.data(body), .chunked(parts.map { Data($0) }))
      }
      for body in bodies {
        let request = server.request { $0.bodyLimit = body.count }
        for _ in 1...2 { #expect(try await transport.send(request).data == body, "\(body.count) bytes") }
      }
    }

    @Test func `trailers of a body in memory are returned in their order`() async throws {
      server.enqueue(.chunked(["a", "b"], trailers: ["X-Sum": "1", "X-More": "2"]), .text("none"))
      let response = try await transport.send(server.request())
      #expect(try response.text == "ab")
      #expect(response.trailers?.map(\.name) == ["X-Sum", "X-More"])
      #expect(!response.headers.contains("X-Sum"))
      #expect(try await transport.send(server.request()).trailers == nil)
    }

    @Test(arguments: [false, true])
    func `interim responses are separate from the final one, also for a stream`(isStreamed: Bool) async throws {
      server.enqueue(
        .raw(
          "HTTP/1.1 100 Continue\r\nX: 1\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\nLink: </b>\r\n\r\n"
            + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", closes: false),
        .text("none"))
      let client = NetworkClient(baseURL: server.baseURL, transport: transport)
      let response =
        isStreamed
        ? try await client.stream(.get("x")) : try await client.send(.get("x").returning(NetworkResponse.self))
      #expect(try await response.buffered().text == "ok")
      #expect(response.headers.map(\.name) == ["Content-Length"])
      #expect(
        response.interimResponses == [
          InterimResponse(statusCode: 100, headers: ["X": "1"]),
          InterimResponse(statusCode: 103, headers: HeaderFields([.init("Link", "</a>"), .init("Link", "</b>")])),
        ])
      #expect(try await transport.send(server.request()).interimResponses.isEmpty)
    }

    @Test func `a status line without a reason is accepted`() async throws {
      server.enqueue(
        .raw("HTTP/1.1 204\r\nX: 1\r\n\r\n", closes: false), .raw("HTTP/1.0 200 \nX:1\nContent-Length: 1\n\na"))
      #expect(try await transport.send(server.request()).statusCode == 204)
      let second = try await transport.send(server.request())
      #expect(try second.text == "a")
      #expect(second.headers["X"] == "1")
    }

    @Test(arguments: [
      "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1 2x0 OK\r\n\r\n", "HTTP/1.1 099 OK\r\n\r\n",
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na",
      "HTTP/1.1 200 OK\r\nContent-Length: 1 1\r\n\r\na",
      "HTTP/1.1 200 OK\r\nContent-Length: 0x1\r\n\r\na", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\na",
      "HTTP/1.1 200 OK\r\nX-Name : 1\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\nno field\r\n\r\n",
      "HTTP/1.1 200 OK\r\n: nameless\r\n\r\n", "HTTP/1.1 200 OK\r\nX: a\rb\r\n\r\n",
      "HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n",
      "HTTP/1.1 200 OK\r\nX\"Y: 1\r\n\r\n", "HTTP/1.1 200 OK\r\n folded: 1\r\n\r\n",
    ])
    func `a head that two readers could take differently is refused`(head: String) async throws {
      server.enqueue(.raw(head))
      let error = try await transport.failure(of: server.request())
      #expect(error.code == .badResponse, "\(error)")
    }

    @Test func `a response with too many header fields is refused`() async throws {
      let fields = (0..<10_000).map { "X-\($0): 1\r\n" }.joined()
      server.enqueue(.raw("HTTP/1.1 200 OK\r\n\(fields)\r\n"))
      let error = try await transport.failure(of: server.request())
      #expect(error.code == .badResponse)
      #expect(error.message.contains("1000 lines"))
    }

    @Test func `a response with too long a header is refused`() async throws {
      let field = "X: \(String(repeating: "x", count: 60_000))\r\n"
      server.enqueue(.raw("HTTP/1.1 200 OK\r\n\(String(repeating: field, count: 10))\r\n"))
      #expect(try await transport.failure(of: server.request()).code == .badResponse)
    }

    @Test func `interim responses without end are refused`() async throws {
      server.enqueue(.raw(String(repeating: "HTTP/1.1 103 Early Hints\r\nX: 1\r\n\r\n", count: 5_000)))
      #expect(try await transport.failure(of: server.request()).code == .badResponse)
    }

    @Test func `the timings show the duration of the connection, and that it was reused`() async throws {
      server.enqueue(.text("one"), .text("two"))
      let first = try await transport.send(server.request()).timings
      let connection = try #require(first.connection)
      #expect(!connection.isReused)
      #expect(connection.connecting != nil)
      #expect(connection.nameLookup != nil)
      #expect(connection.securing == nil)
      #expect(connection.queued != nil)
      #expect(connection.protocolName == "http/1.1")
      #expect(connection.remoteAddress == "127.0.0.1:\(server.port)")
      let (firstByte, lastByte) = (try #require(first.firstByte), try #require(first.lastByte))
      #expect(first.sent <= firstByte)
      #expect(firstByte <= lastByte)
      let second = try #require(try await transport.send(server.request()).timings.connection)
      #expect(second.isReused)
      #expect(second.connecting == nil)
      #expect(server.connectionCount == 1)
    }

    @Test func `a body limit counts the decompressed bytes`() async throws {
      // 1 MiB of zeros, compressed by gzip.
      let bomb = try #require(Data(base64Encoded: Self.compressedZeros))
      for limit in [1 << 20, (1 << 20) - 1] {
        server.enqueue(.data(bomb).header("Content-Encoding", "gzip"))
        let request = server.request { $0.bodyLimit = limit }
        if limit == 1 << 20 {
          #expect(try await transport.send(request).data == Data(count: 1 << 20))
        } else {
          #expect(try await transport.failure(of: request).code == .bodyTooLarge)
        }
      }
      #expect(server.requests.first?.headers["Accept-Encoding"]?.contains("gzip") == true)
    }

    @Test func `a compressed body that is broken or continues after its end is an error`() async throws {
      let bomb = try #require(Data(base64Encoded: Self.compressedZeros))
      for body in [Data("no gzip at all".utf8), bomb + Data("more".utf8)] {
        server.enqueue(.data(body).header("Content-Encoding", "gzip"))
        #expect(try await transport.failure(of: server.request()).code == .badResponse)
      }
    }

    @Test func `compressed data that ends too early is an error, however the body is framed`() async throws {
      let bomb = try #require(Data(base64Encoded: Self.compressedZeros))
      for count in [1, 500, bomb.count - 1] {
        server.enqueue(
          .data(bomb.prefix(count)).header("Content-Encoding", "gzip"),
          .chunked([bomb.prefix(count)]).header("content-encoding", "GZIP"),
          .data(bomb.prefix(count)).header("Content-Encoding", "gzip"))
        for _ in 1...2 { #expect(try await transport.failure(of: server.request()).code == .truncatedBody) }
        let stream = try await transport.stream(server.request())
        let error = await #expect(throws: NetworkError.self) { try await stream.collect(upTo: 1 << 20) }
        #expect(error?.code == .truncatedBody)
      }
    }

    @Test(arguments: ["gzip", "x-gzip", "deflate", "identity", "none", ""])
    func `a response with an encoding and no body is whole`(encoding: String) async throws {
      server.enqueue(.status(200).header("Content-Encoding", encoding))
      #expect(try await transport.send(server.request()).data.isEmpty)
    }

    @Test(arguments: [
      ("gzip", "H4sIAAAAAAACA8tIzcnJBwCGphA2BQAAAA==H4sIAAAAAAACA8tIzcnJBwCGphA2BQAAAA==", "hellohello"),
      ("deflate", "eJzLSM3JyQcABiwCFQ==", "hello"), ("deflate", "y0jNyckHAA==", "hello"),
    ])
    func `encodings of all kinds are decoded`(encoding: String, base64: String, text: String) async throws {
      let parts = base64.replacing("==H", with: "==|H").split(separator: "|")
      let body = try parts.reduce(Data()) { try $0 + #require(Data(base64Encoded: String($1))) }
      server.enqueue(.data(body).header("Content-Encoding", encoding))
      #expect(try await transport.send(server.request()).text == text)
      // A byte at a time.
      server.enqueue(.data(body).header("Content-Encoding", encoding).throttled(bytes: 1, every: .microseconds(100)))
      #expect(try await transport.send(server.request()).text == text)
    }

    @Test(arguments: ["br", "gzip, gzip", "gzip,br", "unknown"])
    func `an encoding that was not requested is refused`(encoding: String) async throws {
      server.enqueue(.text("hello").header("Content-Encoding", encoding))
      let error = try await transport.failure(of: server.request())
      #expect(error.code == .badResponse)
      #expect(error.message.contains("Content-Encoding"))
    }

    @Test func `a request that names encodings gets the body as it came`() async throws {
      let bomb = try #require(Data(base64Encoded: Self.compressedZeros))
      server.enqueue(.data(bomb).header("Content-Encoding", "gzip"))
      let response = try await transport.send(server.request(headers: ["Accept-Encoding": "gzip"]))
      #expect(try response.data == bomb)
    }

    /// 1 MiB of zeros, compressed by gzip, in base64.
    static let compressedZeros =
      "H4sIAAAAAAACA+3BMQEAAADCoPVPbQhfo" + String(repeating: "A", count: 1355) + "PgMc6jinAAAQAA=="
  }
#endif
