#if canImport(CRequestBehaviorsCurl)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsCurl
  import Testing

  /// What a server does over TLS that no server should.
  @Suite(.timeLimit(.minutes(2)), .enabled(if: SecureServer.absence == nil, "\(SecureServer.absence ?? "")"))
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

    // MARK: - What nobody asked for

    @Test(arguments: [true, false])
    func `what came unasked over TLS is no response to the next request`(isInOneRecord: Bool) async throws {
      let server = try await RawSecureServer(certified)
      let transport = try transport()
      let first = Task { try await transport.stream(NetworkRequest(url: server.url)) }
      _ = await server.readHead()
      await server.write(Self.right)
      let stream = try await first.value
      // The body is read up to its length: what follows in the same record stays in the memory of the library for TLS.
      await server.write(isInOneRecord ? "first" + Self.wrong : "first")
      #expect(try await stream.collect(upTo: 100) == Data("first".utf8))
      if !isInOneRecord { await server.write(Self.wrong) }
      let second = Task { try await transport.send(NetworkRequest(url: server.url)) }
      _ = await server.readHead()
      await server.write(Self.right + "later")
      let response = try await second.value
      #expect(try response.text == "later")
    }

    @Test func `a connection over TLS that says nothing unasked is used again`() async throws {
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

    @Test(arguments: [false, true])
    func `a body that ends with a connection that was not closed properly is incomplete`(isStreamed: Bool) async throws
    {
      let server = try await RawSecureServer(certified)
      let transport = try transport()
      var request = NetworkRequest(url: try server.url)
      if isStreamed { request.options.delivery = .streamed }
      let sent = Task { [request] in try await transport.send(request).buffered() }
      _ = await server.readHead()
      await server.write("HTTP/1.1 200 OK\r\n\r\nhello")
      await server.kill()
      let error = try await #require(throws: NetworkError.self) { try await sent.value }
      #expect(error.code == .truncatedBody)
      #expect(error.message.contains("requiresTLSClosure"))
    }

    @Test func `a server whose connections are not closed properly can be accepted`() async throws {
      let server = try await RawSecureServer(certified)
      let transport = try transport { $0.requiresTLSClosure = false }
      let sent = Task { try await transport.send(NetworkRequest(url: server.url)) }
      _ = await server.readHead()
      await server.write("HTTP/1.1 200 OK\r\n\r\nhello")
      await server.kill()
      #expect(try await sent.value.text == "hello")
    }

    @Test(arguments: ["Content-Length: 5\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"])
    func `a body whose end is told is whole, however the connection ends`(rest: String) async throws {
      let server = try await RawSecureServer(certified)
      let transport = try transport()
      let sent = Task { try await transport.send(NetworkRequest(url: server.url)) }
      _ = await server.readHead()
      await server.write("HTTP/1.1 200 OK\r\n" + rest)
      await server.kill()
      #expect(try await sent.value.text == "hello")
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
