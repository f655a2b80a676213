/// Runs the operations on a store one after the other, in the order in which they were asked for.
///
/// An operation runs to its end even if its caller is cancelled: a rotated token must not get lost.
final class TokenStoreQueue: Sendable {
  private let last = Locked<Task<Void, Never>?>(nil)

  /// Begins an operation when those before it have ended.
  ///
  /// - Returns: The task that runs it.
  func enqueue(_ operation: @escaping @Sendable () async throws -> Void) -> Task<Void, any Error> {
    last.withLock { last in
      let previous = last
      let task = Task {
        await previous?.value
        try await operation()
      }
      last = Task { _ = await task.result }
      return task
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
