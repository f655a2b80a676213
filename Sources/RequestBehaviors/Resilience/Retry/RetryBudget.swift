/// Keeps retries from multiplying the load on a server that is in trouble: they may be a share of the calls only.
///
/// ```swift
/// let budget = RetryBudget(ratio: 0.1, reserve: 2)
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.retry(budget: budget)])
/// ```
///
/// It counts calls and retries of each origin over the last 10 seconds. A retry is made if there were fewer than a fifth
/// as many as calls, besides a reserve that lets a client with few calls repeat one. Retries and hedges draw from the
/// same budget. A budget may be shared by several behaviors and clients.
public final class RetryBudget: Sendable {
  /// The retries that are allowed for each call; 0.2 by default.
  public let ratio: Double
  /// The retries that are allowed within the window besides; 3 by default.
  public let reserve: Int
  /// The time over which calls and retries are counted; 10 seconds by default.
  public let window: Duration

  private let counts: KeyedStates<Origin?, Counts>

  private struct Counts: Sendable {
    var calls: SlidingCount
    var retries: SlidingCount
  }

  /// Creates a budget.
  ///
  /// - Parameters:
  ///   - ratio: The retries that are allowed for each call.
  ///   - reserve: The retries that are allowed within the window besides.
  ///   - window: The time over which calls and retries are counted.
  public init(ratio: Double = 0.2, reserve: Int = 3, window: Duration = .seconds(10)) {
    self.ratio = ratio
    self.reserve = reserve
    self.window = window
    counts = KeyedStates { Counts(calls: SlidingCount(window: window), retries: SlidingCount(window: window)) }
  }

  /// A budget that never refuses.
  public static let unlimited = RetryBudget(ratio: 0, reserve: .max)

  /// Counts a call, which allows a share of a retry.
  ///
  /// - Parameters:
  ///   - origin: Where the call goes.
  ///   - now: The time, on the clock of the call.
  public func noteCall(to origin: Origin?, at now: Duration) {
    guard reserve < .max else { return }
    change(origin, now) { $0.calls.add(at: now) }
  }

  /// Takes a retry from the budget.
  ///
  /// - Parameters:
  ///   - origin: Where the retry goes.
  ///   - now: The time, on the clock of the call.
  /// - Returns: False if none is left; nothing is taken then.
  public func takeRetry(to origin: Origin?, at now: Duration) -> Bool {
    guard reserve < .max else { return true }
    return change(origin, now) { counts in
      let allowed = Double(reserve) + ratio * Double(counts.calls.count(at: now))
      guard Double(counts.retries.count(at: now) + 1) <= allowed else { return false }
      counts.retries.add(at: now)
      return true
    }
  }

  /// Forgets what was counted.
  public func reset() { counts.removeAll() }

  private func change<Result>(_ origin: Origin?, _ now: Duration, _ change: (inout Counts) -> Result) -> Result {
    counts.state(of: origin) { $0.calls.count(at: now) + $0.retries.count(at: now) == 0 }.withLock(change)
  }
}
