import Dispatch

/// A queue for work that blocks its thread, such as calls of files and databases.
///
/// The threads of Swift concurrency must not block, so the work runs on dispatch queues. In a simulation, which is one
/// thread, each piece of work is a task of its own; its order among the other tasks is then the seed's too.
package final class BlockingQueue: Sendable {
  fileprivate struct State: Sendable {
    /// The work that waits for a thread, or in a simulation for its task.
    var waiting = Line<@Sendable () -> Void>()
    /// The number of threads that do work of a concurrent queue.
    var threads = 0
  }

  private let label: String
  private let isConcurrent: Bool
  /// The queue for one piece of work at a time.
  private let queue: DispatchQueue
  private let state = Locked(State())

  /// The most pieces of work of a concurrent queue that run at a time.
  ///
  /// Dispatch has 255 threads for serial queues on Linux, and those of other queues need some too.
  package static let width = 64

  /// Creates a queue.
  ///
  /// - Parameters:
  ///   - label: The name that debuggers show.
  ///   - isConcurrent: Whether several pieces of work may run at a time; false by default.
  package init(label: String, isConcurrent: Bool = false) {
    self.label = label
    self.isConcurrent = isConcurrent
    queue = BlockingQueue.makeSerial(label)
  }

  /// Runs the work behind all that is in the queue.
  package func async(_ work: @escaping @Sendable () -> Void) {
    guard !RandomSource.isReplaced else { return simulate(work) }
    guard isConcurrent else { return queue.async(execute: work) }
    let startsThread = state.withLock { state in
      state.waiting.append(work)
      guard state.threads < BlockingQueue.width else { return false }
      state.threads += 1
      return true
    }
    guard startsThread else { return }
    // On Linux a concurrent queue of dispatch shares the threads of Swift concurrency, of which there are as many as
    // processors. A serial queue gets a thread of its own.
    runNext(on: BlockingQueue.makeSerial(label))
  }

  private func runNext(on thread: DispatchQueue) {
    guard let work = state.withLock({ $0.nextWork() }) else { return }
    thread.async { [self] in
      work()
      runNext(on: thread)
    }
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

  private static func makeSerial(_ label: String) -> DispatchQueue {
    DispatchQueue(label: label, autoreleaseFrequency: .workItem)
  }

  private func simulate(_ work: @escaping @Sendable () -> Void) {
    if isConcurrent {
      Task { work() }
      return
    }
    state.withLock { $0.waiting.append(work) }
    // The oldest work runs first, whichever of the tasks that is.
    Task { runOldest() }
  }

  @discardableResult
  private func runOldest() -> Bool {
    guard let work = state.withLock({ $0.waiting.popFirst() }) else { return false }
    work()
    return true
  }
}

extension BlockingQueue.State {
  /// Returns the work that the calling thread does next; `nil` if the thread ends.
  fileprivate mutating func nextWork() -> (@Sendable () -> Void)? {
    if let work = waiting.popFirst() { return work }
    threads -= 1
    return nil
  }
}
