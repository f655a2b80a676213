/// When tokens are refreshed, how long that may take, and how often it is tried.
public struct TokenRefreshPolicy: Sendable, Hashable {
  /// How long before its expiry a token is refreshed; 60 seconds by default.
  public var leeway: Duration

  /// The part of its lifetime that the leeway is at most; 0.1 by default, so that short-lived tokens are used.
  public var lifetimeFraction: Double

  /// How long a token may take to get before those that wait for it fail; 30 seconds by default.
  ///
  /// The first call waits as long besides for the store to be read, because nobody knows whose the call is before.
  public var timeout: Duration

  /// How many tokens are asked for within ``window``, whatever servers answer; 5 by default.
  public var limit: Int

  /// The time over which ``limit`` counts; 30 seconds by default.
  public var window: Duration

  /// Creates a policy.
  ///
  /// - Parameters:
  ///   - leeway: How long before its expiry a token is refreshed.
  ///   - lifetimeFraction: The part of its lifetime that the leeway is at most.
  ///   - timeout: How long a token may take to get.
  ///   - limit: How many tokens are asked for within the window.
  ///   - window: The time over which the limit counts.
  public init(
    leeway: Duration = .seconds(60), lifetimeFraction: Double = 0.1, timeout: Duration = .seconds(30),
    limit: Int = 5, window: Duration = .seconds(30)
  ) {
    self.leeway = leeway
    self.lifetimeFraction = lifetimeFraction
    self.timeout = timeout
    self.limit = limit
    self.window = window
  }

  /// The leeway for a token of a lifetime.
  func leeway(forLifetime lifetime: Duration) -> Duration {
    min(leeway, Duration(clamping: lifetime.seconds * lifetimeFraction))
  }
}
