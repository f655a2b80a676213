import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

@Suite(.limited) struct URLSessionConformanceTests {
  // What cannot be worked round over URLSession; see Limitations in the documentation.
  static var exclusions: [String: String] {
    #if canImport(FoundationNetworking)
      [
        "a method in lower case arrives in lower case": "URLSession on Linux writes get as GET",
        "trailers are read over": "URLSession on Linux ends the process",
        "a head that ends too early is an error": "URLSession on Linux ends the process",
      ]
    #else
      [
        "a send that fails is not repeated":
          "URLSession repeats idempotent requests by itself (Apple: QA1941)"
      ]
    #endif
  }

  @Test func `URLSessionTransport conforms`() async {
    let report = await TransportConformance.run(excluding: Self.exclusions) { URLSessionTransport(clock: $0) }
    #expect(report.failures.isEmpty, "\(report)")
  }
}
