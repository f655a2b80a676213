/// Values and the times at which they are due, earliest first.
package struct DueList<Value: Sendable>: Sendable {
  /// The turn of a value; the turns of one time go by their places.
  private struct Turn: Comparable {
    let time: Duration
    let place: UInt64
    let id: UInt64

    static func < (first: Turn, second: Turn) -> Bool { (first.time, first.place) < (second.time, second.place) }
  }

  private var values: [UInt64: Value] = [:]
  /// The turns of the values, and of some that were removed.
  private var turns = Heap<Turn>()

  /// Creates an empty list.
  package init() {}

  /// The number of values.
  package var count: Int { values.count }

  /// The times at which the values are due, earliest first.
  package var times: [Duration] { turns.elements.filter { values[$0.id] != nil }.map(\.time).sorted() }

  /// Adds a value.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - time: The time at which it is due.
  ///   - id: An identifier that no other value has or had.
  ///   - place: The place among the values of the same time; by default the identifier, so that the first that was
  ///     added comes first.
  package mutating func add(_ value: Value, at time: Duration, id: UInt64, place: UInt64? = nil) {
    values[id] = value
    turns.insert(Turn(time: time, place: place ?? id, id: id))
    // Most values are removed long before their time, so their turns are dropped when they are the most.
    guard turns.count > 2 * values.count + 64 else { return }
    let values = values
    turns.removeAll { values[$0.id] == nil }
  }

  /// Removes a value, unless it was removed before.
  package mutating func remove(_ id: UInt64) { values[id] = nil }

  /// Returns the time of the value that is due next.
  package mutating func nextTime() -> Duration? {
    while let next = turns.first, values[next.id] == nil { _ = turns.removeFirst() }
    return turns.first?.time
  }

  /// Removes the value that is due next, if its time is no later than a limit, and returns it.
  package mutating func removeNext(until limit: Duration? = nil) -> (time: Duration, value: Value)? {
    guard let time = nextTime() else { return nil }
    if let limit, time > limit { return nil }
    return turns.removeFirst().flatMap { values.removeValue(forKey: $0.id) }.map { (time, $0) }
  }
}
