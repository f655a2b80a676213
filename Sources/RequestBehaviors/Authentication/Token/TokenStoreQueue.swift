/// Runs the operations on a store one after the other, in the order in which they were asked for.
///
/// An operation runs to its end even if its caller is cancelled: a rotated token must not get lost.
final class TokenStoreQueue: Sendable {
  /// An operation on a store.
  struct Operation: Sendable {
    fileprivate let task: AwaitedTask

    /// Waits for the end of the operation, also in a task that is cancelled.
    ///
    /// - Throws: The error of the operation, or ``NetworkError`` if the operation waits for this task: its store uses
    ///   the session.
    func value() async throws {
      guard let result = await task.result() else { throw NetworkError.tokenStoreWaitsForItself() }
      try result.get()
    }
  }

  private let last = Locked<AwaitedTask?>(nil)

  /// Whether an operation waits for this task: no later operation can begin before this task goes on.
  var waitsForThisTask: Bool {
    guard let operation = last.withLock({ $0 }) else { return false }
    guard let wait = WorkWait(for: operation) else { return true }
    wait.end()
    return false
  }

  /// Begins an operation when those before it have ended.
  func enqueue(_ work: @escaping @Sendable () async throws -> Void) -> Operation {
    last.withLock { last in
      let task = AwaitedTask(after: last, work)
      last = task
      return Operation(task: task)
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
