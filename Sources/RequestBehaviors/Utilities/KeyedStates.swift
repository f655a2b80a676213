/// A table with a state for each key, such as a count per origin, each under a lock of its own.
///
/// The number of keys is unlimited. So when there are many, the table drops idle states: those that are as good as new.
final class KeyedStates<Key: Hashable & Sendable, State: Sendable>: Sendable {
  private struct Table: Sendable {
    var states: [Key: Locked<State>] = [:]
    /// The key and the state that were asked for last, because most programs send to one origin.
    var latestKey: Key?
    var latest: Locked<State>?
    /// The number of states above which idle ones are dropped.
    var limit = 256

    mutating func forgetIdleStates(_ isIdle: (Key, inout State) -> Bool) {
      (latestKey, latest) = (nil, nil)
      for key in Array(states.keys) {
        // A state with a second reference is in use and about to change.
        guard states[key]?.isOnlyReference == true else { continue }
        if states[key]?.withLock({ isIdle(key, &$0) }) == true { states[key] = nil }
      }
      // Twice the number of states in use, so that a program with many keys does not search all of them each time.
      limit = max(256, states.count * 2)
    }
  }

  private let table = Locked(Table())
  private let makeState: @Sendable () -> State

  /// Creates an empty table.
  ///
  /// - Parameter makeState: Returns the state for a new key.
  init(_ makeState: @escaping @Sendable () -> State) { self.makeState = makeState }

  /// Returns the state of a key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - isIdle: Returns whether a state is as good as new. It is called for all states when there are many, and must
  ///     not use the table.
  /// - Returns: The state; it belongs to the key as long as it is referenced.
  func state(of key: Key, isIdle: (Key, inout State) -> Bool) -> Locked<State> {
    table.withLock { table in
      if let latest = table.latest, table.latestKey == key { return latest }
      let state: Locked<State>
      if let known = table.states[key] {
        state = known
      } else {
        if table.states.count >= table.limit { table.forgetIdleStates(isIdle) }
        state = Locked(makeState())
        table.states[key] = state
      }
      (table.latestKey, table.latest) = (key, state)
      return state
    }
  }

  /// Returns the state of a key; `nil` if the table has no state for it.
  func knownState(of key: Key) -> Locked<State>? { table.withLock { $0.states[key] } }

  /// The keys and their states, some of which may be idle.
  var all: [(key: Key, state: Locked<State>)] { table.withLock { $0.states.map { ($0.key, $0.value) } } }

  /// Removes all states.
  func removeAll() {
    table.withLock { table in
      table.states = [:]
      (table.latestKey, table.latest) = (nil, nil)
    }
  }
}
