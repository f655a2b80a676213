import RequestBehaviors

/// The tasks that sleep on a clock of a test, in the order in which they wake.
struct Sleepers: Sendable {
  struct Sleeper: Sendable {
    /// The time at which it wakes.
    let deadline: Duration
    let waiter: Waiter<Void>
  }

  /// A turn to wake; sleepers of one time wake in the order of their places.
  private struct Turn: Comparable {
    let deadline: Duration
    let place: UInt64
    let id: UInt64

    static func < (first: Turn, second: Turn) -> Bool {
      (first.deadline, first.place) < (second.deadline, second.place)
    }
  }

  private var sleepers: [UInt64: Sleeper] = [:]
  /// The turns of the sleepers, and of some that have left.
  private var turns = Heap<Turn>()

  var count: Int { sleepers.count }

  /// The times at which the sleepers wake, earliest first.
  var deadlines: [Duration] { sleepers.values.map(\.deadline).sorted() }

  /// Adds a sleeper under an identifier of its own.
  mutating func add(_ sleeper: Sleeper, id: UInt64, place: UInt64) {
    sleepers[id] = sleeper
    turns.insert(Turn(deadline: sleeper.deadline, place: place, id: id))
    // Most timeouts are cancelled long before their time, so their turns are dropped when they are the most.
    guard turns.count > 2 * sleepers.count + 64 else { return }
    let sleepers = sleepers
    turns.removeAll { sleepers[$0.id] == nil }
  }

  /// Removes a sleeper, unless it has woken.
  mutating func remove(_ id: UInt64) { sleepers[id] = nil }

  /// Returns the time of the sleeper that wakes next.
  mutating func nextDeadline() -> Duration? {
    while let next = turns.first, sleepers[next.id] == nil { _ = turns.removeFirst() }
    return turns.first?.deadline
  }

  /// Removes the sleeper that wakes next, if its time is no later than a limit, and returns it.
  mutating func removeNext(until limit: Duration?) -> Sleeper? {
    guard let deadline = nextDeadline() else { return nil }
    if let limit, deadline > limit { return nil }
    return turns.removeFirst().flatMap { sleepers.removeValue(forKey: $0.id) }
  }
}
