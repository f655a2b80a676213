/// Work in a task of its own, for whose end others wait.
package final class AwaitedTask: AwaitedWork {
  private struct State {
    var task: Task<Void, any Error>?
    var isOver = false
  }

  private let state = Locked(State())

  package var isOver: Bool { state.withLock { $0.isOver } }

  private var task: Task<Void, any Error>? { state.withLock { $0.task } }

  /// Begins work.
  ///
  /// - Parameters:
  ///   - previous: Other work, which ends before this one goes on.
  ///   - first: What this work does before it waits for the other.
  ///   - work: What it does then.
  package init(
    after previous: AwaitedTask? = nil, first: @escaping @Sendable () async -> Void = {},
    _ work: @escaping @Sendable () async throws -> Void
  ) {
    // Nothing waits for this work yet, so the wait closes no circle.
    let wait = previous.flatMap { WorkWait(of: self, for: $0) }
    let task = Task {
      defer { state.withLock { $0.isOver = true } }
      try await WorkWait.$current.withValue(self) {
        await first()
        _ = await previous?.task?.result
        wait?.end()
        try await work()
      }
    }
    state.withLock { $0.task = task }
  }

  package func cancel() { task?.cancel() }

  /// Waits for the end of the work, also in a task that is cancelled.
  ///
  /// - Parameter isFree: Whether the work is known not to wait for this task.
  /// - Returns: The result of the work; `nil` if the work waits for this task, and so cannot end before.
  package func result(isFree: Bool = false) async -> Result<Void, any Error>? {
    let wait = isFree ? nil : WorkWait(for: self)
    guard isFree || wait != nil else { return nil }
    defer { wait?.end() }
    return await task?.result ?? .success(())
  }
}
