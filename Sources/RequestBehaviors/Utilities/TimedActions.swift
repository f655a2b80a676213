/// A list of closures with the times to call them; one task waits for all of them.
///
/// The task sleeps until the earliest time. Removing a closure does not change that, so that adding and removing cost
/// no task. The task then wakes up once without effect.
package final class TimedActions: Sendable {
  /// The time of a closure.
  ///
  /// Closures with the same time are called in the order in which they were added.
  private struct Time: Comparable {
    let time: Duration
    let id: UInt64

    static func < (first: Time, second: Time) -> Bool { (first.time, first.id) < (second.time, second.id) }
  }

  private struct State {
    var actions: [UInt64: @Sendable () -> Void] = [:]
    /// The times of the closures, and of some that were removed.
    var times = Heap<Time>()
    var lastID: UInt64 = 0
    var timer: DeadlineTimer

    mutating func add(at time: Duration, _ action: @escaping @Sendable () -> Void) {
      lastID += 1
      actions[lastID] = action
      times.insert(Time(time: time, id: lastID))
      // Most closures are removed long before their time, so their times are dropped when they are the most.
      guard times.count > 2 * actions.count + 64 else { return }
      let actions = actions
      times.removeAll { actions[$0.id] == nil }
    }

    /// Removes the closures that are due, and returns them in their order.
    mutating func removeDue(at now: Duration) -> [@Sendable () -> Void] {
      var due: [@Sendable () -> Void] = []
      while let first = times.first, first.time <= now || actions[first.id] == nil {
        _ = times.removeFirst()
        if let action = actions.removeValue(forKey: first.id) { due.append(action) }
      }
      return due
    }
  }

  private let clock: RequestClock
  private let state: Locked<State>

  /// Creates an empty list of closures.
  package init(_ clock: RequestClock) {
    self.clock = clock
    state = Locked(State(timer: DeadlineTimer(clock: clock)))
  }

  /// Adds a closure.
  ///
  /// - Parameters:
  ///   - duration: The time from now until the call.
  ///   - action: The closure.
  /// - Returns: The identifier for ``remove(_:)``.
  package func add(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> UInt64 {
    let time = clock.now() + max(duration, .zero)
    return state.withLock { state in
      state.add(at: time, action)
      arm(&state.timer, at: time)
      return state.lastID
    }
  }

  /// Removes a closure, unless it has been called.
  package func remove(_ id: UInt64) { state.withLock { _ = $0.actions.removeValue(forKey: id) } }

  private func arm(_ timer: inout DeadlineTimer, at time: Duration) {
    timer.arm(time, fire: { [weak self] in self?.callDue() })
  }

  private func callDue() {
    let due = state.withLock { state in
      let due = state.removeDue(at: clock.now())
      state.timer.stop()
      if let next = state.times.first { arm(&state.timer, at: next.time) }
      return due
    }
    for action in due { action() }
  }
}
