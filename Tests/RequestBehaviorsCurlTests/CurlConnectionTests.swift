#if canImport(CRequestBehaviorsCurl)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsCurl
  import RequestBehaviorsTesting
  import TestSupport
  import Testing

  @Suite(.limited) struct CurlConnectionTests {
    private func send(_ count: Int, to servers: [LoopbackServer], over transport: CurlTransport) async throws {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for server in servers {
          for _ in 1...count { group.addTask { _ = try await transport.send(server.request()) } }
        }
        try await group.waitForAll()
      }
    }

    @Test func `a host has no more connections than it may, and further requests wait`() async throws {
      let server = try LoopbackServer { _ in .text("hello") }
      var settings = CurlTransport.Configuration()
      settings.maximumConnectionsPerHost = 2
      try await send(20, to: [server], over: CurlTransport(configuration: settings))
      #expect(server.requestCount == 20)
      #expect(server.connectionCount <= 2)
    }

    @Test func `no request waits forever while a connection is free`() async throws {
      let server = try LoopbackServer { _ in .text("hello") }
      var settings = CurlTransport.Configuration()
      settings.maximumConnectionsPerHost = 2
      for _ in 1...60 { try await send(20, to: [server], over: CurlTransport(configuration: settings)) }
      #expect(server.requestCount == 1_200)
    }

    @Test func `all hosts together have no more connections than they may`() async throws {
      let servers = try (1...3).map { _ in try LoopbackServer { _ in .text("hello") } }
      var settings = CurlTransport.Configuration()
      settings.maximumConnections = 1
      let transport = CurlTransport(configuration: settings)
      try await send(5, to: servers, over: transport)
      #expect(servers.map(\.requestCount) == [5, 5, 5])
      #expect(servers.map(\.openConnectionCount).reduce(0, +) <= 1)
    }

    @Test func `a request that waits for a connection can be cancelled`() async throws {
      let server = try LoopbackServer { _ in .text("hello") }
      let gate = LoopbackGate()
      server.enqueue(.text("first").held(by: gate))
      var settings = CurlTransport.Configuration()
      settings.maximumConnectionsPerHost = 1
      let transport = CurlTransport(configuration: settings)
      let first = Task { try await transport.send(server.request()).text }
      await gate.waitForArrivals(1)
      let second = Task { try await transport.send(server.request()) }
      second.cancel()
      await #expect(throws: CancellationError.self) { try await second.value }
      gate.open()
      #expect(try await first.value == "first")
      #expect(server.requestCount == 1)
    }

    /// A transport that counts the requests which it has got.
    private struct Counting: Transport {
      let transport: any Transport
      let gate: TestGate

      func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        gate.arrive()
        return try await transport.send(request)
      }

      func shutdown() async { await transport.shutdown() }
    }

    @Test func `requests that wait for a connection when their user signs out are not sent`() async throws {
      let server = try LoopbackServer { _ in .text("hello") }
      let gate = LoopbackGate()
      server.enqueue(.text("first").held(by: gate))
      var settings = CurlTransport.Configuration()
      settings.maximumConnectionsPerHost = 1
      let transport = Counting(transport: CurlTransport(configuration: settings), gate: TestGate())
      let session = TokenSession(source: .signInOnly)
      try await session.signIn(AccessToken("token"))
      let client = NetworkClient(
        configuration: RequestConfiguration(baseURL: server.baseURL, behaviors: [.tokenAuth(session)]),
        transport: transport)
      let anyone = Request<String>.get("first").with(\.authentication, .none)
      let first = Task { try await client.send(anyone) }
      await gate.waitForArrivals(1)
      let others = (1...20).map { _ in Task { try await client.send(Request<String>.get("mine")) } }
      await transport.gate.waitForArrivals(21)
      let last = Task { try await client.send(anyone) }
      await transport.gate.waitForArrivals(22)
      try await session.signOut()
      gate.open()
      #expect(try await first.value == "first")
      for other in others {
        let error = await #expect(throws: NetworkError.self) { try await other.value }
        #expect(error?.code == .signedOut)
        #expect(error?.mayHaveArrived == false)
      }
      #expect(try await last.value == "hello")
      #expect(server.requestCount == 2)
    }

    @Test func `a request that fails in the queue does not take one of its host's connections`() async throws {
      let servers = try (1...2).map { _ in try LoopbackServer { _ in .text("hello") } }
      let gate = LoopbackGate()
      servers[0].enqueue(.text("first").held(by: gate))
      var settings = CurlTransport.Configuration()
      (settings.maximumConnectionsPerHost, settings.maximumConnections) = (1, 1)
      let transport = Counting(transport: CurlTransport(configuration: settings), gate: TestGate())
      let session = TokenSession(source: .signInOnly)
      try await session.signIn(AccessToken("token"))
      let client = NetworkClient(
        configuration: RequestConfiguration(baseURL: servers[1].baseURL, behaviors: [.tokenAuth(session)]),
        transport: transport)
      let first = Task { try await transport.send(servers[0].request()).text }
      await gate.waitForArrivals(1)
      let waiting = Task { try await client.send(Request<String>.get("mine")) }
      await transport.gate.waitForArrivals(2)
      try await session.signOut()
      gate.open()
      #expect(try await first.value == "first")
      await #expect(throws: NetworkError.self) { try await waiting.value }
      for server in servers { #expect(try await transport.send(server.request()).text == "hello") }
    }

    @Test func `the user agent is the transport's, unless a request has its own`() async throws {
      let server = try LoopbackServer { .text($0.headers["User-Agent"] ?? "none") }
      var settings = CurlTransport.Configuration()
      #expect(settings.userAgent == "RequestBehaviors")
      settings.userAgent = "shop/1"
      let transport = CurlTransport(configuration: settings)
      #expect(try await transport.send(server.request()).text == "shop/1")
      #expect(try await transport.send(server.request(headers: ["User-Agent": "own/2"])).text == "own/2")
      settings.userAgent = nil
      #expect(try await CurlTransport(configuration: settings).send(server.request()).text == "none")
    }

    @Test(arguments: ["shop/1\r\nX-Forged: 1", "shop/1\nX-Forged: 1", "shop\u{0}/1"])
    func `a user agent that no field may have fails every send`(agent: String) async throws {
      let server = try LoopbackServer { _ in .text("hello") }
      var settings = CurlTransport.Configuration()
      settings.userAgent = agent
      let error = try await CurlTransport(configuration: settings).failure(of: server.request())
      #expect(error.code == .refusedOption)
      #expect(error.message.contains("userAgent"))
      #expect(server.connectionCount == 0)
    }

    @Test func `an option that libcurl does not take fails every send`() async throws {
      let server = try LoopbackServer { _ in .text("hello") }
      var settings = CurlTransport.Configuration()
      settings.userAgent = String(repeating: "x", count: 9_000_000)
      let error = try await CurlTransport(configuration: settings).failure(of: server.request())
      #expect(error.code == .refusedOption)
      #expect(error.message.contains("USERAGENT"))
      #expect(server.connectionCount == 0)
    }
  }
#endif
