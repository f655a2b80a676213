/// Keeps retries from multiplying the load on a failing server: it allows them for a share of the calls only.
///
/// ```swift
/// let budget = RetryBudget(ratio: 0.1, reserve: 2)
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.retry(budget: budget)])
/// ```
///
/// It counts the calls and retries of each origin over the last 10 seconds (``window``). Retries may be up to a fifth
/// of the calls (``ratio``), rounded down: five calls have one retry. One more (``reserve``) lets a client with few
/// calls repeat one of them once. With `reserve: 3` it may make three retries, of one call or of several.
///
/// A retry that was taken from the reserve is available again after 10 seconds. If a retry has failed, all that were
/// taken from the reserve since the latest success are available again with the next success only. So during an outage
/// a client repeats a fifth of its calls and, once, as many more as the reserve has. A response is a success unless the
/// table of ``CircuitBreakerBehavior`` lists it: a 404 is one, a 429 is not.
///
/// Of more than 256 origins, one without a call in the window may be forgotten; its reserve is then available again.
///
/// Hedges draw from the same budget, but not from the reserve. Several behaviors and clients may share a budget.
public final class RetryBudget: Sendable {
  /// The retries and hedges that are allowed for each call; 0.2 by default.
  public let ratio: Double
  /// The retries that are allowed within the window in addition; 1 by default.
  public let reserve: Int
  /// The time over which calls and retries are counted; 10 seconds by default.
  public let window: Duration

  private let counts: KeyedStates<Origin?, Counts>

  private struct Counts: Sendable {
    var calls: SlidingCount
    /// The retries and hedges that were taken from the share of the calls.
    var shared: SlidingCount
    /// The retries that were taken from the reserve.
    var reserved: SlidingCount
    /// The retries that were taken from the reserve since the latest success.
    var reservedSinceSuccess = 0
    /// Whether a retry has failed since the latest success.
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
  ///   - reserve: The retries that are allowed within the window in addition.
  ///   - window: The time over which calls and retries are counted.
  public init(ratio: Double = 0.2, reserve: Int = 1, window: Duration = .seconds(10)) {
    self.ratio = ratio
    self.reserve = reserve
    self.window = window
    counts = KeyedStates { Counts(window: window) }
  }

  /// A budget that never refuses.
  public static let unlimited = RetryBudget(ratio: 0, reserve: .max)

  /// Counts a call, which adds its share to the allowed retries.
  ///
  /// - Parameters:
  ///   - origin: Where the call goes.
  ///   - now: The time, on the clock of the call.
  ///   - succeeded: Whether its first attempt succeeded, which restores the reserve; false by default.
  public func noteCall(to origin: Origin?, at now: Duration, succeeded: Bool = false) {
    guard reserve < .max else { return }
    change(origin, now) { counts in
      counts.calls.add(at: now)
      if succeeded { counts.noteSuccess() }
    }
  }

  /// Records how a retry ended.
  ///
  /// After a failed one, the reserve comes back with the next success only.
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
  /// - Returns: Whether the budget had one left. If false, nothing is taken.
  public func takeRetry(to origin: Origin?, at now: Duration) -> Bool {
    guard reserve < .max else { return true }
    return change(origin, now) { $0.takeShare(ratio, at: now) || $0.takeReserve(reserve, at: now) }
  }

  /// Takes a hedge from the budget.
  ///
  /// It cannot use the reserve.
  ///
  /// - Parameters:
  ///   - origin: Where the hedge goes.
  ///   - now: The time, on the clock of the call.
  /// - Returns: Whether the budget had one left. If false, nothing is taken.
  public func takeHedge(to origin: Origin?, at now: Duration) -> Bool {
    guard reserve < .max else { return true }
    return change(origin, now) { $0.takeShare(ratio, at: now) }
  }

  /// Clears all counts.
  public func reset() { counts.removeAll() }

  private func change<Result>(_ origin: Origin?, _ now: Duration, _ change: (inout Counts) -> Result) -> Result {
    counts.state(of: origin) { $1.isIdle(at: now) }.withLock(change)
  }
}
