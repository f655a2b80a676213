/// When a request that has no response yet is sent a second time.
public struct HedgingPolicy: Sendable, Hashable {
  /// How long to wait for the first response.
  public enum Delay: Sendable, Hashable {
    /// Always this long.
    case fixed(Duration)
    /// The time within which this share of the latest requests to the origin ended. With fewer than 20 requests there
    /// is no hedge.
    ///
    /// The share is from 0 to 1, such as 0.95, and not 95 as for ``DurationHistogram/percentile(_:)``. With a higher
    /// share the second request waits for as long as the slowest one took; ``Pipeline/warnings`` names it.
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
