import Foundation

/// How long to wait before each retry: values in, value out.
///
/// The longest wait doubles with every retry, up to a cap. Which time up to the longest is taken is left to chance, so
/// that clients that failed together do not come back together.
///
/// | retry | default wait |
/// |---|---|
/// | 1 | 50 ms to 0.5 s |
/// | 2 | 50 ms to 1 s |
/// | 3 | 50 ms to 2 s |
/// | 7 and later | 50 ms to 20 s |
public struct Backoff: Sendable, Hashable {
  /// Which part of a wait is left to chance.
  public enum Jitter: Sendable, Hashable {
    /// All of it: the load of many clients is spread best.
    case full
    /// The second half: no client comes back at once.
    case half
    /// Nothing.
    case none
  }

  /// The longest wait before the first retry; 0.5 seconds by default.
  public var base: Duration
  /// By how much the longest wait grows with each retry; 2 by default.
  public var factor: Double
  /// The longest wait before any retry; 20 seconds by default.
  public var cap: Duration
  /// The shortest wait before any retry; 50 milliseconds by default.
  public var floor: Duration
  /// Which part of a wait is left to chance; all of it by default.
  public var jitter: Jitter

  /// Creates a backoff.
  ///
  /// - Parameters:
  ///   - base: The longest wait before the first retry.
  ///   - factor: By how much the longest wait grows with each retry; less than 1 counts as 1.
  ///   - cap: The longest wait before any retry.
  ///   - floor: The shortest wait before any retry.
  ///   - jitter: Which part of a wait is left to chance.
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
  ///   - retry: Which retry follows, from 1.
  ///   - random: A number from 0 to 1, all equally probable.
  /// - Returns: The wait, at least ``floor`` and at most ``cap``, the floor winning where they contradict each other.
  public func delay(beforeRetry retry: Int, random: Double) -> Duration {
    let growth = pow(max(factor, 1), Double(max(retry, 1) - 1))
    let most = min(base.seconds * growth, cap.seconds)
    let share = random.isNaN ? 1 : min(max(random, 0), 1)
    let delay =
      switch jitter {
      case .full: most * share
      case .half: most * (0.5 + share / 2)
      case .none: most
      }
    return max(floor, Duration(clamping: delay))
  }
}
