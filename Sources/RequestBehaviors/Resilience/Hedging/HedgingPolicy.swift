/// When a request that has no response yet is sent a second time.
public struct HedgingPolicy: Sendable, Hashable {
  /// How long to wait for the first response.
  public enum Delay: Sendable, Hashable {
    /// Always this long.
    case fixed(Duration)
    /// The time within which this share, such as 0.95, of the latest requests to the origin ended. With fewer than 20
    /// requests there is no hedge.
    case percentile(Double)
  }

  /// How long to wait for the first response.
  public var delay: Delay

  /// Creates a policy.
  ///
  /// - Parameter delay: How long to wait for the first response; by default the time within which 95 of 100 requests
  ///   ended.
  public init(delay: Delay = .percentile(0.95)) { self.delay = delay }
}
