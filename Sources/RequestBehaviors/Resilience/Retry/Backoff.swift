import Foundation

/// The wait before each retry.
///
/// The longest wait doubles with every retry, up to a cap. The actual wait is a random time up to the longest, so that
/// clients that failed together do not all return at the same time.
///
/// | retry | default wait |
/// |---|---|
/// | 1 | 50 ms to 0.5 s |
/// | 2 | 50 ms to 1 s |
/// | 3 | 50 ms to 2 s |
/// | 7 and later | 50 ms to 20 s |
public struct Backoff: Sendable, Hashable {
  /// The part of a wait that is random.
  public enum Jitter: Sendable, Hashable {
    /// All of it, which spreads the load of many clients best.
    case full
    /// The second half, so that no client returns at once.
    case half
    /// No part.
    case none
  }

  /// The longest wait before the first retry; 0.5 seconds by default.
  public var base: Duration
  /// The factor by which the longest wait grows with each retry; 2 by default.
  public var factor: Double
  /// The longest wait before any retry; 20 seconds by default.
  public var cap: Duration
  /// The shortest wait before any retry; 50 milliseconds by default.
  public var floor: Duration
  /// The part of a wait that is random; all of it by default.
  public var jitter: Jitter

  /// Creates a backoff.
  ///
  /// - Parameters:
  ///   - base: The longest wait before the first retry.
  ///   - factor: The factor by which the longest wait grows with each retry; less than 1 counts as 1.
  ///   - cap: The longest wait before any retry.
  ///   - floor: The shortest wait before any retry.
  ///   - jitter: The part of a wait that is random.
  public init(
    base: Duration = .milliseconds(500), factor: Double = 2, cap: Duration = .seconds(20),
    floor: Duration = .milliseconds(50), jitter: Jitter = .full
  ) {
    self.base = base
    self.factor = factor
    self.cap = cap
    self.floor = floor
    self.jitter = jitter
  }

  /// Returns how long to wait.
  ///
  /// - Parameters:
  ///   - retry: The number of the retry that follows, from 1.
  ///   - random: A uniformly distributed number from 0 to 1.
  /// - Returns: The wait: at most ``cap`` and at least ``floor``. The floor wins if they contradict each other.
  public func delay(beforeRetry retry: Int, random: Double) -> Duration {
    let growth = pow(max(factor, 1), Double(max(retry, 1) - 1))
    let most = min(base.inSeconds * growth, cap.inSeconds)
    let share = random.clampedShare
    let delay =
      switch jitter {
      case .full: most * share
      case .half: most * (0.5 + share / 2)
      case .none: most
      }
    return max(floor, Duration(clamping: delay))
  }
}
