#if canImport(CRequestBehaviorsCurl)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsCurl
  import RequestBehaviorsTesting
  import Testing

  /// The samples of RequestBehaviorsCurl, and of the articles about transports.
  @Suite(.limited) struct CurlSamplesTests {
    @Test func `a client of the documentation sends over libcurl`() async throws {
      let server = try LoopbackServer { _ in .text("hello") }
      let configuration = RequestConfiguration(baseURL: server.baseURL)
      do {
        let transport = CurlTransport()
        let client = NetworkClient(
          configuration: configuration, transport: transport)
        #expect(try await client.send(.get("x").returning(String.self)) == "hello")
      }
      do {
        let baseURL = server.baseURL
        let client = NetworkClient(baseURL: baseURL, transport: .curl())
        #expect(try await client.send(.get("x").returning(String.self)) == "hello")
      }
    }

    @Test func `a client has a configuration, and its transport settings`() async throws {
      let server = try LoopbackServer { _ in .text("hello") }
      let configuration = RequestConfiguration(baseURL: server.baseURL)
      var settings = CurlTransport.Configuration()
      settings.httpVersion = .http2OverTLS
      let client = NetworkClient(
        configuration: configuration, transport: .curl(settings))
      #expect(try await client.send(.get("x").returning(String.self)) == "hello")
    }

    private struct User: Codable, Equatable {
      let name: String
    }

    @Test func `a client of the documentation runs on the thread of the transport`() async throws {
      let server = try LoopbackServer { _ in .json(#"[{"name":"Mona"}]"#) }
      let baseURL = server.baseURL
      let transport = CurlTransport()
      let client = NetworkClient(
        baseURL: baseURL, behaviors: [.logging()], transport: transport)
      let users: [User] = try await transport.run {
        try await client.send(.get("users"))
      }
      #expect(users == [User(name: "Mona")])
    }

    @Test func `a server of the documentation uses several cores`() async throws {
      let server = try LoopbackServer { _ in .json(#"{"name":"Mona"}"#) }
      let baseURL = server.baseURL
      let transports = CurlTransports(count: 4)
      let client = NetworkClient(baseURL: baseURL, transport: transports)
      let user: User = try await transports.run {
        try await client.send(.get("users/1"))
      }
      #expect(user == User(name: "Mona"))
    }

    // Compiled only.
    func `a container engine listens on a socket`() {
      var settings = CurlTransport.Configuration()
      settings.unixSocketPath = "/run/docker.sock"
      let engine = NetworkClient(
        baseURL: URL(string: "http://localhost/v1.44")!,
        transport: .curl(settings))
      _ = engine
    }

    @Test func `a transport has the proxies and limits of the documentation`() throws {
      let proxyURL = URL(string: "http://proxy.example.com:3128")!
      let (user, password) = ("user", "secret")
      var settings = CurlTransport.Configuration()
      settings.httpVersion = .http2OverTLS
      settings.maximumConnectionsPerHost = 16
      settings.proxy = try .url(
        proxyURL, user: user, password: password)
      let transport = CurlTransport(configuration: settings)
      #expect(settings.proxy != .none)
      withExtendedLifetime(transport) {}
    }

    @Test func `a transport takes authorities, pins and identities`() throws {
      do {
        let authority = CurlSamplesTests.authority
        let trust = try TrustPolicy.anchors(
          X509Certificate.certificates(pem: authority))
        let transport = CurlTransport(configuration: .init(trust: trust))
        withExtendedLifetime(transport) {}
      }
      do {
        let current = "GIQx4IPpIjzBVKdvsxutK0e4oy/99OMUr6LkuYjZlKM="
        let spare = "iwi0g9NNfQeoa9wcoolA/JN6hEkODC8ZVUmbK1pvO/I="
        let keys = try [PublicKeyPin(current), PublicKeyPin(spare)]
        let trust = try TrustPolicy.system
          .pinning(["api.example.com": keys])
        let transport = CurlTransport(configuration: .init(trust: trust))
        withExtendedLifetime(transport) {}
      }
      do {
        // The beginning of a PKCS #12: its version.
        let file = Data([0x30, 0x03, 0x02, 0x01, 0x03])
        let passphrase = "secret"
        let identity = try ClientIdentity(
          pkcs12: file, passphrase: passphrase,
          hosts: ["api.example.com"])
        let transport = CurlTransport(
          configuration: .init(identity: identity))
        #expect(identity.hosts == ["api.example.com"])
        withExtendedLifetime(transport) {}
      }
    }

    // An authority that has signed no certificate.
    private static let authority = """
      -----BEGIN CERTIFICATE-----
      MIIBfzCCASWgAwIBAgIUOl1VlAlsBmFP9EB9HDFMQJxQmTQwCgYIKoZIzj0EAwIw
      FDESMBAGA1UEAwwJQXV0aG9yaXR5MCAXDTI2MTEyMjA1MzkzOVoYDzIxMjYxMDI5
      MDUzOTM5WjAUMRIwEAYDVQQDDAlBdXRob3JpdHkwWTATBgcqhkjOPQIBBggqhkjO
      PQMBBwNCAAQYJAGbR89jbtlXe1inDV/UOKh6CEAQEuIdfEUunioAAX18jAMpJlTm
      W3K6dMRorEaua1QNv1x5e0Wq9JDZYfFQo1MwUTAdBgNVHQ4EFgQU9dSH+g1IKqc2
      Mlk8SHzkBULcnzQwHwYDVR0jBBgwFoAU9dSH+g1IKqc2Mlk8SHzkBULcnzQwDwYD
      VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiB8OkYb/qXgKkY05cCmghGQ
      HXrSmHBxh4ndRc+DoE7xUwIhALF80xQYWqGFgdGwTpSjzxJzgxGhu2PEVs/DRE0F
      hLPV
      -----END CERTIFICATE-----
      """

    @Test func `a transport has the settings of the documentation`() {
      var settings = CurlTransport.Configuration()
      settings.httpVersion = .http2OverTLS
      settings.minimumTLSVersion = .tls13
      let transport = CurlTransport(configuration: settings)
      _ = transport
      #expect(settings.httpVersion == .http2OverTLS)
    }

    @Test func `two lines make a client over libcurl`() async throws {
      let server = try LoopbackServer { _ in .text("hello") }
      let baseURL = server.baseURL
      let client = NetworkClient(
        baseURL: baseURL, behaviors: [.logging()], transport: .curl())
      #expect(try await client.send(.get("x").returning(String.self)) == "hello")
    }
  }
#endif
