import Dispatch

/// A queue for work that blocks its thread, such as calls of files and databases.
///
/// The threads of Swift concurrency must not block, so the work runs on a dispatch queue. In a simulation, which is one
/// thread, each piece of work is a task of its own; its order among the other tasks is then the seed's too.
package final class BlockingQueue: Sendable {
  private let queue: DispatchQueue
  private let isConcurrent: Bool
  /// The work that waits in a simulation, oldest first.
  private let waiting = Locked<[@Sendable () -> Void]>([])

  /// Creates a queue.
  ///
  /// - Parameters:
  ///   - label: The name that debuggers show.
  ///   - isConcurrent: Whether several pieces of work may run at a time; false by default.
  package init(label: String, isConcurrent: Bool = false) {
    self.isConcurrent = isConcurrent
    queue = DispatchQueue(label: label, attributes: isConcurrent ? .concurrent : [], autoreleaseFrequency: .workItem)
  }

  /// Runs the work behind all that is in the queue.
  package func async(_ work: @escaping @Sendable () -> Void) {
    guard RandomSource.isReplaced else { return queue.async(execute: work) }
    if isConcurrent {
      Task { work() }
      return
    }
    waiting.withLock { $0.append(work) }
    // The oldest work runs first, whichever of the tasks that is.
    Task { runOldest() }
  }

  /// Runs the work behind all that is in the queue, and waits for it.
  ///
  /// - Parameter work: The work.
  /// - Returns: Its result.
  /// - Throws: Its error.
  package func sync<Value>(_ work: () throws -> Value) rethrows -> Value {
    guard RandomSource.isReplaced else { return try queue.sync(execute: work) }
    while runOldest() {}
    return try work()
  }

  /// Runs work on a thread that may block, in no order.
  package static func background(_ work: @escaping @Sendable () -> Void) { shared.async(work) }

  private static let shared = BlockingQueue(label: "RequestBehaviors.background", isConcurrent: true)

  @discardableResult
  private func runOldest() -> Bool {
    guard let work = waiting.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return false }
    work()
    return true
  }
}
