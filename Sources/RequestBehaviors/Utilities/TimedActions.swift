/// A list of closures with the times to call them; one task waits for all of them.
///
/// The task sleeps until the earliest time. Removing a closure does not change that, so that adding and removing cost
/// no task. The task then wakes up once without effect.
package final class TimedActions: Sendable {
  private struct State {
    var actions = DueList<@Sendable () -> Void>()
    var lastID: UInt64 = 0
    var timer: DeadlineTimer
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
      state.lastID += 1
      state.actions.add(action, at: time, id: state.lastID)
      arm(&state.timer, at: time)
      return state.lastID
    }
  }

  /// Removes a closure, unless it has been called.
  package func remove(_ id: UInt64) { state.withLock { $0.actions.remove(id) } }

  private func arm(_ timer: inout DeadlineTimer, at time: Duration) {
    timer.arm(time, fire: { [weak self] in self?.callDue() })
  }

  private func callDue() {
    let due = state.withLock { state in
      let now = clock.now()
      var due: [@Sendable () -> Void] = []
      while let next = state.actions.removeNext(until: now) { due.append(next.value) }
      state.timer.stop()
      if let next = state.actions.nextTime() { arm(&state.timer, at: next) }
      return due
    }
    for action in due { action() }
  }
}
