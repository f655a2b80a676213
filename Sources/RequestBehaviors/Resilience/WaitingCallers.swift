/// The callers that wait for the outcome of a shared call.
struct WaitingCallers<Outcome: Sendable>: Sendable {
  private var callers: [Int: (call: Call, waiter: Waiter<Outcome>)] = [:]
  private var count = 0
  /// Whether the deadlines of all have passed, as far as is known.
  private var areLate = false

  var isEmpty: Bool { callers.isEmpty }

  /// The latest of the callers' deadlines; `nil` if one of them has none.
  ///
  /// It is read from their calls each time, because a caller may be a shared call itself, whose deadline moves.
  var deadline: Duration? {
    var latest: Duration?
    for caller in callers.values {
      guard let deadline = caller.call.deadline else { return nil }
      latest = max(latest ?? deadline, deadline)
    }
    return latest
  }

  /// Adds a caller.
  ///
  /// - Returns: Its number, from 1.
  mutating func add(_ call: Call, _ waiter: Waiter<Outcome>) -> Int {
    count += 1
    callers[count] = (call, waiter)
    areLate = false
    return count
  }

  /// Removes a caller.
  ///
  /// - Returns: Its waiter; `nil` if it is not there any more.
  mutating func remove(_ number: Int) -> Waiter<Outcome>? { callers.removeValue(forKey: number)?.waiter }

  /// Removes a caller whose task was cancelled, unless the deadlines of all have passed.
  ///
  /// If they have, the shared call is of no use to any of them. It is cancelled, and they wait for its end as a call of
  /// their own would: a save may have begun, and a stale response may replace the server's.
  ///
  /// - Returns: The waiter of a caller that leaves; `nil` if the caller stays, or is not there any more.
  mutating func leave(_ number: Int) -> Waiter<Outcome>? {
    // Thousands may leave at the same moment, so each asks only until all are known to be late.
    if !areLate { areLate = callers.values.allSatisfy(\.call.isLate) }
    return areLate ? nil : remove(number)
  }

  /// Removes all callers.
  ///
  /// - Returns: Their numbers and waiters, in the order in which they came.
  mutating func removeAll() -> [(number: Int, waiter: Waiter<Outcome>)] {
    defer { callers = [:] }
    return callers.sorted { $0.key < $1.key }.map { ($0.key, $0.value.waiter) }
  }
}
