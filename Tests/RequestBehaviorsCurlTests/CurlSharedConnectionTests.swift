#if canImport(CRequestBehaviorsCurl)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsCurl
  import RequestBehaviorsTesting
  import TestSupport
  import Testing

  /// Connections of HTTP/2 that fail, and the requests after that.
  @Suite(
    .limited, .enabled(if: SecureServer.absence == nil, "\(SecureServer.absence ?? "")"),
    .enabled(if: CurlLibrary.canMultiplex, "requests share connections from libcurl 8.1 on"))
  struct CurlSharedConnectionTests {
    /// A frame of HTTP/2 without padding.
    private static func frame(_ type: UInt8, flags: UInt8 = 0, stream: UInt8 = 0, _ payload: [UInt8] = []) -> [UInt8] {
      [0, 0, UInt8(payload.count), type, flags, 0, 0, 0, stream] + payload
    }

    private let settings = frame(4)

    /// The head of a response with the status 200.
    private func head(of stream: UInt8, isEnd: Bool = true) -> [UInt8] {
      Self.frame(1, flags: isEnd ? 5 : 4, stream: stream, [0x88])
    }

    private func request(_ text: String, to port: UInt16) throws -> NetworkRequest {
      let url = try #require(URL(string: "https://localhost:\(port)/"))
      return NetworkRequest(.post, url: url, body: .data(Data("\(text)\n".utf8)))
    }

    private func transport(_ certified: SecureServer, clock: RequestClock = .system) throws -> CurlTransport {
      .curl(.init(trust: try certified.trust, httpVersion: .http2OverTLS), clock: clock)
    }

    @Test func `a request whose response has begun counts as sent, though the server says that it refused it`()
      async throws
    {
      let certified = try await SecureServer.shared()
      let server = try await RawSecureServer(certified, ["-alpn", "h2"])
      let transport = try transport(certified)
      let request = try request("text", to: server.port)
      async let failure = transport.failure(of: request)
      _ = await server.read(until: "text\n")
      let body = Self.frame(0, stream: 1, Array("half".utf8))
      let refusal = Self.frame(3, stream: 1, [0, 0, 0, 7])
      await server.write(settings + head(of: 1, isEnd: false) + body + refusal)
      let error = try await failure
      #expect(error.code == .connectionLost)
      #expect(error.progress?.stage == .headReceived)
      #expect(error.mayHaveArrived)
    }

    /// Ways to end a request over a connection from which nothing comes any more.
    enum End: CaseIterable {
      case timeout
      case cancellation
    }

    @Test(arguments: End.allCases)
    func `a request after one that ended in silence has another connection`(end: End) async throws {
      let certified = try await SecureServer.shared()
      let server = try await RawSecureServer(certified, ["-alpn", "h2"])
      let clock = ManualClock()
      let transport = try transport(certified, clock: clock.requestClock)
      let first = try request("first", to: server.port)
      async let response = transport.send(first)
      _ = await server.read(until: "first\n")
      await server.write(settings + head(of: 1))
      #expect(try await response.statusCode == 200)
      let second = try request("second", to: server.port)
      let silent = Task { try await transport.send(second) }
      _ = await server.read(until: "second\n")
      switch end {
      case .timeout: clock.advance(by: second.options.idleTimeout ?? .seconds(300))
      case .cancellation:
        clock.advance(by: .seconds(1))
        silent.cancel()
      }
      await #expect(throws: (any Error).self) { try await silent.value }
      let third = try request("third", to: server.port)
      async let another = transport.send(third)
      _ = await server.read(until: "third\n")
      // The response is for either connection.
      await server.write(settings + head(of: 1) + head(of: 5))
      #expect(try await another.timings.connection?.isReused == false)
    }

    @Test func `a request does not go over a connection that the server has ended`() async throws {
      let certified = try await SecureServer.shared()
      let servers = [
        try await RawSecureServer(certified, ["-alpn", "h2"]), try await RawSecureServer(certified, ["-alpn", "h2"]),
      ]
      let ports = Locked(servers.map(\.port))
      let relay = try RawServer { client in
        try client.relay(to: Peer(connectingTo: ports.withLock { $0.removeFirst() }))
      }
      let transport = try transport(certified)
      for server in servers {
        let request = try request("text", to: relay.port)
        let responder = Task {
          guard await server.read(until: "text\n").contains("text") else { return }
          await server.write(settings + head(of: 1))
        }
        let status = try? await transport.send(request).statusCode
        #expect(status == 200)
        await server.kill()
        await responder.value
        await relay.waitForEnd()
      }
    }
  }
#endif
