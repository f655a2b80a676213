#if canImport(CRequestBehaviorsCurl)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsCurl
  import RequestBehaviorsTesting
  import TestSupport
  import Testing

  /// Calls through a proxy's tunnel to a server that is trusted: nginx, with a server of the test's behind it.
  @Suite(.limited, .enabled(if: SecureServer.absence == nil, "\(SecureServer.absence ?? "")"))
  struct CurlTrustedTunnelTests {
    private static let credentials = "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="

    let nginx: SecureServer
    let server: LoopbackServer

    init() async throws {
      nginx = try await SecureServer.shared()
      server = try LoopbackServer { .text("\($0.method) \($0.body.count)") }
    }

    private func transport(
      _ proxy: TunnelProxy, _ scheme: String = "http", user: String? = "Aladdin", password: String? = "open sesame"
    ) throws -> CurlTransport {
      let made = try CurlTransport.Proxy.url(proxy.url(scheme), user: user, password: password)
      return CurlTransport(configuration: .init(trust: try nginx.trust, proxy: made))
    }

    private func url(_ path: String, door: SecureServer.Door = .secure) throws -> URL {
      try nginx.url(door, path: "gate/\(server.port)/\(path)")
    }

    private func post(_ path: String = "x") throws -> NetworkRequest {
      NetworkRequest(
        .post, url: try url(path), headers: ["Authorization": "Bearer token-canary"],
        body: .data(Data("body-canary".utf8)))
    }

    /// Checks that a request failed before anything of it was sent.
    private func expectUnsent(_ error: NetworkError, _ code: NetworkError.Code = .cannotConnect) {
      #expect(error.code == code, "\(error)")
      #expect(error.progress?.stage == .notSent, "\(error)")
      #expect(!error.mayHaveArrived, "\(error)")
      #expect(!String(reflecting: error).contains("canary"))
      #expect(!"\(error)".contains("sesame"))
      #expect(server.connectionCount == 0)
    }

    // MARK: - Credentials

    @Test(arguments: ["http", "socks5", "socks5h"])
    func `only the proxy gets the proxy's credentials, and only the server gets the server's token`(scheme: String)
      async throws
    {
      let proxy = try TunnelProxy(
        scheme == "http" ? .connectDemanding(Self.credentials) : .socksWithPassword(isRight: true))
      let transport = try transport(proxy, scheme)
      for _ in 1...2 { #expect(try await transport.send(post("secret-canary")).text == "POST 11") }
      let visit = try #require(proxy.visits.first)
      #expect(proxy.visits.count == 1)
      #expect(visit.user == (scheme == "http" ? nil : "Aladdin"))
      #expect(!visit.head.contains("canary"))
      #expect(!proxy.heard.isEmpty)
      #expect(!proxy.heard.contains("canary"))
      for request in server.requests {
        #expect(request.headers["Authorization"] == "Bearer token-canary")
        #expect(!request.head.contains("Proxy"))
        #expect(!request.head.contains("QWxhZGRpbjpvcGVuIHNlc2FtZQ"))
      }
    }

    @Test(arguments: [nil, "password-canary"])
    func `the error for a proxy that demands credentials names the proxy and its demand`(password: String?) async throws
    {
      let proxy = try TunnelProxy(.connectDemanding(Self.credentials))
      let transport = try transport(proxy, user: password.map { _ in "Aladdin" }, password: password)
      let error = try await transport.failure(of: post())
      expectUnsent(error)
      for words in ["response 407", "user and password", proxy.name] {
        #expect(error.message.contains(words), "\(error)")
      }
    }

    // MARK: - Refusals

    @Test(arguments: ["403 Forbidden", "502 Bad Gateway", "302 Found", "401 Unauthorized", "100 Continue"])
    func `the error for a proxy that refuses a tunnel names the proxy and the status, and its page is not a response`(
      status: String
    ) async throws {
      let fields = "Location: https://other.test/\r\nWWW-Authenticate: Basic realm=x\r\nContent-Length: 11\r\n\r\n"
      let proxy = try TunnelProxy(.connectSaying("HTTP/1.1 \(status)\r\n\(fields)page-canary"))
      let error = try await transport(proxy).failure(of: post())
      expectUnsent(error)
      #expect(error.message.contains("response \(status.prefix(3))"), "\(error)")
      #expect(error.message.contains(proxy.name), "\(error)")
      #expect(proxy.visits.count == 1)
    }

    @Test(arguments: [
      ("", 1), ("HTTP/1.1 200 OK\r\nX", 1), ("garbage", 1), ("garbage\r\n\r\n", 1), ("HTTP/2 200 OK\r\n\r\n", 1),
      ("X", 400_000), ("X: y\r\n", 100_000),
    ])
    func `a proxy reply that is cut off, too long or empty makes no connection`(
      text: String, count: Int
    ) async throws {
      let start = count > 1 ? "HTTP/1.1 200 OK\r\n" : ""
      let proxy = try TunnelProxy(.connectSaying(start + String(repeating: text, count: count)))
      let error = try await transport(proxy).failure(of: post())
      expectUnsent(error)
      #expect(error.message.contains(proxy.name), "\(error)")
    }

    @Test func `the error for a proxy that resets its connection names the proxy`() async throws {
      let proxy = try TunnelProxy(.connectResetting)
      let error = try await transport(proxy).failure(of: post())
      expectUnsent(error)
      #expect(error.message.contains(proxy.name), "\(error)")
    }

    // MARK: - Odd and lying proxies

    @Test(arguments: [
      "HTTP/1.0 200 Connection established\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n", "HTTP/1.1 299 \r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n", "HTTP/1.1 204 No Content\r\n",
      "HTTP/1.1 200 OK\r\nSet-Cookie: a=canary\r\nContent-Encoding: br\r\nLocation: https://other.test/\r\n",
    ])
    func `bytes of an unusual reply that makes a tunnel are not part of the response`(reply: String) async throws {
      let proxy = try TunnelProxy(.connectReplying(reply + "X-Proxy: canary\r\n\r\n"))
      let transport = try transport(proxy)
      for _ in 1...2 {
        let response = try await transport.send(post())
        #expect(try response.text == "POST 11")
        #expect(response.statusCode == 200)
        #expect(!response.headers.contains { $0.value.contains("canary") })
        #expect(response.interimResponses.isEmpty)
      }
      #expect(proxy.visits.count == 1)
    }

    @Test func `a proxy that responds in place of the server does not get the request`() async throws {
      let lie = "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
      let proxy = try TunnelProxy(.connectReplying(lie))
      expectUnsent(try await transport(proxy).failure(of: post()), .tlsFailed)
      #expect(!proxy.heard.contains("canary"))
    }

    @Test func `replies that were changed at random make a tunnel or an error of a request that was not sent`()
      async throws
    {
      let rounds = ProcessInfo.processInfo.environment["SOAK"] == nil ? 200 : 2_000
      let sound = Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nProxy-Connection: keep-alive\r\n\r\n".utf8)
      for round in 0..<rounds {
        var random = SeededGenerator(seed: UInt64(round))
        var bytes = sound
        for _ in 0...Int.random(in: 0...3, using: &random) {
          let place = Int.random(in: 0..<bytes.count, using: &random)
          switch Int.random(in: 0...2, using: &random) {
          case 0: bytes[place] = UInt8.random(in: 0...127, using: &random)
          case 1: bytes.insert(contentsOf: [13, 10], at: place)
          default: bytes.removeSubrange(place...)
          }
          if bytes.isEmpty { bytes = sound }
        }
        let reply = String(decoding: bytes, as: UTF8.self)
        // A reply without an end would leave the client waiting.
        let isOpen = reply.contains("\r\n\r\n")
        let proxy = try TunnelProxy(isOpen ? .connectReplying(reply) : .connectSaying(reply))
        do {
          #expect(try await transport(proxy).send(post("\(round)")).text == "POST 11", "round \(round)")
          #expect(server.requests.last?.path == "/\(round)")
        } catch let error as NetworkError {
          #expect(error.progress?.stage == .notSent && !error.mayHaveArrived, "round \(round): \(error)")
          #expect(server.requests.last?.path != "/\(round)", "round \(round)")
        }
        #expect(!proxy.heard.contains("canary") && !proxy.visits.contains { $0.head.contains("canary") })
      }
    }

    // MARK: - Behaviors

    private func client(
      _ behaviors: [any RequestBehavior], _ transport: CurlTransport, clock: RequestClock = .system
    ) throws -> NetworkClient {
      var configuration = RequestConfiguration(baseURL: try url(""), behaviors: behaviors)
      configuration.clock = clock
      return NetworkClient(configuration: configuration, transport: transport)
    }

    @Test func `a retry makes a tunnel after the proxy refused one, and sends the body once`() async throws {
      let refusal = "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"
      let proxy = try TunnelProxy(
        .connectSaying(refusal), .connectResetting, .connectClosing, .connectDemanding(Self.credentials))
      let start = ContinuousClock.now
      let clock = RequestClock(now: { start.duration(to: .now) }, date: { Date() }, sleep: { _ in })
      let policy = RetryPolicy(maximumRetries: 3)
      let client = try client(
        [.retry(policy, budget: RetryBudget(ratio: 1, reserve: 9))], transport(proxy), clock: clock)
      let text: String = try await client.send(.post("x", body: .text("hello")).returning(String.self))
      #expect(text == "POST 5")
      #expect(server.requestCount == 1)
      #expect(proxy.visits.count == 3)
    }

    @Test func `a hedge has its own tunnel, and the tunnel that is not yet made is given up`() async throws {
      let proxy = try TunnelProxy(.connectWaiting, .connectDemanding(Self.credentials))
      let clock = ManualClock()
      let hedging = HedgingBehavior.hedging(after: .seconds(1), budget: RetryBudget(ratio: 1))
      let client = try client([hedging], transport(proxy), clock: clock.requestClock)
      let call = Task { try await client.send(.get("x").returning(String.self)) }
      await proxy.waitForVisits(1)
      await clock.waitForSleepers(1)
      clock.advance(by: .seconds(1))
      #expect(try await call.value == "GET 0")
      #expect(server.requestCount == 1)
      #expect(proxy.visits.count == 2)
      await client.shutdown()
      await proxy.waitForEnd()
    }

    @Test func `a redirect to another server goes through another tunnel, without the token`() async throws {
      let proxy = try TunnelProxy(.connectDemanding(Self.credentials))
      let target = try url("target", door: .onlyTLS12)
      server.enqueue(.redirect(to: target.absoluteString))
      let client = try client([], transport(proxy))
      var request = Request<String>.get("start").returning(String.self)
      request.headers.set("Authorization", "Bearer token-canary", sensitive: .baseURL)
      #expect(try await client.send(request) == "GET 0")
      #expect(proxy.visits.map(\.target) == [try url(""), target].map { "localhost:\($0.port ?? 0)" })
      #expect(server.requests.map(\.path) == ["/start", "/target"])
      #expect(server.requests.map { $0.headers["Authorization"] } == ["Bearer token-canary", nil])
      #expect(!proxy.heard.contains("canary"))
    }

    // MARK: - Cancellation and bodies

    @Test func `cancelling while the tunnel is made leaves no connection`() async throws {
      let proxy = try TunnelProxy(.connectWaiting)
      let transport = try transport(proxy)
      let request = try post()
      let call = Task { try await transport.send(request) }
      await proxy.waitForVisits(1)
      call.cancel()
      await #expect(throws: CancellationError.self) { try await call.value }
      await proxy.waitForEnd()
      #expect(server.connectionCount == 0)
      #expect(proxy.visits.count == 1)
    }

    @Test func `a time limit ends the wait for a tunnel`() async throws {
      let proxy = try TunnelProxy(.connectWaiting)
      let clock = ManualClock()
      let made = try CurlTransport.Proxy.url(proxy.url("http"))
      let transport = CurlTransport(
        configuration: .init(trust: try nginx.trust, proxy: made), clock: clock.requestClock)
      let request = NetworkRequest(
        .post, url: try url("x"), body: .data(Data("x".utf8)), call: Call(clock: clock.requestClock))
      let call = Task { try await transport.failure(of: request) }
      await proxy.waitForVisits(1)
      await clock.waitForSleepers(1)
      clock.advance(by: .seconds(300))
      expectUnsent(try await call.value, .timedOut)
      await proxy.waitForEnd()
    }

    @Test(arguments: [true, false])
    func `a stream is not sent again when a kept tunnel ends`(isOneShot: Bool) async throws {
      let proxy = try TunnelProxy(.connect(status: 200))
      let transport = try transport(proxy)
      _ = try await transport.send(NetworkRequest(url: url("first")))
      let readings = Box(0)
      let make: @Sendable () -> ByteStream = {
        readings.update { $0 += 1 }
        return ByteStream(chunks: [Data("part-1".utf8), Data("part-2".utf8)])
      }
      proxy.breakNextTunnel()
      let body: RequestBody = isOneShot ? .oneShot(make()) : .stream(make)
      let error = try await transport.failure(of: NetworkRequest(.post, url: url("second"), body: body))
      #expect(error.code == .connectionLost, "\(error)")
      #expect(error.mayHaveArrived)
      #expect(readings.value == 1)
      #expect(server.requests.map(\.path) == ["/first"])
      #expect(try await transport.send(post("third")).text == "POST 11")
      #expect(server.requests.map(\.path) == ["/first", "/third"])
    }
  }
#endif
