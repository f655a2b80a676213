/// The one timer of a transport: a task that sleeps until the earliest deadline.
///
/// It is set anew only for an earlier deadline. A transfer that ends leaves it alone, so that a request costs no task;
/// the timer then fires once for nothing.
package struct DeadlineTimer {
  private let clock: RequestClock
  private var armed: (deadline: Duration, task: Task<Void, Never>)?

  /// Creates a timer that is not set.
  package init(clock: RequestClock) { self.clock = clock }

  /// Sets the timer, unless it is set for that time or an earlier one.
  ///
  /// - Parameters:
  ///   - deadline: When to fire, on the clock.
  ///   - fire: Called once, unless the timer is set anew or stopped before; made only if it is set.
  package mutating func arm(_ deadline: Duration, fire: @autoclosure () -> @Sendable () -> Void) {
    if let armed, armed.deadline <= deadline { return }
    armed?.task.cancel()
    let fire = fire()
    // Not of the task that happens to set it, whose priority and task-local values are of no concern to others.
    let task = Task.detached { [clock] in
      // A clock cannot sleep for any length of time; to wake up too early does no harm.
      let remaining = min(deadline - clock.now(), .seconds(86_400))
      guard (try? await clock.sleep(for: remaining)) != nil else { return }
      fire()
    }
    armed = (deadline, task)
  }

  /// Stops the timer; it can be set again.
  package mutating func stop() {
    armed?.task.cancel()
    armed = nil
  }
}
