/// A state for each key, such as what was counted for an origin, each under a lock of its own.
///
/// A program may have any number of keys. So states that are as good as new are forgotten when there are many.
final class KeyedStates<Key: Hashable & Sendable, State: Sendable>: Sendable {
  private struct Table: Sendable {
    var states: [Key: Locked<State>] = [:]
    /// How many states there may be before idle ones are forgotten.
    var limit = 256

    mutating func forgetIdleStates(_ isIdle: (inout State) -> Bool) {
      for key in Array(states.keys) {
        // Whoever holds a state is about to change it.
        if states[key]?.isOnlyReference == true, states[key]?.withLock(isIdle) == true { states[key] = nil }
      }
      // Twice as many as are in use, so that a program of many keys does not look at all of them each time.
      limit = max(256, states.count * 2)
    }
  }

  private let table = Locked(Table())
  private let makeState: @Sendable () -> State

  /// Creates a table without a state.
  ///
  /// - Parameter makeState: Makes the state of a key that has none.
  init(_ makeState: @escaping @Sendable () -> State) { self.makeState = makeState }

  /// Returns the state of a key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - isIdle: Returns whether a state is as good as new. It is asked of all when there are many, and must not use the
  ///     table.
  /// - Returns: The state, which is the key's as long as somebody holds it.
  func state(of key: Key, isIdle: (inout State) -> Bool) -> Locked<State> {
    table.withLock { table in
      if let state = table.states[key] { return state }
      if table.states.count >= table.limit { table.forgetIdleStates(isIdle) }
      let state = Locked(makeState())
      table.states[key] = state
      return state
    }
  }

  /// Returns the state of a key; `nil` if it is as good as new.
  func knownState(of key: Key) -> Locked<State>? { table.withLock { $0.states[key] } }

  /// The keys and their states, of which some may be as good as new.
  var all: [(key: Key, state: Locked<State>)] { table.withLock { $0.states.map { ($0.key, $0.value) } } }

  /// Forgets all states.
  func removeAll() { table.withLock { $0.states = [:] } }
}
