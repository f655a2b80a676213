/// Measures the durations of calls per endpoint.
///
/// ```swift
/// let timings = LatencyStatistics()
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.timing(timings)])
/// ```
public struct TimingBehavior: UniqueBehavior, CallObserver {
  /// Around all behaviors except the user's `.first`.
  public let order = BehaviorOrder.observation
  /// `false`: only the end of a call counts.
  public let observesAttempts = false
  /// `true`, because `intercept` holds nothing that a prerequisite could wait for.
  public let runsForPrerequisites = true
  private let timings: LatencyStatistics

  /// Creates a behavior that records into a collection.
  public init(_ timings: LatencyStatistics) { self.timings = timings }

  /// Records the call's duration, including decoding; for a stream, until its reader has read it.
  public func callEnded(_ report: CallReport) { timings.record(report) }
}

extension RequestBehavior where Self == TimingBehavior {
  /// Measures the durations of calls per endpoint; see ``TimingBehavior``.
  public static func timing(_ timings: LatencyStatistics) -> TimingBehavior { TimingBehavior(timings) }
}

/// The durations of the phases of a call.
public struct DurationBreakdown: Sendable, Hashable {
  /// The time from the start of the call until the transport received the request of the final response.
  ///
  /// It includes behaviors, waits for tokens and permits, and earlier sends.
  public let behaviors: Duration
  /// The time from there to the head of the response; `nil` if the transport cannot tell.
  public let waiting: Duration?
  /// The time from the head to the last byte, as the reader received it; `nil` if the transport cannot tell.
  public let receiving: Duration?
  /// The time for decoding the response.
  public let decoding: Duration
  /// The time from the start of the call to its end.
  public let total: Duration

  /// Creates the phases of a call, or `nil` if it got no response.
  public init?(_ report: borrowing CallReport) {
    guard let timings = report.response?.timings else { return nil }
    // A response from a cache may have been sent before this call began.
    behaviors = max(.zero, timings.sent - report.call.startedAt)
    waiting = timings.firstByte.map { $0 - timings.sent }
    receiving = timings.firstByte.flatMap { first in timings.lastByte.map { $0 - first } }
    decoding = report.decoding
    total = report.duration
  }
}
