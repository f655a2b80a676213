/// Runs the operations on a store one after the other, in the order in which they were asked for.
///
/// An operation runs to its end even if its caller is cancelled: a rotated token must not get lost.
final class TokenStoreQueue: Sendable {
  /// An operation on a store.
  final class Operation: AwaitedWork {
    private struct State {
      var task: Task<Void, any Error>?
      var isOver = false
    }

    private let state = Locked(State())

    fileprivate var task: Task<Void, any Error>? { state.withLock { $0.task } }

    var isOver: Bool { state.withLock { $0.isOver } }

    fileprivate func begin(_ work: @escaping @Sendable () async throws -> Void) {
      let task = Task {
        defer { state.withLock { $0.isOver = true } }
        try await WorkWait.$current.withValue(self) { try await work() }
      }
      state.withLock { $0.task = task }
    }

    /// Waits for the end of the operation, also in a task that is cancelled.
    ///
    /// - Throws: The error of the operation, or ``NetworkError`` if the operation waits for this task: its store uses
    ///   the session.
    func end() async throws {
      guard let wait = WorkWait(for: self) else { throw NetworkError.tokenStoreWaitsForItself() }
      defer { wait.end() }
      try await task?.value
    }
  }

  private let last = Locked<Operation?>(nil)

  /// Begins an operation when those before it have ended.
  func enqueue(_ work: @escaping @Sendable () async throws -> Void) -> Operation {
    last.withLock { last in
      let (operation, previous) = (Operation(), last)
      let wait = previous.flatMap { WorkWait(of: operation, for: $0) }
      operation.begin {
        _ = await previous?.task?.result
        wait?.end()
        try await work()
      }
      last = operation
      return operation
    }
  }
}

extension Task where Success == Void {
  /// Returns when the task has ended, in whatever way, or when the caller's own task is cancelled; this task goes on
  /// then.
  package func endOrCancellation() async {
    let waiter = Waiter<Void>()
    Task<Void, Never> {
      _ = await result
      waiter.settle(.success(()))
    }
    try? await waiter.value()
  }
}
