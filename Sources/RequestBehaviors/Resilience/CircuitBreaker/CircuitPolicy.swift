/// The rules of when a circuit breaker opens, and how long it stays open.
public struct CircuitPolicy: Sendable, Hashable {
  /// The share of failures at which it opens; 0.5 by default.
  public var failureRatio: Double
  /// The number of requests within the window that it needs to judge; 10 by default.
  public var minimumRequests: Int
  /// The time over which requests are counted; 30 seconds by default.
  public var window: Duration
  /// How long it stays open the first time; 1 second by default.
  ///
  /// While the circuit is open, the client cannot learn that the server is back. After an outage its calls fail for up
  /// to about this time.
  public var breakDuration: Duration
  /// The longest time that it stays open.
  ///
  /// Each break is twice as long as the one before, up to this limit. By default all breaks are as long as the first.
  /// Chance adds up to a tenth to each break, also to the longest.
  public var longestBreak: Duration
  /// The number of probes that may be under way at a time after a break; 3 by default.
  public var probes: Int
  /// How long a probe may take before another goes in parallel; 1 second by default.
  ///
  /// A probe that was sent while the server hung does not tell that the server is back.
  public var probeInterval: Duration
  /// The number of successive probes that must succeed before it closes; 2 by default.
  public var successesToClose: Int
  /// How long a probe counts as under way if the request has no `timeout`; 30 seconds by default.
  public var probeLease: Duration

  /// Creates a policy.
  ///
  /// - Parameters:
  ///   - failureRatio: The share of failures at which it opens.
  ///   - minimumRequests: The number of requests within the window that it needs to judge.
  ///   - window: The time over which requests are counted.
  ///   - breakDuration: How long it stays open the first time.
  ///   - longestBreak: The longest time that it stays open; `nil` for as long as the first time.
  ///   - probes: The number of probes that may be under way at a time.
  ///   - probeInterval: How long a probe may take before another goes in parallel.
  ///   - successesToClose: The number of successive probes that must succeed before it closes.
  ///   - probeLease: How long a probe counts as under way if the request has no `timeout`.
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
