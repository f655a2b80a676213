#if canImport(CRequestBehaviorsCurl)
  import RequestBehaviors
  import RequestBehaviorsCurl
  import RequestBehaviorsTesting
  import Testing

  @Suite struct CurlConformanceTests {
    @Test(arguments: TransportConformance.cases)
    func `a transport over libcurl does what any transport must do`(conformance: TransportConformance.Case) async {
      await #expect(throws: Never.self) { try await conformance.run { CurlTransport(clock: $0) } }
    }
  }
#endif
