/// When a circuit breaker opens, and how long it stays open.
public struct CircuitPolicy: Sendable, Hashable {
  /// The share of failures from which on it opens; 0.5 by default.
  public var failureRatio: Double
  /// The fewest requests of a window by which it judges; 10 by default.
  public var minimumRequests: Int
  /// The time over which requests are counted; 30 seconds by default.
  public var window: Duration
  /// How long it stays open the first time; 1 second by default.
  ///
  /// While a client is refused it cannot learn that the server is back: after an outage its calls fail for about so long.
  public var breakDuration: Duration
  /// The longest that it stays open: each break is twice as long as the one before up to this; by default all breaks are
  /// as long as the first.
  public var longestBreak: Duration
  /// How many probes may be under way at a time when a break is over; 3 by default.
  public var probes: Int
  /// How long a probe may take before a further one goes beside it; 1 second by default.
  ///
  /// A probe that was sent while the server hung learns nothing when the server is back.
  public var probeInterval: Duration
  /// How many probes in a row must succeed before it closes; 2 by default.
  public var successesToClose: Int
  /// How long a probe may take before it counts no more, where the request has no `timeout`; 30 seconds by default.
  public var probeLease: Duration

  /// Creates a policy.
  ///
  /// - Parameters:
  ///   - failureRatio: The share of failures from which on it opens.
  ///   - minimumRequests: The fewest requests of a window by which it judges.
  ///   - window: The time over which requests are counted.
  ///   - breakDuration: How long it stays open the first time.
  ///   - longestBreak: The longest that it stays open; `nil` for as long as the first time.
  ///   - probes: How many probes may be under way at a time.
  ///   - probeInterval: How long a probe may take before a further one goes beside it.
  ///   - successesToClose: How many probes in a row must succeed before it closes.
  ///   - probeLease: How long a probe may take before it counts no more.
  public init(
    failureRatio: Double = 0.5, minimumRequests: Int = 10, window: Duration = .seconds(30),
    breakDuration: Duration = .seconds(1), longestBreak: Duration? = nil, probes: Int = 3,
    probeInterval: Duration = .seconds(1), successesToClose: Int = 2, probeLease: Duration = .seconds(30)
  ) {
    self.failureRatio = failureRatio
    self.minimumRequests = minimumRequests
    self.window = window
    self.breakDuration = breakDuration
    self.longestBreak = longestBreak ?? breakDuration
    self.probes = probes
    self.probeInterval = probeInterval
    self.successesToClose = successesToClose
    self.probeLease = probeLease
  }
}

/// What a circuit breaker lets through.
public enum CircuitState: Sendable, Hashable {
  /// Everything.
  case closed
  /// Nothing, for too many requests failed; at the given time of the clock a probe may go.
  case open(until: Duration)
  /// A few probes, which tell whether it closes.
  case halfOpen
  /// Nothing, until the user says otherwise.
  case isolated
}
