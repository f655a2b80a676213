#if canImport(CRequestBehaviorsCurl)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsCurl
  import RequestBehaviorsTesting
  import Testing

  /// How far an attempt had come that failed, which decides whether a repeat may do something twice.
  @Suite(.limited) struct CurlProgressTests {
    let server: LoopbackServer
    let transport = CurlTransport()

    init() throws { server = try LoopbackServer { _ in .text("hello") } }

    private func post(_ body: RequestBody = .data(Data("x".utf8))) -> NetworkRequest {
      server.request(.post, body: body)
    }

    /// The error that the stream of a response's body ends with.
    private func endOfStream() async throws -> NetworkError {
      let stream = try await transport.stream(post())
      return try await #require(throws: NetworkError.self) { try await stream.collect(upTo: 1 << 20) }
    }

    // MARK: - Not sent

    @Test func `a request without a connection cannot have arrived`() async throws {
      server.stop()
      let refused = try await transport.failure(of: post())
      #expect(refused.code == .cannotConnect)
      #expect(refused.progress == NetworkError.Progress(.notSent))
      let url = try #require(URL(string: "http://nonexistent.invalid/"))
      let unknown = try await transport.failure(of: NetworkRequest(.post, url: url))
      #expect(unknown.code == .dnsFailed)
      #expect(unknown.progress == NetworkError.Progress(.notSent))
    }

    @Test func `a request without a secure connection cannot have arrived`() async throws {
      // It takes the client's part of the handshake for a bad request, and says so without TLS.
      let url = try #require(URL(string: "https://127.0.0.1:\(server.port)"))
      let error = try await transport.failure(of: NetworkRequest(.post, url: url))
      #expect(error.code == .tlsFailed, "\(error)")
      #expect(error.progress == NetworkError.Progress(.notSent), "\(error)")
      #expect(!error.mayHaveArrived)
    }

    @Test func `a request that libcurl refuses cannot have arrived`() async throws {
      var settings = CurlTransport.Configuration()
      settings.userAgent = String(repeating: "x", count: 9_000_000)
      let error = try await CurlTransport(configuration: settings).failure(of: post())
      #expect(error.code == .refusedOption)
      #expect(!error.mayHaveArrived)
      let file = URL(fileURLWithPath: "/nonexistent")
      let missing = try await transport.failure(of: post(.file(file)))
      #expect(missing.code == .bodyUnreadable)
      #expect(!missing.mayHaveArrived)
      #expect(missing.request != nil)
    }

    // MARK: - Sent

    @Test(arguments: [LoopbackFault.close, .reset])
    func `a request that the server has read before the connection ends may have arrived`(fault: LoopbackFault)
      async throws
    {
      server.enqueue(.status(200).fault(fault, at: .request))
      let error = try await transport.failure(of: post())
      #expect(error.code == .connectionLost)
      #expect(error.mayHaveArrived)
      #expect(error.progress == NetworkError.Progress(.sent, reusedConnection: false))
    }

    @Test func `a request on an accepted connection that the server never reads may have arrived`() async throws {
      server.enqueue(.status(200).fault(.close, at: .accept))
      let error = try await transport.failure(of: post(.data(Data(count: 10 << 20))))
      #expect(error.code == .connectionLost)
      #expect(error.progress?.stage == .sent)
      #expect(error.mayHaveArrived)
    }

    @Test(arguments: [LoopbackFault.close, .reset], [1, 1 << 20])
    func `the end of a reused connection is distinguished from the end of a new one`(
      fault: LoopbackFault, count: Int
    ) async throws {
      server.enqueue(.text("first").fault(fault, at: .nextRequest))
      _ = try await transport.send(post())
      let error = try await transport.failure(of: post(.data(Data(count: count))))
      #expect(error.code == .connectionLost)
      #expect(error.mayHaveArrived)
      #expect(error.progress == NetworkError.Progress(.sent, reusedConnection: true))
      #expect(server.requestCount == 1)
    }

    @Test func `a request that was sent before the server went away may have arrived, after retries too`() async throws
    {
      let gate = LoopbackGate()
      server.enqueue(.text("first"), .text("held").held(by: gate))
      let retry = RetryPolicy(backoff: Backoff(base: .zero, floor: .zero))
      let client = NetworkClient(baseURL: server.baseURL, behaviors: [.retry(retry)], transport: transport)
      try await client.send(.get("x"))
      let sent = Task { try await client.send(.put("x", body: .text("x"))) }
      await gate.waitForArrivals(1)
      server.stop()
      let error = try await #require(throws: NetworkError.self) { try await sent.value }
      #expect(error.code == .cannotConnect)
      #expect(error.progress?.stage == .notSent)
      #expect(error.attempts.count > 1)
      #expect(error.attempts.first?.outcome.hasFailed(with: .connectionLost) == true)
      #expect(error.mayHaveArrived)
    }

    @Test(.enabled(if: SecureServer.absence == nil, "\(SecureServer.absence ?? "")"), arguments: [false, true])
    func `a request that a server over TLS has read before it goes away may have arrived`(usesHTTP2: Bool) async throws
    {
      let server = try await SecureServer()
      let gate = LoopbackGate()
      server.backend.enqueue(.status(200).held(by: gate))
      let transport = CurlTransport(
        configuration: .init(trust: try server.trust, httpVersion: usesHTTP2 ? .http2OverTLS : .http1))
      let request = NetworkRequest(
        .post, url: try server.url(.secure, path: "back/x"), body: .data(Data("x".utf8)))
      let failure = Task { try await transport.failure(of: request) }
      await gate.waitForArrivals(1)
      await server.kill()
      let error = try await failure.value
      #expect(error.code == .connectionLost, "\(error)")
      #expect(error.mayHaveArrived, "\(error)")
      #expect(error.progress == NetworkError.Progress(.sent, reusedConnection: false))
    }

    @Test(arguments: ["", "HTTP/1.1 103 Early Hints\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Le"])
    func `a connection that ends before the head is complete does not count as a received head`(start: String)
      async throws
    {
      server.enqueue(.raw(start))
      let error = try await transport.failure(of: post())
      #expect(error.progress?.stage == .sent, "\(error)")
      #expect(error.mayHaveArrived, "\(error)")
    }

    @Test func `a body that cannot be read to its end may have arrived in part`() async throws {
      let body = RequestBody.stream(length: 10) { ByteStream(chunks: [Data(count: 3)]) }
      let error = try await transport.failure(of: post(body))
      #expect(error.code == .bodyUnreadable)
      #expect(error.progress?.stage == .sent)
      #expect(error.mayHaveArrived)
    }

    // MARK: - With a head

    @Test func `a body that ends too early is past the head, in memory and as a stream`() async throws {
      for (fault, code) in [(LoopbackFault.close, NetworkError.Code.truncatedBody), (.reset, .connectionLost)] {
        server.enqueue(
          .text("12345").fault(fault, at: .body(after: 2)), .text("12345").fault(fault, at: .body(after: 2)))
        for error in [try await transport.failure(of: post()), try await endOfStream()] {
          #expect(error.code == code)
          #expect(error.progress?.stage == .headReceived)
          #expect(error.mayHaveArrived)
        }
      }
    }

    @Test func `a refused response counts as after its head`() async throws {
      server.enqueue(
        .badChunk(after: ["one"]), .raw("HTTP/1.1 200 OK\r\nX : 1\r\n\r\n"),
        .text("12345").header("Content-Encoding", "gzip"))
      for _ in 1...3 {
        let error = try await transport.failure(of: post())
        #expect(error.code == .badResponse, "\(error)")
        #expect(error.progress?.stage == .headReceived, "\(error)")
      }
      let large = try await transport.failure(of: server.request(.post) { $0.bodyLimit = 2 })
      #expect(large.code == .bodyTooLarge)
      #expect(large.progress?.stage == .headReceived)
    }

    // MARK: - Shutting down

    @Test func `the errors of a shutdown distinguish requests under way, waiting ones and later ones`() async throws {
      let gate = LoopbackGate()
      server.enqueue(.text("held").held(by: gate))
      var settings = CurlTransport.Configuration()
      settings.maximumConnectionsPerHost = 1
      let transport = CurlTransport(configuration: settings)
      let request = post()
      let first = Task { try await transport.failure(of: request) }
      await gate.waitForArrivals(1)
      // The transport looks at a call's clock when it has handed the request to libcurl.
      let looks = AsyncStream.makeStream(of: Void.self)
      let clock = RequestClock(
        now: {
          looks.continuation.yield()
          return RequestClock.system.now()
        }, date: RequestClock.system.date, sleep: RequestClock.system.sleep)
      let waiting = server.request(.post, clock: clock)
      var look = looks.stream.makeAsyncIterator()
      await look.next()
      let second = Task { try await transport.failure(of: waiting) }
      await look.next()
      await transport.shutdown()
      let stages = [try await first.value, try await second.value, try await transport.failure(of: request)].map {
        #expect($0.code == .clientShutDown)
        return $0.progress?.stage
      }
      #expect(stages == [.sent, .notSent, .notSent])
    }
  }
#endif
