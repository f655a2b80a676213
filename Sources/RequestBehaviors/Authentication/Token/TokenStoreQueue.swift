import Foundation

/// Runs the operations on a store one after the other, in the order in which they were asked for.
///
/// An operation runs to its end although who asked for it is cancelled: a rotated token must not get lost.
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
