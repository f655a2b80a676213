#if canImport(CRequestBehaviorsCurl)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsCurl
  import RequestBehaviorsTesting
  import Testing

  /// `Expect: 100-continue` (RFC 9110 §10.1.1): the body waits for the server's leave.
  @Suite(.limited) struct CurlExpectTests {
    static let bodies: [(RequestBody, Int)] = [
      (.data(Data("hello".utf8)), 5), (.data(Data(count: 200_000)), 200_000),
      (.stream(length: 200_000) { ByteStream(chunks: [Data(count: 100_000), Data(count: 100_000)]) }, 200_000),
    ]

    private func request(
      _ server: RawServer, _ body: RequestBody, clock: RequestClock = .system
    ) throws -> NetworkRequest {
      let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))
      return NetworkRequest(.post, url: url, headers: ["Expect": "100-continue"], body: body, call: Call(clock: clock))
    }

    @Test(arguments: bodies.indices, [417, 413, 401, 302])
    func `a final status in place of 100 Continue is the outcome, and the body is not sent`(index: Int, status: Int)
      async throws
    {
      let connections = Locked(0)
      let server = try RawServer { peer in
        connections.withLock { $0 += 1 }
        #expect(try peer.readHead().contains("\r\nExpect: 100-continue\r\n"))
        try peer.write("HTTP/1.1 \(status) No\r\nContent-Length: 7\r\n\r\nrefused")
        try peer.waitForEnd()
      }
      let clock = ManualClock()
      let transport = CurlTransport(clock: clock.requestClock)
      let response = try await transport.send(request(server, Self.bodies[index].0, clock: clock.requestClock))
      #expect(response.statusCode == status)
      #expect(try response.text == "refused")
      #expect(connections.withLock { $0 } == 1)
      await transport.shutdown()
    }

    @Test(arguments: bodies.indices)
    func `the body is sent after a 100 Continue`(index: Int) async throws {
      let (body, count) = Self.bodies[index]
      let server = try RawServer { peer in
        _ = try peer.readHead()
        try peer.write("HTTP/1.1 100 Continue\r\n\r\n")
        _ = try peer.read(count)
        try peer.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone")
        try peer.waitForEnd()
      }
      // The clock stands still: no byte is sent because time has passed.
      let clock = ManualClock()
      let transport = CurlTransport(clock: clock.requestClock)
      let response = try await transport.send(request(server, body, clock: clock.requestClock))
      #expect(try response.text == "done")
      #expect(response.interimResponses.map(\.statusCode) == [100])
      await transport.shutdown()
    }

    @Test(arguments: bodies.indices)
    func `the body is sent after a second if the server does not respond`(index: Int) async throws {
      let (body, count) = Self.bodies[index]
      let (heads, continuation) = AsyncStream.makeStream(of: Void.self)
      let server = try RawServer { peer in
        _ = try peer.readHead()
        continuation.yield()
        _ = try peer.read(count)
        try peer.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone")
        try peer.waitForEnd()
      }
      let clock = ManualClock()
      let transport = CurlTransport(clock: clock.requestClock)
      let sent = Task { try await transport.send(request(server, body, clock: clock.requestClock)) }
      for await _ in heads { break }
      await clock.waitForSleepers(2)
      clock.advance(by: .seconds(1))
      #expect(try await sent.value.text == "done")
      await transport.shutdown()
    }

    @Test func `a body that stalls does not delay the response that refuses it`() async throws {
      let server = try RawServer { peer in
        _ = try peer.readHead()
        try peer.write("HTTP/1.1 413 Too Large\r\nContent-Length: 7\r\n\r\nrefused")
        try peer.waitForEnd()
      }
      let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))
      let (never, _) = AsyncThrowingStream.makeStream(of: Data.self, throwing: (any Error).self)
      let request = NetworkRequest(.post, url: url, body: .oneShot(ByteStream(never)))
      let response = try await CurlTransport().send(request)
      #expect(try response.text == "refused")
    }
  }
#endif
