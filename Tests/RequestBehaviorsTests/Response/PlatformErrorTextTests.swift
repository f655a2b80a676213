import Foundation
import RequestBehaviors
import Testing

/// The text of an error whose cause is one of the platform's.
@Suite(.limited) struct PlatformErrorTextTests {
  @Test func `an error of the platform is named, not dumped`() {
    let cause = NSError(
      domain: "NSURLErrorDomain", code: -1_004,
      userInfo: [NSLocalizedDescriptionKey: "Could not connect", "NSErrorFailingURLKey": "http://h/"])
    let first = NetworkError(.cannotConnect, "no connection could be made: Could not connect", underlyingError: cause)
    #expect(
      first.description == "cannotConnect: no connection could be made: Could not connect (NSURLErrorDomain -1004)")
    let second = NetworkError(.cannotConnect, "no connection", underlyingError: cause)
    #expect(second.description == "cannotConnect: no connection (NSURLErrorDomain -1004: Could not connect)")
  }

  @Test func `a custom error is shown unchanged`() {
    struct Own: Error, CustomStringConvertible { let description = "my reason" }
    let error = NetworkError(.cannotConnect, "no connection", underlyingError: Own())
    #expect(error.description == "cannotConnect: no connection (my reason)")
  }
}
