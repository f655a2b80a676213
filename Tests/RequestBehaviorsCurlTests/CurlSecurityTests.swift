#if canImport(CRequestBehaviorsCurl)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsCurl
  import RequestBehaviorsTesting
  import TestSupport
  import Testing

  /// Tests that need a server with TLS.
  @Suite(.limited, .enabled(if: SecureServer.absence == nil, "\(SecureServer.absence ?? "")"))
  struct CurlSecurityTests {
    let server: SecureServer

    init() async throws { server = try await SecureServer.shared() }

    private func send(
      _ door: SecureServer.Door, host: String = "localhost", path: String = "",
      _ configuration: CurlTransport.Configuration
    ) async throws -> NetworkResponse {
      let request = NetworkRequest(url: try server.url(door, host: host, path: path))
      return try await CurlTransport(configuration: configuration).send(request)
    }

    private func code(
      _ door: SecureServer.Door, host: String = "localhost", _ configuration: CurlTransport.Configuration
    ) async throws -> NetworkError.Code? {
      await #expect(throws: NetworkError.self) { try await send(door, host: host, configuration) }?.code
    }

    @Test func `a server is trusted through a custom authority, and not through the system`() async throws {
      let response = try await send(.secure, CurlTransport.Configuration(trust: server.trust))
      #expect(try response.text.hasPrefix("TLSv1.3 HTTP/1.1"))
      #expect(response.timings.connection?.securing != nil)
      #expect(try await code(.secure, CurlTransport.Configuration()) == .tlsFailed)
      let other = try TrustPolicy.anchors([server.certificate("other")])
      #expect(try await code(.secure, CurlTransport.Configuration(trust: other)) == .tlsFailed)
    }

    @Test func `a proxy that is reached over TLS is trusted by the same authorities`() async throws {
      let proxy = try CurlTransport.Proxy.url(server.url(.secure))
      let request = NetworkRequest(url: try #require(URL(string: "http://behind.test/")))
      let trusting = CurlTransport(configuration: .init(trust: try server.trust, proxy: proxy))
      #expect(try await trusting.send(request).text.hasPrefix("TLSv1.3") == true)
      let other = try TrustPolicy.anchors([server.certificate("other")])
      for trust in [TrustPolicy.system, other] {
        let transport = CurlTransport(configuration: .init(trust: trust, proxy: proxy))
        let error = await #expect(throws: NetworkError.self) { try await transport.send(request) }
        #expect(error?.code == .tlsFailed)
        #expect(error?.message.contains("that of the proxy") == true)
      }
    }

    @Test func `a proxy that is reached over TLS is held to the pins of its host`() async throws {
      let (right, wrong) = (try server.certificate("server").publicKeyPin, try server.certificate("other").publicKeyPin)
      let request = NetworkRequest(url: try #require(URL(string: "http://behind.test/")))
      for (host, pin, code) in [
        ("localhost", right, nil), ("localhost", wrong, .tlsFailed), ("LOCALHOST", wrong, .tlsFailed),
        ("127.0.0.1", wrong, nil), ("behind.test", wrong, nil),
      ] as [(String, PublicKeyPin, NetworkError.Code?)] {
        let trust = try server.trust.pinning([host: [pin]])
        let transport = CurlTransport(configuration: .init(trust: trust, proxy: try .url(server.url(.secure))))
        if let code {
          #expect(try await transport.failure(of: request).code == code)
        } else {
          #expect(try await transport.send(request).statusCode == 200)
        }
      }
    }

    @Test func `an additional authority is trusted beside those of the system`() async throws {
      let trust = try TrustPolicy.anchors([server.certificate("ca")], besidesSystem: true)
      #expect(try await send(.secure, CurlTransport.Configuration(trust: trust)).statusCode == 200)
    }

    @Test(arguments: [SecureServer.Door.otherHost, .expired, .onlyTLS11])
    func `a wrong host, an expired certificate and an old version of TLS are refused`(
      door: SecureServer.Door
    ) async throws {
      #expect(try await code(door, CurlTransport.Configuration(trust: server.trust)) == .tlsFailed)
    }

    @Test func `the least version of TLS is obeyed`() async throws {
      var settings = try CurlTransport.Configuration(trust: server.trust)
      #expect(try await send(.onlyTLS12, settings).text.hasPrefix("TLSv1.2"))
      settings.minimumTLSVersion = .tls13
      #expect(try await code(.onlyTLS12, settings) == .tlsFailed)
      #expect(try await send(.secure, settings).statusCode == 200)
    }

    @Test func `a pinned key is required of hosts with pins only`() async throws {
      let (right, wrong) = try (server.certificate("server").publicKeyPin, server.certificate("other").publicKeyPin)
      func settings(_ pins: [String: [PublicKeyPin]]) throws -> CurlTransport.Configuration {
        CurlTransport.Configuration(trust: try server.trust.pinning(pins))
      }
      #expect(try await send(.secure, settings(["localhost": [wrong, right]])).statusCode == 200)
      #expect(try await code(.secure, settings(["localhost": [wrong]])) == .tlsFailed)
      #expect(try await send(.secure, host: "127.0.0.1", settings(["localhost": [wrong]])).statusCode == 200)
    }

    @Test(arguments: ["%6Cocalhost", "local%68ost", "LOCAL%48OST", "local%C2%ADhost"])
    func `a host is held to its pins however a URL spells it`(host: String) async throws {
      let wrong = try server.certificate("other").publicKeyPin
      let settings = try CurlTransport.Configuration(trust: server.trust.pinning(["localhost": [wrong]]))
      let transport = CurlTransport(configuration: settings)
      let url = try server.url(.secure, host: host)
      #expect(try await transport.failure(of: NetworkRequest(url: url)).code == .tlsFailed)
      let client = NetworkClient(configuration: RequestConfiguration(), transport: transport)
      let error = await #expect(throws: NetworkError.self) { try await client.send(.get(url: url)) }
      #expect(error?.code == .tlsFailed)
    }

    @Test func `the pin of an authority does not match its server's key, and the request is not sent`() async throws {
      let (key, authority) = try (server.certificate("server").publicKeyPin, server.certificate("ca").publicKeyPin)
      func failure(_ pins: [PublicKeyPin]) async throws -> NetworkError {
        let transport = CurlTransport(configuration: .init(trust: try server.trust.pinning(["localhost": pins])))
        return try await transport.failure(
          of: NetworkRequest(.post, url: server.url(.secure, path: "back/pinned"), body: .data(Data("x".utf8))))
      }
      let other = try server.certificate("other").publicKeyPin
      for pins in [[authority], [authority, other]] {
        let error = try await failure(pins)
        #expect(error.code == .tlsFailed)
        #expect(error.progress == NetworkError.Progress(.notSent))
        #expect(error.message.contains("the server's own certificate"), "\(error)")
      }
      #expect(!server.backend.requests.contains { $0.path == "/pinned" })
      let both = try CurlTransport.Configuration(trust: server.trust.pinning(["localhost": [authority, key]]))
      #expect(try await send(.secure, both).statusCode == 200)
    }

    @Test func `one transport holds each host to its own pins`() async throws {
      let (right, wrong) = try (server.certificate("server").publicKeyPin, server.certificate("other").publicKeyPin)
      let trust = try server.trust.pinning(["localhost": [right], "127.0.0.1": [wrong]])
      let transport = CurlTransport(configuration: .init(trust: trust))
      for _ in 1...3 {
        #expect(try await transport.send(NetworkRequest(url: server.url(.secure))).statusCode == 200)
        let pinned = NetworkRequest(url: try server.url(.secure, host: "127.0.0.1"))
        #expect(try await transport.failure(of: pinned).code == .tlsFailed)
      }
    }

    @Test(arguments: [SecureServer.Door.secure, .onlyTLS12])
    func `a new connection resumes the session of an earlier one, pinned or not`(
      door: SecureServer.Door
    ) async throws {
      let (right, wrong) = try (server.certificate("server").publicKeyPin, server.certificate("other").publicKeyPin)
      for trust in [try server.trust, try server.trust.pinning(["localhost": [right]])] {
        var settings = CurlTransport.Configuration(trust: trust)
        settings.idleConnectionLifetime = .zero
        let transport = CurlTransport(configuration: settings)
        let request = NetworkRequest(url: try server.url(door, path: "session"))
        var texts: [String] = []
        for _ in 1...3 { texts.append(try await transport.send(request).text) }
        #expect(texts == [".", "r", "r"])
      }
      // Another transport does not have the session.
      let pinned = try server.trust.pinning(["localhost": [wrong]])
      #expect(try await code(door, CurlTransport.Configuration(trust: pinned)) == .tlsFailed)
    }

    @Test func `a client shows its certificate to the hosts that it is for`() async throws {
      let file = try Data(contentsOf: server.directory.appending(path: "client.p12"))
      func settings(_ host: String, _ passphrase: String = "secret") throws -> CurlTransport.Configuration {
        let identity = try ClientIdentity(pkcs12: file, passphrase: passphrase, hosts: [host])
        return CurlTransport.Configuration(trust: try server.trust, identity: identity)
      }
      let response = try await send(.clientCertificate, settings("localhost"))
      #expect(try response.text.hasSuffix("CN=client"))
      #expect(try await send(.clientCertificate, settings("example.com")).statusCode == 400)
      #expect(
        try await send(.clientCertificate, host: "127.0.0.1", settings("localhost")).statusCode == 400)
      let error = try await #require(throws: NetworkError.self) {
        try await send(.clientCertificate, settings("localhost", "passphrase-canary"))
      }
      #expect(error.code == .invalidTrust)
      #expect(!"\(error)".contains("canary"))
      // libcurl reads a text up to its first NUL, which would be the right passphrase.
      let cut = try await #require(throws: NetworkError.self) {
        try await send(.clientCertificate, settings("localhost", "secret\u{0}canary"))
      }
      #expect(cut.code == .unsupportedTrust)
      #expect(!"\(cut)".contains("canary"))
    }

    @Test func `a server that goes away during a write over TLS causes an error, not the end of the process`()
      async throws
    {
      let server = try await SecureServer()
      let transport = CurlTransport(configuration: .init(trust: try server.trust))
      let gone = NetworkRequest(
        .put, url: try server.url(.secure, path: "back/x"), body: .stream { ByteStream(Endless(server: server)) })
      let error = try await transport.failure(of: gone)
      #expect([.connectionLost, .cannotConnect, .tlsFailed].contains(error.code), "\(error)")
    }

    @Test func `an IPv6 address in a URL is reached`() async throws {
      let settings = try CurlTransport.Configuration(trust: server.trust)
      #expect(try await send(.plain, host: "[::1]", settings).statusCode == 200)
      let response = try await send(.secure, host: "[::1]", settings)
      #expect(response.timings.connection?.remoteAddress?.hasPrefix("[::1]:") == true)
    }
  }

  /// A body without end, in whose midst the server is killed.
  private struct Endless: AsyncSequence, Sendable {
    typealias Element = Data
    let server: SecureServer

    struct Iterator: AsyncIteratorProtocol {
      let server: SecureServer
      var count = 0

      mutating func next() async -> Data? {
        count += 1
        if count == 20 { await server.kill() }
        return Data(count: 100_000)
      }
    }

    func makeAsyncIterator() -> Iterator { Iterator(server: server) }
  }

  /// HTTP/2, which is spoken over TLS only.
  @Suite(.limited, .enabled(if: SecureServer.absence == nil, "\(SecureServer.absence ?? "")"))
  struct CurlHTTP2Tests {
    let server: SecureServer
    let transport: CurlTransport

    init() async throws {
      server = try await SecureServer.shared()
      transport = CurlTransport(configuration: .init(trust: try server.trust, httpVersion: .http2OverTLS))
    }

    private func request(
      _ method: RequestMethod = .get, path: String = "", body: RequestBody? = nil
    ) throws -> NetworkRequest {
      NetworkRequest(method, url: try server.url(.secure, path: path), body: body)
    }

    @Test func `HTTP 2 is used when the configuration asks for it`() async throws {
      let response = try await transport.send(request())
      #expect(try response.text.contains("HTTP/2.0"))
      #expect(response.timings.connection?.protocolName == "h2")
    }

    @Test func `from libcurl 8_1 on concurrent requests share one connection`() async throws {
      let transport = transport
      let request = try request()
      let made = try await withThrowingTaskGroup(of: Bool.self) { group in
        for _ in 1...64 {
          group.addTask { try await transport.send(request).timings.connection?.isReused == false }
        }
        return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      #expect((made == 1) == CurlLibrary.canMultiplex)
    }

    @Test func `consecutive requests share one connection`() async throws {
      #expect(try await transport.send(request()).timings.connection?.isReused == false)
      for _ in 1...3 { #expect(try await transport.send(request()).timings.connection?.isReused == true) }
    }

    @Test func `bodies arrive whole while others are sent`() async throws {
      let (transport, large) = (transport, try request(path: "large"))
      let small = try request(.put, path: "back/x", body: .stream { ByteStream(chunks: [Data("small".utf8)]) })
      let counts = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 1...48 {
          group.addTask { try await transport.send(large).data.count }
          for _ in 1...10 { group.addTask { try await transport.send(small).data.count } }
        }
        return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
      }
      #expect(counts == [4 << 20: 48, "PUT 5".utf8.count: 480])
    }

    @Test func `bodies of all kinds are sent over HTTP 2`() async throws {
      let chunk = Data(count: 100_000)
      let bodies = [
        RequestBody.data(Data("abc".utf8)), .data(Data(count: 300_000)),
        .stream { ByteStream(chunks: [chunk, chunk, chunk]) },
        .stream(length: 300_000) { ByteStream(chunks: [chunk, chunk, chunk]) },
      ]
      for (body, count) in zip(bodies, [3, 300_000, 300_000, 300_000]) {
        #expect(try await transport.send(request(.put, path: "back/x", body: body)).text == "PUT \(count)")
      }
    }

    @Test func `a slow reader of one stream does not delay others of the connection`() async throws {
      var iterator = try await transport.stream(request(path: "large")).makeAsyncIterator()
      var count = try await iterator.next()?.count ?? 0
      for _ in 1...20 { #expect(try await transport.send(request()).statusCode == 200) }
      while let chunk = try await iterator.next() { count += chunk.count }
      #expect(count == 4 << 20)
    }

    @Test func `unread streams do not delay each other, nor other requests of the connection`() async throws {
      var streams: [ByteStream] = []
      for _ in 1...8 { streams.append(try await transport.stream(request(path: "large"))) }
      for _ in 1...20 { #expect(try await transport.send(request()).statusCode == 200) }
      // Each is read to its end while those before it wait.
      for stream in streams.reversed() { #expect(try await stream.collect(upTo: 4 << 20).count == 4 << 20) }
    }

    @Test func `a request reuses the connection of dropped streams if libcurl resets them at once`()
      async throws
    {
      for _ in 1...20 { _ = try await transport.stream(request(path: "large")) }
      let response = try await transport.send(request())
      #expect(response.timings.connection?.isReused == CurlLibrary.sendsResetsAtOnce)
    }

    @Test func `a response that is too long is reset at the server`() async throws {
      let back = try LoopbackServer { _ in .text("12345").fault(.stall, at: .body(after: 4)) }
      let url = try server.url(.secure, path: "gate/\(back.port)/")
      var options = RequestOptions()
      options.bodyLimit = 3
      let error = await #expect(throws: NetworkError.self) {
        try await transport.send(NetworkRequest(url: url, options: options))
      }
      #expect(error?.code == .bodyTooLarge)
      // The connections of nginx to the server end with their streams.
      await back.waitForConnections(atMost: 0)
    }

    @Test func `a body that breaks off is reset at the server`() async throws {
      let back = try LoopbackServer { _ in .text("").fault(.stall, at: .head(after: 0)) }
      let url = try server.url(.secure, path: "gate/\(back.port)/")
      let (bytes, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
      continuation.yield(Data("abc".utf8))
      let body = RequestBody.stream(length: 100) { ByteStream(bytes) }
      let task = Task { try await transport.send(NetworkRequest(.post, url: url, body: body)) }
      #expect(try await eventually { back.connectionCount == 1 })
      continuation.finish(throwing: CocoaError(.fileReadUnknown))
      let error = await #expect(throws: NetworkError.self) { try await task.value }
      #expect(error?.code == .bodyUnreadable)
      await back.waitForConnections(atMost: 0)
    }

    @Test func `a cleartext connection uses HTTP 1.1`() async throws {
      let plain = NetworkRequest(url: try server.url(.plain))
      #expect(try await transport.send(plain).timings.connection?.protocolName == "http/1.1")
    }
  }

  /// Requests that a server refuses with their connection, where they share one.
  @Suite(
    .limited, .enabled(if: SecureServer.absence == nil, "\(SecureServer.absence ?? "")"),
    .enabled(if: CurlLibrary.canMultiplex, "requests share connections from libcurl 8.1 on"))
  struct CurlRefusalTests {
    let server: SecureServer

    init() async throws { server = try await SecureServer.shared() }

    /// Sends six requests at once to a server that refuses all but two of a connection.
    ///
    /// They are sent on the thread of the transport, so that all begin in one turn of its loop.
    ///
    /// - Returns: The texts of the responses and the errors, and the number of requests that the server processed.
    private func sixOutcomes(
      _ body: RequestBody?, call: @escaping @Sendable () -> Call = { Call() }
    ) async throws -> (outcomes: [Result<String, any Error>], processed: Int) {
      let transport = CurlTransport(configuration: .init(trust: try server.trust, httpVersion: .http2OverTLS))
      let path = "/\(UUID().uuidString)"
      let url = try server.url(.twoRequests, path: "back\(path)")
      let outcomes = await transport.run {
        await withTaskGroup(of: Result<String, any Error>.self) { group in
          for _ in 1...6 {
            group.addTask {
              do {
                return .success(
                  try await transport.send(NetworkRequest(.post, url: url, body: body, call: call())).text)
              } catch { return .failure(error) }
            }
          }
          return await group.reduce(into: []) { $0.append($1) }
        }
      }
      return (outcomes, server.backend.requests.count { $0.path == path })
    }

    @Test(arguments: [0, 5, 100_000])
    func `a request that the server refuses is sent again, and arrives once`(count: Int) async throws {
      let (outcomes, processed) = try await sixOutcomes(count == 0 ? nil : .data(Data(count: count)))
      #expect(try outcomes.map { try $0.get() } == Array(repeating: "POST \(count)", count: 6))
      #expect(processed == 6)
    }

    @Test func `a refused request whose user has signed out meanwhile is not sent again`() async throws {
      var errors: [NetworkError] = []
      // If requests begin late, none is refused.
      while errors.isEmpty {
        let (outcomes, processed) = try await sixOutcomes(nil) {
          let call = Call()
          call.addSendCheck { _ in throw NetworkError(.signedOut, "signed out") }
          return call
        }
        errors = outcomes.compactMap { outcome in
          if case .failure(let error as NetworkError) = outcome { error } else { nil }
        }
        #expect(processed == 6 - errors.count)
      }
      #expect(errors.allSatisfy { $0.code == .signedOut && $0.progress?.stage == .notSent })
    }

    @Test func `a refused stream arrives whole, or counts as not sent`() async throws {
      let (outcomes, processed) = try await sixOutcomes(.stream { ByteStream(chunks: [Data("abc".utf8)]) })
      for outcome in outcomes {
        switch outcome {
        case .success(let text): #expect(text == "POST 3")
        case .failure(let error): #expect((error as? NetworkError)?.progress?.stage == .notSent, "\(error)")
        }
      }
      #expect(processed == outcomes.count { (try? $0.get()) != nil })
    }
  }
#endif
