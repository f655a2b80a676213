/// The one timer of a transport: a task that sleeps until the earliest deadline.
///
/// It is reset only for an earlier deadline. A transfer that ends does not stop it, so that a request costs no task.
/// The timer then fires once without effect.
package struct DeadlineTimer {
  private let clock: RequestClock
  private var armed: (deadline: Duration, task: Task<Void, Never>)?

  /// Creates a timer that is not set.
  package init(clock: RequestClock) { self.clock = clock }

  /// Sets the timer, unless it is set for that time or an earlier one.
  ///
  /// - Parameters:
  ///   - deadline: The time to fire, on the clock.
  ///   - fire: Returns the closure that is called once, unless the timer is reset or stopped before. It is evaluated
  ///     only if the timer is set.
  package mutating func arm(_ deadline: Duration, fire: @autoclosure () -> @Sendable () -> Void) {
    if let armed, armed.deadline <= deadline { return }
    armed?.task.cancel()
    let fire = fire()
    // Detached, so that the timer does not inherit the priority and task-local values of the task that sets it.
    let task = Task.detached { [clock] in
      // A clock cannot sleep for an arbitrary time; waking too early is harmless.
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
