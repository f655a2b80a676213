/// Runs blocking work on files outside of Swift's thread pool.
package enum FileQueue {
  private static let queue = BlockingQueue(label: "RequestBehaviors.files", isConcurrent: true)

  /// Begins work.
  ///
  /// - Parameters:
  ///   - work: The work.
  ///   - completion: Called with its result.
  package static func begin<Value: Sendable>(
    _ work: @escaping @Sendable () throws -> Value,
    completion: @escaping @Sendable (Result<Value, any Error>) -> Void
  ) {
    queue.async { completion(Result { try work() }) }
  }

  /// Runs work to its end, also in a task that is cancelled, and returns its result.
  package static func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      begin(work) { continuation.resume(with: $0) }
    }
  }

  /// Runs work that only reads, and returns its result.
  ///
  /// A disk may not respond for a long time, so a cancelled caller does not wait for it.
  ///
  /// - Throws: The error of the work; `CancellationError` as soon as the task is cancelled.
  package static func read<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    let waiter = Waiter<Value>()
    begin(work) { waiter.settle($0) }
    return try await waiter.value()
  }
}
