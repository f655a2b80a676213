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

  /// Counts the call's duration, decoding included.
  public func callEnded(_ report: CallReport) { timings.record(report) }
}

extension RequestBehavior where Self == TimingBehavior {
  /// Measures how long calls take, per endpoint; see ``TimingBehavior``.
  ///
  /// - Parameter timings: Where the durations go.
  /// - Returns: The behavior.
  public static func timing(_ timings: LatencyStatistics) -> TimingBehavior { TimingBehavior(timings) }
}
