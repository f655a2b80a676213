#if canImport(CRequestBehaviorsCurl)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsCurl
  import RequestBehaviorsTesting
  import Testing

  /// The samples of RequestBehaviorsCurl, and of the articles about transports.
  @Suite struct CurlSamplesTests {
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
        let client = NetworkClient(
          configuration: configuration, transport: CurlTransport())
        #expect(try await client.send(.get("x").returning(String.self)) == "hello")
      }
    }

    @Test func `the settings of the documentation are those of a transport`() {
      var settings = CurlTransport.Configuration()
      settings.httpVersion = .http2OverTLS
      settings.minimumTLSVersion = .tls13
      let transport = CurlTransport(configuration: settings)
      _ = transport
      #expect(settings.httpVersion == .http2OverTLS)
    }
  }
#endif
