#if canImport(CRequestBehaviorsCurl)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsCurl
  import RequestBehaviorsTesting
  import TestSupport
  import Testing

  /// Heads that a server does not end.
  @Suite(.limited(to: .seconds(120))) struct CurlEndlessHeadTests {
    /// A server that says something once and then something else for ever, and how much of it went out.
    private final class EndlessServer: Sendable {
      private let lock = NSLock()
      // Protected by `lock`.
      nonisolated(unsafe) private var sent = 0

      var count: Int { lock.withLock { sent } }

      /// Serves a connection; `pause` is the seconds after each part.
      func serve(_ peer: Peer, _ start: String, _ part: String, pause: TimeInterval = 0) throws {
        _ = try peer.readHead()
        try peer.write(start)
        while true {
          try peer.write(part)
          lock.withLock { sent += part.utf8.count }
          // Real time: a trickle is one by the clock of the network.
          if pause > 0 { Thread.sleep(forTimeInterval: pause) }
        }
      }
    }

    private func request(_ server: RawServer, clock: ManualClock) throws -> NetworkRequest {
      let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))
      return NetworkRequest(url: url, call: Call(clock: clock.requestClock))
    }

    @Test(arguments: [
      ("", "HTTP/1.1 100 Continue\r\n\r\n"), ("", "HTTP/1.1 103 Early Hints\r\nX: 1\r\n\r\n"),
      ("", "HTTP/1.1 103 Early Hints\r\nX: \(String(repeating: "x", count: 60_000))\r\n\r\n"),
      ("HTTP/1.1 103 Early Hints\r\n", "X: 1\r\n"), ("HTTP/1.1 103 Early Hints\r\nX: ", "xxxxxxxxxxxxxxxx"),
      ("HTTP/1.1 200 OK\r\n", "X: 1\r\n"), ("HTTP/1.1 200 OK\r\nX: ", "xxxxxxxxxxxxxxxx"),
      ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "X: 1\r\n"),
    ])
    func `heads and trailers without end are cut off, and so is the connection`(
      start: String, part: String
    ) async throws {
      let endless = EndlessServer()
      let server = try RawServer { try endless.serve($0, start, part) }
      let error = try await CurlTransport().failure(of: request(server, clock: ManualClock()))
      #expect(error.code == .badResponse, "\(error)")
      await server.waitForEnd()
      // The bytes sent beyond the 256 KiB that are read are in the buffers of the sockets.
      #expect(endless.count < 16 << 20)
    }

    @Test func `trailers of a stream without end are cut off`() async throws {
      let endless = EndlessServer()
      let start = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n"
      let server = try RawServer { try endless.serve($0, start, "X: 1\r\n") }
      let stream = try await CurlTransport().stream(request(server, clock: ManualClock()))
      let error = await #expect(throws: NetworkError.self) { try await stream.collect(upTo: 1 << 20) }
      #expect(error?.code == .badResponse)
      await server.waitForEnd()
      #expect(endless.count < 16 << 20)
    }

    @Test func `the number of interim responses is limited even if no time limit applies`()
      async throws
    {
      // The clock stands still: to the transport no time passes between two of them.
      let clock = ManualClock()
      let endless = EndlessServer()
      // Real time: each comes alone, so that it is read by itself.
      let server = try RawServer { try endless.serve($0, "", "HTTP/1.1 103\r\n\r\n", pause: 0.001) }
      let transport = CurlTransport(clock: clock.requestClock)
      let error = try await transport.failure(of: request(server, clock: clock))
      #expect(error.code == .badResponse, "\(error)")
      #expect(error.message.contains("1000 lines"), "\(error)")
      #expect(error.progress?.stage == .sent)
    }

    @Test func `interim responses do not count as the response when the request times out`() async throws {
      let clock = ManualClock()
      let gate = LoopbackGate()
      let server = try LoopbackServer()
      let hint = "HTTP/1.1 103 Early Hints\r\nX: 1\r\n\r\n"
      server.enqueue(.raw(String(repeating: hint, count: 100)).held(by: gate, at: .body(after: hint.utf8.count * 99)))
      let request = server.request(.post, clock: clock.requestClock) {
        $0.idleTimeout = nil
        $0.timeout = .seconds(10)
      }
      let transport = CurlTransport(clock: clock.requestClock)
      let failure = Task { try await transport.failure(of: request) }
      await gate.waitForArrivals(1)
      await clock.waitForSleepers(1)
      clock.advance(by: .seconds(10))
      let error = try await failure.value
      #expect(error.code == .timedOut)
      #expect(error.progress?.stage == .sent)
      #expect(error.mayHaveArrived)
    }
  }
#endif
