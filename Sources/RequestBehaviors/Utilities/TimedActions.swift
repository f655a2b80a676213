import Foundation

/// A list of closures with the times to call them; one task waits for all of them.
///
/// The task sleeps until the earliest time. Removing a closure does not change that, so that adding and removing cost
/// no task. The task then wakes up once without effect.
package final class TimedActions: Sendable {
  private let clock: RequestClock
  private let lock = NSLock()
  // All protected by `lock`.
  nonisolated(unsafe) private var actions: [UInt64: (time: Duration, action: @Sendable () -> Void)] = [:]
  nonisolated(unsafe) private var lastID: UInt64 = 0
  // Also protected by `lock`.
  nonisolated(unsafe) private var timer: DeadlineTimer

  /// Creates an empty list of closures.
  package init(_ clock: RequestClock) {
    self.clock = clock
    timer = DeadlineTimer(clock: clock)
  }

  /// Adds a closure.
  ///
  /// - Parameters:
  ///   - duration: The time from now until the call.
  ///   - action: The closure.
  /// - Returns: The identifier for ``remove(_:)``.
  package func add(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> UInt64 {
    let time = clock.now() + max(duration, .zero)
    return lock.withLock {
      lastID += 1
      actions[lastID] = (time, action)
      arm(time)
      return lastID
    }
  }

  /// Removes a closure, unless it has been called.
  package func remove(_ id: UInt64) { lock.withLock { _ = actions.removeValue(forKey: id) } }

  // Called under the lock.
  private func arm(_ time: Duration) { timer.arm(time, fire: { [weak self] in self?.callDue() }) }

  private func callDue() {
    let due = lock.withLock {
      let now = clock.now()
      let due = actions.filter { $0.value.time <= now }
      for id in due.keys { actions[id] = nil }
      timer.stop()
      if let next = actions.values.lazy.map(\.time).min() { arm(next) }
      // Closures with the same time are called in the order in which they were added.
      return due.sorted { ($0.value.time, $0.key) < ($1.value.time, $1.key) }
    }
    for (_, entry) in due { entry.action() }
  }
}
