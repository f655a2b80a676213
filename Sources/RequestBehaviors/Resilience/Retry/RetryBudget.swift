import Foundation

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

  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var counts: [Origin?: RetryCounts] = [:]

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
    change(origin, now) { $0.calls += 1 }
  }

  /// Takes a retry from the budget.
  ///
  /// - Parameters:
  ///   - origin: Where the retry goes.
  ///   - now: The time, on the clock of the call.
  /// - Returns: False if none is left; nothing is taken then.
  public func takeRetry(to origin: Origin?, at now: Duration) -> Bool {
    guard reserve < .max else { return true }
    return change(origin, now) { slot in
      let allowed = Double(reserve) + ratio * Double(slot.allCalls)
      guard Double(slot.allRetries + 1) <= allowed else { return false }
      slot.retries += 1
      return true
    }
  }

  /// Forgets what was counted.
  public func reset() { lock.withLock { counts = [:] } }

  private func change<Result>(
    _ origin: Origin?, _ now: Duration, _ change: (inout RetryCounts) -> Result
  ) -> Result {
    lock.withLock {
      if counts.count > 256 { counts = counts.filter { !$0.value.isEmpty(at: now, window) } }
      var entry = counts.removeValue(forKey: origin) ?? RetryCounts()
      entry.move(to: now, window)
      defer { counts[origin] = entry }
      return change(&entry)
    }
  }
}

/// Calls and retries of a window, counted in ten slots of which the oldest is forgotten at a time.
struct RetryCounts {
  private static let slots = 10
  private var callSlots = [Int](repeating: 0, count: RetryCounts.slots)
  private var retrySlots = [Int](repeating: 0, count: RetryCounts.slots)
  private var current = 0
  private var currentBegan: Duration?

  var allCalls = 0
  var allRetries = 0

  /// The calls of the current slot; setting it counts.
  var calls: Int {
    get { callSlots[current] }
    set {
      allCalls += newValue - callSlots[current]
      callSlots[current] = newValue
    }
  }

  /// The retries of the current slot; setting it counts.
  var retries: Int {
    get { retrySlots[current] }
    set {
      allRetries += newValue - retrySlots[current]
      retrySlots[current] = newValue
    }
  }

  /// Forgets what is older than the window.
  mutating func move(to now: Duration, _ window: Duration) {
    let length = max(window / Self.slots, .nanoseconds(1))
    guard var began = currentBegan else {
      currentBegan = now
      return
    }
    guard now - began < window else {
      self = RetryCounts()
      currentBegan = now
      return
    }
    while now - began >= length {
      began += length
      current = (current + 1) % Self.slots
      calls = 0
      retries = 0
    }
    currentBegan = began
  }

  func isEmpty(at now: Duration, _ window: Duration) -> Bool { currentBegan.map { now - $0 >= window * 2 } ?? true }
}
