/// When a request that has no response yet is sent a second time.
public struct HedgingPolicy: Sendable, Hashable {
  /// How long to wait for the first.
  public enum Delay: Sendable, Hashable {
    /// Always as long.
    case fixed(Duration)
    /// As long as this share of the latest requests to the origin took, such as 0.95; not at all before there were 20.
    case percentile(Double)
  }

  /// How long to wait for the first.
  public var delay: Delay

  /// Creates a policy.
  ///
  /// - Parameter delay: How long to wait for the first; by default as long as 95 of 100 requests took.
  public init(delay: Delay = .percentile(0.95)) { self.delay = delay }
}
