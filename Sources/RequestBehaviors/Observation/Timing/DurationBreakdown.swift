/// Where the time of a call went.
public struct DurationBreakdown: Sendable, Hashable {
  /// From the beginning of the call until the transport got the request that was answered: behaviors, waits for tokens
  /// and permits, earlier sends.
  public let behaviors: Duration
  /// From there to the head of the response; `nil` if the transport cannot tell.
  public let waiting: Duration?
  /// From the head to the last byte of the response; `nil` if the transport cannot tell.
  public let receiving: Duration?
  /// Decoding the response.
  public let decoding: Duration
  /// From the beginning of the call to its end.
  public let total: Duration

  /// Creates the phases of a call, or `nil` if it was not answered.
  public init?(_ report: CallReport) {
    guard let timings = report.response?.timings else { return nil }
    // A response from a cache was sent before this call began.
    behaviors = max(.zero, timings.sent - report.call.startedAt)
    waiting = timings.firstByte.map { $0 - timings.sent }
    receiving = timings.firstByte.map { timings.lastByte - $0 }
    decoding = report.decoding
    total = report.duration
  }
}
