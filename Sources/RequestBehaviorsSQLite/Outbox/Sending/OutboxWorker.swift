import RequestBehaviors

/// A task that serves entries, one after the other.
final class OutboxWorker: AwaitedWork {
  private struct State {
    var task: Task<Void, Never>?
    var isOver = false
  }

  private let state = Locked(State())

  var isOver: Bool { state.withLock { $0.isOver } }

  /// Begins the work in a task of its own.
  func begin(_ work: @escaping @Sendable () async -> Void) {
    let task = Task {
      await WorkWait.$current.withValue(self) { await work() }
      state.withLock { $0.isOver = true }
    }
    state.withLock { $0.task = task }
  }

  func cancel() { state.withLock { $0.task }?.cancel() }

  /// Waits for the end of the work, also in a task that is cancelled.
  ///
  /// - Returns: False if the work waits for this task, and so cannot end before. A behavior that serves an entry may
  ///   call this, or sign out, and what is told of the sign-out may call it.
  func wait() async -> Bool {
    guard let task = state.withLock({ $0.task }) else { return true }
    // A task that a behavior has created is not cancelled with it, and can wait.
    if WorkWait.current === self, !Task.isCancelled {
      await task.value
      return true
    }
    guard let wait = WorkWait(for: self) else { return false }
    await task.value
    wait.end()
    return true
  }
}
