#if canImport(CRequestBehaviorsCurl)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsCurl
  import RequestBehaviorsTesting
  import Testing

  /// How long connections are kept.
  @Suite(.limited) struct CurlLifetimeTests {
    let server: LoopbackServer

    init() throws { server = try LoopbackServer { _ in .text("hello") } }

    private func transport(
      _ change: (inout CurlTransport.Configuration) -> Void = { _ in }
    ) -> CurlTransport {
      var settings = CurlTransport.Configuration()
      change(&settings)
      return CurlTransport(configuration: settings)
    }

    /// Sends a request over each transport, and returns which of them had a connection for it.
    private func reuse(_ transports: [CurlTransport]) async throws -> [Bool?] {
      var reused: [Bool?] = []
      for transport in transports {
        reused.append(try await transport.send(server.request()).timings.connection?.isReused)
      }
      return reused
    }

    @Test func `a connection is not used again that was idle for too long, or is too old`() async throws {
      let transports = [
        transport { $0.idleConnectionLifetime = .seconds(2) }, transport { $0.idleConnectionLifetime = .seconds(2.9) },
        transport { $0.connectionLifetime = .seconds(2) }, transport { $0.connectionLifetime = .seconds(2.9) },
        transport(), transport { $0.connectionLifetime = .seconds(1_000) },
      ]
      #expect(try await reuse(transports) == Array(repeating: false, count: 6))
      // Real time: libcurl measures it by itself.
      try await RequestClock.system.sleep(for: .milliseconds(2_050))
      #expect(try await reuse(transports) == [false, false, false, false, true, true])
      #expect(server.connectionCount == 10)
    }

    @Test(arguments: [Duration.zero, .milliseconds(500), .seconds(1.9), .seconds(-1)])
    func `a lifetime of less than two seconds is over with the first request`(lifetime: Duration) async throws {
      let transports = [
        transport { $0.idleConnectionLifetime = lifetime }, transport { $0.connectionLifetime = lifetime },
      ]
      for _ in 1...3 { #expect(try await reuse(transports) == [false, false]) }
      await server.waitForConnections(atMost: 0)
      #expect(server.connectionCount == 6)
    }

    @Test func `twenty requests complete with two connections per host that serve one request each`() async throws {
      let transport = transport {
        $0.idleConnectionLifetime = .zero
        $0.maximumConnectionsPerHost = 2
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 1...20 { group.addTask { _ = try await transport.send(server.request()) } }
        try await group.waitForAll()
      }
      #expect(server.requestCount == 20)
      #expect(server.connectionCount == 20)
    }

    @Test(.enabled(if: SecureServer.absence == nil, "\(SecureServer.absence ?? "")"))
    func `an HTTP 2 connection that is not kept serves the requests that share it`() async throws {
      let server = try await SecureServer.shared()
      var settings = CurlTransport.Configuration(trust: try server.trust, httpVersion: .http2OverTLS)
      settings.idleConnectionLifetime = .zero
      let transport = CurlTransport(configuration: settings)
      let request = NetworkRequest(url: try server.url(.secure, path: "large"))
      try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 1...8 { group.addTask { try await transport.send(request).data.count } }
        for try await count in group { #expect(count == 4 << 20) }
      }
      #expect(try await transport.send(request).timings.connection?.isReused == false)
    }
  }
#endif
