#if canImport(CRequestBehaviorsCurl)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsCurl
  import Testing

  /// Bytes that a server sends over an idle connection.
  @Suite(.limited) struct CurlReuseTests {
    /// A server that answers each request with the number of its connection, and says something unasked after it.
    private struct TalkativeServer {
      let server: RawServer
      /// Yields when a connection has said all that it says unasked.
      let silence: AsyncStream<Void>

      init(unasked: String, closes: Bool = false, times: Int = 1) throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        let connections = Locked(0)
        server = try RawServer { peer in
          let number = connections.withLock {
            $0 += 1
            return $0
          }
          while true {
            let head = try peer.readHead()
            let length = head.split(separator: "\r\n").first { $0.hasPrefix("Content-Length: ") }?.dropFirst(16)
            _ = try peer.read(length.flatMap { Int($0) } ?? 0)
            try peer.write("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n\(number)")
            guard number <= times else { continue }
            try peer.write(unasked)
            if closes { peer.shutdown() }
            continuation.yield()
          }
        }
        silence = stream
      }

      func request(_ method: RequestMethod = .get, body: RequestBody? = nil) throws -> NetworkRequest {
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))
        return NetworkRequest(method, url: url, body: body)
      }

      func waitForSilence() async { for await _ in silence { return } }
    }

    @Test(arguments: [RequestMethod.get, .post])
    func `RFC 9110 §15.5.20: a misdirected request is sent again over another connection`(method: RequestMethod)
      async throws
    {
      let connections = Locked(0)
      let server = try RawServer { peer in
        let number = connections.withLock {
          $0 += 1
          return $0
        }
        while true {
          _ = try peer.readHead()
          try peer.write("HTTP/1.1 \(number == 1 ? 421 : 200) X\r\nContent-Length: 1\r\n\r\n\(number)")
        }
      }
      let base = try #require(URL(string: "http://127.0.0.1:\(server.port)"))
      let client = NetworkClient(
        baseURL: base, behaviors: [.retry(RetryPolicy(backoff: Backoff(base: .zero)))], transport: CurlTransport())
      for _ in 0..<2 { #expect(try await client.send(Request<String>(method, "a")) == "2") }
      #expect(connections.withLock { $0 } == 2)
    }

    private static let response = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong"

    @Test(arguments: [
      response, String(response.dropLast(8)), String(repeating: response, count: 3), "x", "\r\n",
      "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    ])
    func `unrequested bytes on an idle connection are not the response to the next request`(unasked: String)
      async throws
    {
      let server = try TalkativeServer(unasked: unasked)
      let transport = CurlTransport()
      #expect(try await transport.send(server.request()).text == "1")
      await server.waitForSilence()
      let second = try await transport.send(server.request())
      #expect(try second.text == "2")
      #expect(second.timings.connection?.isReused == false)
      #expect(try await transport.send(server.request()).timings.connection?.isReused == true)
    }

    @Test func `a connection that the server has ended is not reused`() async throws {
      let server = try TalkativeServer(unasked: Self.response, closes: true)
      let transport = CurlTransport()
      #expect(try await transport.send(server.request()).text == "1")
      await server.waitForSilence()
      #expect(try await transport.send(server.request()).text == "2")
    }

    @Test(arguments: [5, 100_000])
    func `a body in memory goes over the other connection`(count: Int) async throws {
      let server = try TalkativeServer(unasked: Self.response)
      let transport = CurlTransport()
      #expect(try await transport.send(server.request()).text == "1")
      await server.waitForSilence()
      #expect(try await transport.send(server.request(.post, body: .data(Data(count: count)))).text == "2")
    }

    @Test func `a stream goes over the other connection, and is made once`() async throws {
      let server = try TalkativeServer(unasked: Self.response)
      let transport = CurlTransport()
      #expect(try await transport.send(server.request()).text == "1")
      await server.waitForSilence()
      let made = Locked(0)
      let body = RequestBody.stream(length: 100_000) {
        made.withLock { $0 += 1 }
        return ByteStream(chunks: [Data(count: 50_000), Data(count: 50_000)])
      }
      #expect(try await transport.send(server.request(.put, body: body)).text == "2")
      #expect(made.withLock { $0 } == 1)
    }

    @Test func `an idle connection with unrequested bytes is not reused, however many there are`() async throws {
      let server = try TalkativeServer(unasked: Self.response, times: 5)
      let transport = CurlTransport()
      let texts = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 1...5 { group.addTask { try await transport.send(server.request()).text } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      let talkers = texts.filter { ["1", "2", "3", "4", "5"].contains($0) }
      for _ in talkers { await server.waitForSilence() }
      for _ in 1...10 {
        let text = try await transport.send(server.request()).text
        #expect(!talkers.contains(text))
        #expect(text != "wrong")
      }
    }
  }
#endif
