import Foundation

/// Closures that are to be called at certain times, for which one task waits.
///
/// The task sleeps until the earliest time. One that is removed leaves it alone, so that setting and removing costs no
/// task; it then wakes up once for nothing.
package final class TimedActions: Sendable {
  private let clock: RequestClock
  private let lock = NSLock()
  // All protected by `lock`.
  nonisolated(unsafe) private var actions: [UInt64: (time: Duration, action: @Sendable () -> Void)] = [:]
  nonisolated(unsafe) private var lastID: UInt64 = 0
  // Protected by `lock` too.
  nonisolated(unsafe) private var timer: DeadlineTimer

  /// Creates an empty list of closures.
  package init(_ clock: RequestClock) {
    self.clock = clock
    timer = DeadlineTimer(clock: clock)
  }

  /// Adds a closure.
  ///
  /// - Parameters:
  ///   - duration: When to call it, from now.
  ///   - action: The closure.
  /// - Returns: What removes it.
  package func add(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> UInt64 {
    let time = clock.now() + max(duration, .zero)
    return lock.withLock {
      lastID += 1
      actions[lastID] = (time, action)
      arm(time)
      return lastID
    }
  }

  /// Removes a closure, unless it was called.
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
      // Those of one time in the order in which they were added.
      return due.sorted { ($0.value.time, $0.key) < ($1.value.time, $1.key) }
    }
    for (_, entry) in due { entry.action() }
  }
}
