/// Runs blocking work on files outside of Swift's thread pool.
package enum FileQueue {
  private static let queue = BlockingQueue(label: "RequestBehaviors.files", isConcurrent: true)

  /// Runs the work and returns its result.
  package static func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try work() }) }
    }
  }
}
