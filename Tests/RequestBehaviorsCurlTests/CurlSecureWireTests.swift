#if canImport(CRequestBehaviorsCurl)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsCurl
  import Testing

  /// Faults of a server over TLS.
  @Suite(.limited, .enabled(if: SecureServer.absence == nil, "\(SecureServer.absence ?? "")"))
  struct CurlSecureWireTests {
    let certified: SecureServer

    init() async throws { certified = try await SecureServer.shared() }

    private func transport(_ change: (inout CurlTransport.Configuration) -> Void = { _ in }) throws -> CurlTransport {
      var settings = try CurlTransport.Configuration(trust: certified.trust)
      change(&settings)
      return CurlTransport(configuration: settings)
    }

    private static let right = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
    private static let wrong = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong"

    // MARK: - Unrequested bytes

    @Test func `unrequested bytes over TLS are not the response to the next request`() async throws {
      let server = try await RawSecureServer(certified)
      let transport = try transport()
      let first = Task { try await transport.stream(NetworkRequest(url: server.url)) }
      _ = await server.readHead()
      await server.write(Self.right)
      let stream = try await first.value
      // The body is read up to its length: what follows in the same record stays in the memory of the library for TLS.
      await server.write("first" + Self.wrong)
      #expect(try await stream.collect(upTo: 100) == Data("first".utf8))
      let second = Task { try await transport.send(NetworkRequest(url: server.url)) }
      _ = await server.readHead()
      await server.write(Self.right + "later")
      let response = try await second.value
      #expect(try response.text == "later")
    }

    @Test func `a connection over TLS without unrequested bytes is reused`() async throws {
      let server = try await RawSecureServer(certified)
      let transport = try transport()
      for text in ["first", "later"] {
        let sent = Task { try await transport.send(NetworkRequest(url: server.url)) }
        _ = await server.readHead()
        await server.write(Self.right + text)
        let response = try await sent.value
        #expect(try response.text == text)
        #expect(response.timings.connection?.isReused == (text == "later"))
      }
    }

    // MARK: - The end of the connection

    /// The text of a body without a length, whose connection is cut when all of it has come.
    private func cutOffText(_ transport: CurlTransport) async throws -> String {
      let server = try await RawSecureServer(certified)
      let sent = Task { try await transport.stream(NetworkRequest(url: server.url)) }
      _ = await server.readHead()
      await server.write("HTTP/1.1 200 OK\r\n\r\nhello")
      var text = ""
      for try await chunk in try await sent.value {
        text += String(decoding: chunk, as: UTF8.self)
        if text == "hello" { await server.kill() }
      }
      return text
    }

    @Test func `a body that ends with a connection without a proper TLS end is incomplete`() async throws {
      let transport = try transport()
      let error = try await #require(throws: NetworkError.self) { try await cutOffText(transport) }
      #expect(error.code == .truncatedBody)
      #expect(error.message.contains("requiresTLSClosure"))
    }

    @Test func `a server whose connections are not closed properly can be accepted`() async throws {
      #expect(try await cutOffText(transport { $0.requiresTLSClosure = false }) == "hello")
    }

    // MARK: - A handshake that breaks off

    /// A server that hands on to the one over TLS what the connections for which a closure says so send.
    private func relay(
      _ goesOn: @escaping @Sendable (_ connection: Int) -> Bool, resets: Bool = false
    ) throws -> (server: RawServer, url: URL) {
      let (port, connections) = (try UInt16(#require(certified.url(.secure).port)), Locked(0))
      let server = try RawServer { client in
        let number = connections.withLock {
          $0 += 1
          return $0
        }
        try client.relay(to: Peer(connectingTo: port)) { _ in goesOn(number) }
        if resets { client.reset() }
      }
      return (server, try #require(URL(string: "https://localhost:\(server.port)/")))
    }

    @Test(arguments: [RequestMethod.get, .post], [false, true])
    func `a handshake that the server breaks off is tried again with any method`(
      method: RequestMethod, resets: Bool
    ) async throws {
      let (server, url) = try relay({ $0 > 1 }, resets: resets)
      let retry = RetryPolicy(backoff: Backoff(base: .zero, floor: .zero))
      let client = NetworkClient(baseURL: url, behaviors: [.retry(retry)], transport: try transport())
      let body: RequestContent? = method == .post ? .text("x") : nil
      let response = try await client.send(Request<NetworkResponse>(method, "session", body: body))
      #expect(response.attempts.count == 2)
      #expect(response.attempts.first?.outcome.hasFailed(with: .cannotConnect) == true)
      withExtendedLifetime(server) {}
    }

    @Test(arguments: [false, true])
    func `a request is in doubt if its connection ended and the next one could not be secured`(
      resets: Bool
    ) async throws {
      let isWarm = Locked(false)
      let (server, url) = try relay({ _ in !isWarm.withLock { $0 } }, resets: resets)
      let transport = try transport()
      _ = try await transport.send(NetworkRequest(url: url))
      isWarm.withLock { $0 = true }
      let error = try await transport.failure(of: NetworkRequest(.post, url: url, body: .data(Data("x".utf8))))
      #expect(error.code == .connectionLost, "\(error)")
      #expect(error.progress == NetworkError.Progress(.sent, reusedConnection: true))
      withExtendedLifetime(server) {}
    }

    // MARK: - Who the client is

    @Test(arguments: ["-tls1_2", "-tls1_3"], [false, true])
    func `a server that refuses the client's certificate is an error of TLS`(version: String, shows: Bool) async throws
    {
      let authority = certified.directory.appending(path: "other.pem").path(percentEncoded: false)
      let server = try await RawSecureServer(
        certified, [version, "-Verify", "1", "-verify_return_error", "-CAfile", authority])
      let file = try Data(contentsOf: certified.directory.appending(path: "client.p12"))
      let transport = try transport {
        $0.identity = try? ClientIdentity(
          pkcs12: file, passphrase: "secret", hosts: [shows ? "localhost" : "example.com"])
      }
      let error = try await transport.failure(of: NetworkRequest(.post, url: server.url))
      #expect(error.code == .tlsFailed, "\(error)")
      #expect(!error.isTransient)
      #expect(!error.mayHaveArrived)
    }
  }
#endif
