/// Keeps retries from multiplying the load on a server that is in trouble: they may be a share of the calls only.
///
/// ```swift
/// let budget = RetryBudget(ratio: 0.1, reserve: 2)
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.retry(budget: budget)])
/// ```
///
/// It counts calls and retries of each origin over the last 10 seconds. A retry is made if there were fewer than a fifth
/// as many as calls, besides a reserve of one, which lets a client with few calls repeat one. When a retry fails, retries
/// do not help, and the reserve comes back with the next success only. So in an outage a client repeats one call and a
/// fifth of its calls.
///
/// Hedges draw from the same budget, but not from the reserve. A budget may be shared by several behaviors and clients.
public final class RetryBudget: Sendable {
  /// The retries and hedges that are allowed for each call; 0.2 by default.
  public let ratio: Double
  /// The retries that are allowed within the window besides; 1 by default.
  public let reserve: Int
  /// The time over which calls and retries are counted; 10 seconds by default.
  public let window: Duration

  private let counts: KeyedStates<Origin?, Counts>

  private struct Counts: Sendable {
    var calls: SlidingCount
    /// The retries and hedges that the calls allow.
    var shared: SlidingCount
    /// The retries of the reserve.
    var reserved: SlidingCount
    /// The retries of the reserve since the latest success.
    var reservedSinceSuccess = 0
    /// Whether a retry failed, and nothing has succeeded since.
    var isFailing = false

    init(window: Duration) {
      calls = SlidingCount(window: window)
      shared = SlidingCount(window: window)
      reserved = SlidingCount(window: window)
    }

    mutating func isIdle(at now: Duration) -> Bool {
      calls.count(at: now) + shared.count(at: now) + reserved.count(at: now) == 0
    }

    mutating func takeShare(_ ratio: Double, at now: Duration) -> Bool {
      guard Double(shared.count(at: now) + 1) <= ratio * Double(calls.count(at: now)) else { return false }
      shared.add(at: now)
      return true
    }

    mutating func takeReserve(_ reserve: Int, at now: Duration) -> Bool {
      let taken = max(reserved.count(at: now), isFailing ? reservedSinceSuccess : 0)
      guard taken < reserve else { return false }
      reserved.add(at: now)
      reservedSinceSuccess += 1
      return true
    }

    mutating func noteSuccess() { (isFailing, reservedSinceSuccess) = (false, 0) }
  }

  /// Creates a budget.
  ///
  /// - Parameters:
  ///   - ratio: The retries and hedges that are allowed for each call.
  ///   - reserve: The retries that are allowed within the window besides.
  ///   - window: The time over which calls and retries are counted.
  public init(ratio: Double = 0.2, reserve: Int = 1, window: Duration = .seconds(10)) {
    self.ratio = ratio
    self.reserve = reserve
    self.window = window
    counts = KeyedStates { Counts(window: window) }
  }

  /// A budget that never refuses.
  public static let unlimited = RetryBudget(ratio: 0, reserve: .max)

  /// Counts a call, which allows a share of a retry.
  ///
  /// - Parameters:
  ///   - origin: Where the call goes.
  ///   - now: The time, on the clock of the call.
  ///   - succeeded: Whether its first attempt succeeded, which gives the reserve back; false by default.
  public func noteCall(to origin: Origin?, at now: Duration, succeeded: Bool = false) {
    guard reserve < .max else { return }
    change(origin, now) { counts in
      counts.calls.add(at: now)
      if succeeded { counts.noteSuccess() }
    }
  }

  /// Notes how a retry ended: after one that fails the reserve comes back with the next success only.
  ///
  /// - Parameters:
  ///   - origin: Where the retry went.
  ///   - now: The time, on the clock of the call.
  ///   - succeeded: Whether it succeeded.
  public func noteRetry(to origin: Origin?, at now: Duration, succeeded: Bool) {
    guard reserve < .max else { return }
    change(origin, now) { counts in
      if succeeded { counts.noteSuccess() } else { counts.isFailing = true }
    }
  }

  /// Takes a retry from the budget.
  ///
  /// - Parameters:
  ///   - origin: Where the retry goes.
  ///   - now: The time, on the clock of the call.
  /// - Returns: False if none is left; nothing is taken then.
  public func takeRetry(to origin: Origin?, at now: Duration) -> Bool {
    guard reserve < .max else { return true }
    return change(origin, now) { $0.takeShare(ratio, at: now) || $0.takeReserve(reserve, at: now) }
  }

  /// Takes a hedge from the budget, for which there is no reserve.
  ///
  /// - Parameters:
  ///   - origin: Where the hedge goes.
  ///   - now: The time, on the clock of the call.
  /// - Returns: False if none is left; nothing is taken then.
  public func takeHedge(to origin: Origin?, at now: Duration) -> Bool {
    guard reserve < .max else { return true }
    return change(origin, now) { $0.takeShare(ratio, at: now) }
  }

  /// Forgets what was counted.
  public func reset() { counts.removeAll() }

  private func change<Result>(_ origin: Origin?, _ now: Duration, _ change: (inout Counts) -> Result) -> Result {
    counts.state(of: origin) { $0.isIdle(at: now) }.withLock(change)
  }
}
