/// When a circuit breaker opens, and how long it stays open.
public struct CircuitPolicy: Sendable, Hashable {
  /// The share of failures from which on it opens; 0.5 by default.
  public var failureRatio: Double
  /// The fewest requests of a window by which it judges; 10 by default.
  public var minimumRequests: Int
  /// The time over which requests are counted; 30 seconds by default.
  public var window: Duration
  /// How long it stays open the first time; 5 seconds by default.
  public var breakDuration: Duration
  /// The longest that it stays open: each break is twice as long as the one before; 60 seconds by default.
  public var longestBreak: Duration
  /// How many probes may be under way at a time when a break is over; 1 by default.
  public var probes: Int
  /// How many probes in a row must succeed before it closes; 2 by default.
  public var successesToClose: Int
  /// How long a probe may take before another may take its place, where the request has no `timeout`; 30 seconds by
  /// default.
  public var probeLease: Duration

  /// Creates a policy.
  ///
  /// - Parameters:
  ///   - failureRatio: The share of failures from which on it opens.
  ///   - minimumRequests: The fewest requests of a window by which it judges.
  ///   - window: The time over which requests are counted.
  ///   - breakDuration: How long it stays open the first time.
  ///   - longestBreak: The longest that it stays open.
  ///   - probes: How many probes may be under way at a time.
  ///   - successesToClose: How many probes in a row must succeed before it closes.
  ///   - probeLease: How long a probe may take before another may take its place.
  public init(
    failureRatio: Double = 0.5, minimumRequests: Int = 10, window: Duration = .seconds(30),
    breakDuration: Duration = .seconds(5), longestBreak: Duration = .seconds(60), probes: Int = 1,
    successesToClose: Int = 2, probeLease: Duration = .seconds(30)
  ) {
    self.failureRatio = failureRatio
    self.minimumRequests = minimumRequests
    self.window = window
    self.breakDuration = breakDuration
    self.longestBreak = longestBreak
    self.probes = probes
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

/// What the end of a request says of the server.
public enum CircuitVerdict: Sendable, Hashable {
  /// It works.
  case success
  /// It does not.
  case failure
  /// Nothing, because the request was cancelled or refused on this side for example.
  case none
}
