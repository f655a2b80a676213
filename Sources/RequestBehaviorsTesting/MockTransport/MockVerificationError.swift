public import RequestBehaviors

/// What ``MockTransport/verify()`` found.
public struct MockVerificationError: Error, Sendable, CustomStringConvertible {
  /// The stubs that were used less often than they say, each with how often.
  public let unusedStubs: [String]
  /// The requests that no stub matched.
  public let unmatchedRequests: [NetworkRequest]

  /// What is wrong, a line each.
  public var description: String {
    var lines: [String] = []
    if !unusedStubs.isEmpty {
      lines.append("stubs that were not used as they say (mark those that need not be as optional()):")
      lines += unusedStubs.map { "  \($0)" }
    }
    if !unmatchedRequests.isEmpty {
      lines.append("requests that no stub matched:")
      lines += unmatchedRequests.map { "  \($0)" }
    }
    return lines.joined(separator: "\n")
  }
}
