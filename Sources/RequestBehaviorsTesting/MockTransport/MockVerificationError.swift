public import RequestBehaviors

/// The problems that ``MockTransport/verify()`` found.
public struct MockVerificationError: Error, Sendable, CustomStringConvertible {
  /// The stubs that were used less often than required, each with the number of uses.
  public let unusedStubs: [String]
  /// The requests that no stub matched.
  public let unmatchedRequests: [NetworkRequest]
  /// The requests whose streamed response was neither read to its end nor cancelled.
  public let openStreams: [NetworkRequest]

  /// The problems, a line each.
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
    if !openStreams.isEmpty {
      lines.append("streamed responses that were neither read to their end nor cancelled:")
      lines += openStreams.map { "  \($0)" }
    }
    return lines.joined(separator: "\n")
  }
}
