import Foundation

/// Runs the operations on a store one after the other, in the order in which they were asked for.
///
/// An operation runs to its end even if its caller is cancelled: a rotated token must not get lost.
final class TokenStoreQueue: Sendable {
  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var last: Task<Void, Never>?

  /// Begins an operation when those before it have ended.
  ///
  /// - Returns: The task that runs it.
  func enqueue(_ operation: @escaping @Sendable () async throws -> Void) -> Task<Void, any Error> {
    lock.withLock {
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
  func endOrCancellation() async {
    let latch = Latch()
    Task<Void, Never> {
      _ = await result
      latch.open()
    }
    await withTaskCancellationHandler {
      await latch.wait()
    } onCancel: {
      latch.open()
    }
  }
}

/// Holds one waiter until it is open.
private final class Latch: Sendable {
  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var isOpen = false
  nonisolated(unsafe) private var waiter: CheckedContinuation<Void, Never>?

  func wait() async {
    await withCheckedContinuation { continuation in
      let passes = lock.withLock {
        if !isOpen { waiter = continuation }
        return isOpen
      }
      if passes { continuation.resume() }
    }
  }

  func open() {
    let waiter = lock.withLock {
      defer { self.waiter = nil }
      isOpen = true
      return self.waiter
    }
    waiter?.resume()
  }
}
