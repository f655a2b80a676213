import Foundation

/// A task of its own for work that its caller waits for, and that something else can cancel too, such as a deadline.
///
/// The work begins at once on the caller's thread, where it can (``BegunTasks``). Until it first waits, it costs no
/// switch to another thread: a third of the processor time of a task that is enqueued.
///
/// Copies are one task. It is a value, because an object around its state would be one more allocation.
package struct CancellableTask<Value: Sendable>: Sendable {
  private struct State: @unchecked Sendable {
    var isCancelled = false
    var task: Task<Value, any Error>?
    /// The task before its creator knows it: while it runs on its creator's thread, which holds it.
    ///
    /// Unchecked, because a task may be cancelled from any thread.
    var beginning: UnsafeCurrentTask?
  }

  private let state = Locked(State())

  /// Creates a task without work.
  package init() {}

  /// Whether two values are copies of one.
  package func isSame(as other: CancellableTask) -> Bool { state.isSame(as: other.state) }

  /// Cancels the work, also before it has begun.
  package func cancel() {
    let (task, beginning) = state.withLock { state -> (Task<Value, any Error>?, UnsafeCurrentTask?) in
      guard !state.isCancelled else { return (nil, nil) }
      state.isCancelled = true
      return (state.task, state.beginning)
    }
    // Outside of the lock, because handlers of users run. The creator holds the task until it is in the state.
    if let task { task.cancel() } else { beginning?.cancel() }
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
  ///   - onThisThread: Whether the work begins at once on the caller's thread, where it can.
  ///   - work: The work.
  /// - Returns: The task.
  package func begin(
    onThisThread: Bool, _ work: @escaping @Sendable () async throws -> Value
  ) -> Task<Value, any Error> {
    let task = onThisThread ? beginHere(work) : enqueue(work)
    let isCancelled = state.withLock { state in
      (state.task, state.beginning) = (task, nil)
      return state.isCancelled
    }
    if isCancelled { task.cancel() }
    return task
  }

  private func beginHere(_ work: @escaping @Sendable () async throws -> Value) -> Task<Value, any Error> {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *), BegunTasks.obstacle == nil else {
      return enqueue(work)
    }
    return BegunTasks.nest {
      Task.immediate(executorPreference: PreferredExecutor.current) {
        // Work that computes before it first waits can be cancelled too.
        withUnsafeCurrentTask { current in
          let isCancelled = self.state.withLock { state in
            if state.task == nil { state.beginning = current }
            return state.isCancelled
          }
          if isCancelled { current?.cancel() }
        }
        return try await work()
      }
    }
  }

  private func enqueue(_ work: @escaping @Sendable () async throws -> Value) -> Task<Value, any Error> {
    let begun = { @Sendable () async throws -> Value in
      // The task may run before its creator has cancelled it, and even end.
      if self.state.withLock({ $0.isCancelled }) { withUnsafeCurrentTask { $0?.cancel() } }
      return try await work()
    }
    if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
      return Task(executorPreference: PreferredExecutor.current, operation: begun)
    }
    return Task(operation: begun)
  }
}

/// The tasks that have begun within each other on a thread, and have not waited yet.
package enum BegunTasks {
  /// The number of them at which the next one begins on another thread; each takes some kilobytes of stack.
  private static let limit = 16

  // A value of the thread, because the stack is one.
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    return key
  }()

  private static var depth: Int { Int(bitPattern: pthread_getspecific(key)) }

  /// The reasons why a task cannot begin on this thread.
  package enum Obstacle: Sendable {
    /// The system has no such tasks.
    case system
    /// A simulation decides when each task begins.
    case simulation
    /// It would be within too many others.
    case depth
  }

  /// The reason why a task cannot begin on this thread now, but begins on another one; `nil` if it can.
  package static var obstacle: Obstacle? {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return .system }
    if RandomSource.isReplaced { return .simulation }
    return depth < limit ? nil : .depth
  }

  /// Counts one more while a closure begins it.
  fileprivate static func nest<Result>(_ begin: () -> Result) -> Result {
    let depth = depth
    pthread_setspecific(key, UnsafeRawPointer(bitPattern: depth + 1))
    defer { pthread_setspecific(key, UnsafeRawPointer(bitPattern: depth)) }
    return begin()
  }
}
