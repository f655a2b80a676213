#if canImport(CRequestBehaviorsCurl)
  import RequestBehaviors
  import RequestBehaviorsCurl
  import RequestBehaviorsTesting
  import Testing

  @Suite(.limited) struct CurlConformanceTests {
    @Test(arguments: TransportConformance.cases)
    func `a transport over libcurl passes the transport conformance suite`(conformance: TransportConformance.Case) async
    {
      // Longer than by default, because all cases run at once, beside all other tests.
      await #expect(throws: Never.self) {
        try await conformance.run(within: .seconds(60)) { CurlTransport(clock: $0) }
      }
    }
  }
#endif
