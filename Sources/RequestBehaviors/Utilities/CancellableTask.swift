/// A task of its own for work that its caller waits for, and that something else can cancel too, such as a deadline.
///
/// The work begins at once on the caller's thread, where the system has such tasks. Until it first waits, it costs no
/// switch to another thread: a third of the processor time of a task that is enqueued.
package final class CancellableTask<Value: Sendable>: Sendable {
  private struct State: @unchecked Sendable {
    var task: Task<Value, any Error>?
    /// The task before its creator knows it: while it runs on its creator's thread, which holds it.
    ///
    /// Unchecked, because a task may be cancelled from any thread, and the lock keeps it from one that is gone.
    var beginning: UnsafeCurrentTask?
  }

  private let state = Locked(State())
  // Not under the other lock: what runs when the work is cancelled may cancel it once more.
  private let isCancelled = Locked(false)

  /// Creates a task without work.
  package init() {}

  /// Cancels the work, also before it has begun.
  package func cancel() {
    let isFirst = isCancelled.withLock { isCancelled in
      defer { isCancelled = true }
      return !isCancelled
    }
    guard isFirst else { return }
    let task = state.withLock { state in
      state.beginning?.cancel()
      return state.task
    }
    task?.cancel()
  }

  /// Runs the work in the task, and waits for its end; may be called once.
  ///
  /// - Parameter work: The work; it is cancelled with the caller's task.
  /// - Returns: The result of the work.
  /// - Throws: The error of the work.
  package func run(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
    try await withTaskCancellationHandler {
      try await begin(onThisThread: true, work).value
    } onCancel: {
      cancel()
    }
  }

  /// Begins the work, for which nothing waits yet; may be called once.
  ///
  /// - Parameters:
  ///   - onThisThread: Whether the work begins at once on the caller's thread, where the system has such tasks.
  ///   - work: The work.
  /// - Returns: The task.
  package func begin(
    onThisThread: Bool, _ work: @escaping @Sendable () async throws -> Value
  ) -> Task<Value, any Error> {
    let task = onThisThread ? make(work) : Task { try await work() }
    state.withLock { ($0.task, $0.beginning) = (task, nil) }
    if isCancelled.withLock({ $0 }) { task.cancel() }
    return task
  }

  private func make(_ work: @escaping @Sendable () async throws -> Value) -> Task<Value, any Error> {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return Task { try await work() } }
    return Task.immediate {
      // Work that computes before it first waits can be cancelled too.
      withUnsafeCurrentTask { current in
        self.state.withLock { if $0.task == nil { $0.beginning = current } }
        if self.isCancelled.withLock({ $0 }) { current?.cancel() }
      }
      return try await work()
    }
  }
}
