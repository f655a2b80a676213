/// The rules for when tokens are refreshed, how long that may take and how often it is tried.
public struct TokenRefreshPolicy: Sendable, Hashable {
  /// The time before its expiry at which a token is refreshed; 60 seconds by default.
  public var leeway: Duration

  /// The largest part of a token's lifetime that the leeway may take; 0.1 by default, so that short-lived tokens are
  /// used.
  public var lifetimeFraction: Double

  /// The time to get a token after which the requests that wait for it fail; 30 seconds by default.
  ///
  /// Besides, the first call waits as long for the store to be read, because the owner of the call is not known before.
  public var timeout: Duration

  /// The largest number of token requests within ``window``, however servers respond; 5 by default.
  public var limit: Int

  /// The time over which ``limit`` counts; 30 seconds by default.
  public var window: Duration

  /// Creates a policy.
  ///
  /// - Parameters:
  ///   - leeway: The time before its expiry at which a token is refreshed.
  ///   - lifetimeFraction: The largest part of its lifetime that the leeway may take.
  ///   - timeout: The time to get a token after which the requests that wait for it fail.
  ///   - limit: The largest number of token requests within the window.
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
    min(leeway, Duration(clamping: lifetime.inSeconds * lifetimeFraction))
  }
}
