#if canImport(CRequestBehaviorsCurl)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsCurl
  import RequestBehaviorsTesting
  import Testing

  /// Requests through a proxy that does not read them.
  @Suite(.limited) struct CurlTunnelTests {
    private func transport(
      _ proxy: TunnelProxy, _ scheme: String, trust: TrustPolicy = .system, user: String? = nil, password: String? = nil
    ) throws -> CurlTransport {
      let made = try CurlTransport.Proxy.url(proxy.url(scheme), user: user, password: password)
      return CurlTransport(configuration: .init(trust: trust, proxy: made))
    }

    private func request(_ text: String, _ method: RequestMethod = .get) throws -> NetworkRequest {
      NetworkRequest(method, url: try #require(URL(string: text)))
    }

    // MARK: - Proxies that make a tunnel

    @Test(arguments: ["socks5", "socks5h"])
    func `an http request through a SOCKS proxy has the form that it has without a proxy`(scheme: String) async throws {
      let server = try LoopbackServer { _ in .text("hello") }
      let proxy = try TunnelProxy(.socks)
      let transport = try transport(proxy, scheme)
      for _ in 1...2 {
        #expect(try await transport.send(request("http://localhost:\(server.port)/a?b=c")).text == "hello")
      }
      #expect(server.requests.map(\.target) == ["/a?b=c", "/a?b=c"])
      #expect(server.requests.first?.headers["Host"] == "localhost:\(server.port)")
      // One tunnel serves both.
      #expect(proxy.visits.map(\.isName) == [scheme == "socks5h"])
      #expect(proxy.visits.first?.target.hasSuffix(":\(server.port)") == true)
    }

    @Test func `a SOCKS proxy resolves a name that only it knows`() async throws {
      let server = try LoopbackServer { _ in .text("hello") }
      let proxy = try TunnelProxy(.socks)
      let response = try await transport(proxy, "socks5h").send(request("http://server.test:\(server.port)/"))
      #expect(try response.text == "hello")
      #expect(proxy.visits.map(\.target) == ["server.test:\(server.port)"])
    }

    @Test(
      .enabled(if: SecureServer.absence == nil, "\(SecureServer.absence ?? "")"),
      arguments: ["socks5", "socks5h", "http"])
    func `a request to https goes through a tunnel, and the server is still checked`(scheme: String) async throws {
      let server = try await SecureServer.shared()
      let url = try server.url(.secure, path: "back/\(scheme)")
      let proxy = try TunnelProxy(scheme == "http" ? .connect(status: 200) : .socks)
      let transport = try transport(proxy, scheme, trust: server.trust)
      for _ in 1...2 {
        let response = try await transport.send(NetworkRequest(.put, url: url, body: .data(Data(count: 100_000))))
        #expect(try response.text == "PUT 100000")
      }
      #expect(proxy.visits.count == 1)
      #expect(proxy.visits.first?.isName == (scheme != "socks5"))
      #expect(proxy.visits.first?.target.hasSuffix(":\(url.port ?? 0)") == true)
      let suspicious = try self.transport(proxy, scheme)
      let error = try await suspicious.failure(of: NetworkRequest(url: url))
      #expect(error.code == .tlsFailed)
      #expect(!error.mayHaveArrived)
    }

    // MARK: - Credentials

    @Test(arguments: ["socks5", "socks5h"])
    func `a SOCKS proxy gets its user and password, and the server does not`(scheme: String) async throws {
      let server = try LoopbackServer { _ in .text("hello") }
      let proxy = try TunnelProxy(.socksWithPassword(isRight: true))
      let transport = try transport(proxy, scheme, user: "Aladdin", password: "open sesame")
      _ = try await transport.send(request("http://localhost:\(server.port)/"))
      #expect(proxy.visits.first?.user == "Aladdin")
      #expect(proxy.visits.first?.password == "open sesame")
      let head = try #require(server.requests.first?.head)
      #expect(!head.contains("Authorization"))
      #expect(!head.contains("Aladdin"))
      #expect(!head.contains("sesame"))
    }

    @Test(.enabled(if: SecureServer.absence == nil, "\(SecureServer.absence ?? "")"))
    func `the proxy of a tunnel gets its user and password, and the server does not`() async throws {
      let server = try await SecureServer.shared()
      let proxy = try TunnelProxy(.connect(status: 200))
      let transport = try transport(proxy, "http", trust: server.trust, user: "Aladdin", password: "open sesame")
      _ = try await transport.send(NetworkRequest(url: server.url(.secure, path: "back/credentials")))
      let tunnel = try #require(proxy.visits.first?.head)
      #expect(tunnel.contains("\r\nProxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"))
      let head = try #require(server.backend.requests.first { $0.path == "/credentials" }?.head)
      #expect(!head.contains("Authorization"))
      #expect(!head.contains("QWxhZGRpbjpvcGVuIHNlc2FtZQ"))
    }

    // MARK: - Those that refuse

    /// The error of a request through a proxy that does not let it through, which cannot have arrived anywhere.
    private func refusal(
      _ conduct: TunnelProxy.Conduct, _ scheme: String, user: String? = "user-canary"
    ) async throws -> NetworkError {
      let server = try LoopbackServer { _ in .text("hello") }
      let proxy = try TunnelProxy(conduct)
      let transport = try transport(proxy, scheme, user: user, password: user.map { _ in "password-canary" })
      let url = "\(scheme == "http" ? "https" : "http")://127.0.0.1:\(server.port)/"
      let error = try await transport.failure(of: request(url, .post))
      #expect(error.code == .cannotConnect, "\(error)")
      #expect(error.isTransient, "\(error)")
      #expect(error.progress?.stage == .notSent, "\(error)")
      #expect(!error.mayHaveArrived, "\(error)")
      #expect(!"\(error)".contains("canary"))
      #expect(!String(reflecting: error).contains("canary"))
      #expect(proxy.visits.count == 1)
      #expect(server.connectionCount == 0)
      return error
    }

    @Test(
      arguments: ["socks5", "socks5h"],
      [
        (UInt8(1), "failed"), (2, "rules do not allow"), (3, "network"), (4, "host"), (5, "refused the connection"),
        (6, "too long"), (7, "cannot"), (8, "kind of address"), (99, "(99)"),
      ])
    func `the error for a SOCKS proxy that refuses contains the reason`(
      scheme: String, reply: (code: UInt8, words: String)
    ) async throws {
      let error = try await refusal(.socksRefusing(reply.code), scheme)
      #expect(error.message.contains("(\(reply.code))"), "\(error)")
      #expect(error.message.contains(reply.words), "\(error)")
    }

    @Test func `a SOCKS proxy that does not take the password is an error of the connection`() async throws {
      let wrong = try await refusal(.socksWithPassword(isRight: false), "socks5")
      let missing = try await refusal(.socksWithPassword(isRight: true), "socks5", user: nil)
      for error in [wrong, missing] { #expect(error.message.contains("user and password"), "\(error)") }
    }

    @Test(arguments: [(403, "response 403"), (407, "user and password"), (502, "response 502")])
    func `a proxy that refuses a tunnel is an error of the connection`(status: Int, words: String) async throws {
      let error = try await refusal(.connect(status: status), "http")
      #expect(error.message.contains("CONNECT"), "\(error)")
      #expect(error.message.contains(words), "\(error)")
    }

    @Test func `a proxy that goes away instead of answering is an error of the connection`() async throws {
      #expect(try await refusal(.socksClosing, "socks5h").message.contains("proxy"))
      #expect(try await refusal(.connectClosing, "http").message.contains("Proxy"))
    }
  }
#endif
