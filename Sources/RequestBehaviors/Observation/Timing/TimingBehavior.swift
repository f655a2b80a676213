/// Measures how long calls take, per endpoint.
///
/// ```swift
/// let timings = LatencyStatistics()
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.timing(timings)])
/// ```
public struct TimingBehavior: UniqueBehavior, CallObserver {
  /// Around everything but the user's `.first`.
  public let order = BehaviorOrder.observation
  /// Nothing is held while a request is within `intercept`, so prerequisites pass too.
  public let runsForPrerequisites = true
  private let timings: LatencyStatistics

  /// Creates a behavior that measures into a collection.
  public init(_ timings: LatencyStatistics) { self.timings = timings }

  /// Counts the call's duration, decoding included; that of a stream ends when its reader has read it.
  public func callEnded(_ report: CallReport) { timings.record(report) }
}

extension RequestBehavior where Self == TimingBehavior {
  /// Measures how long calls take, per endpoint; see ``TimingBehavior``.
  public static func timing(_ timings: LatencyStatistics) -> TimingBehavior { TimingBehavior(timings) }
}

/// Where the time of a call went.
public struct DurationBreakdown: Sendable, Hashable {
  /// From the beginning of the call until the transport got the request that was answered: behaviors, waits for tokens
  /// and permits, earlier sends.
  public let behaviors: Duration
  /// From there to the head of the response; `nil` if the transport cannot tell.
  public let waiting: Duration?
  /// From the head to the last byte of the response, as its reader took it; `nil` if the transport cannot tell.
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
    receiving = timings.firstByte.flatMap { first in timings.lastByte.map { $0 - first } }
    decoding = report.decoding
    total = report.duration
  }
}
