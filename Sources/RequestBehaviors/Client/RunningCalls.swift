import Foundation

/// The calls of a client and of its variants that are under way, so that the client can end them.
///
/// Each runs in a task of its own, for the caller's is not the client's to cancel.
final class RunningCalls: Sendable {
  private struct State {
    var isShutDown = false
    var lastID: UInt64 = 0
    var tasks: [UInt64: Task<NetworkResponse, any Error>] = [:]
  }

  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var state = State()

  /// Runs a part of a call until it is done, its caller's task is cancelled, or the client is shut down.
  ///
  /// - Parameters:
  ///   - request: The request of the call, for the error.
  ///   - work: What to do; it is ended by cancelling its task.
  /// - Returns: What the work returns.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/clientShutDown``, `CancellationError` if the
  ///   caller's task is cancelled, or what the work throws.
  func run(
    _ request: NetworkRequest, _ work: @escaping @Sendable () async throws -> NetworkResponse
  ) async throws -> NetworkResponse {
    try Task.checkCancellation()
    guard let (id, task) = begin(work) else { throw NetworkError.clientShutDown(request: request) }
    defer { lock.withLock { _ = state.tasks.removeValue(forKey: id) } }
    do {
      return try await withTaskCancellationHandler {
        try await task.value
      } onCancel: {
        task.cancel()
      }
    } catch is CancellationError where isShutDown && !Task.isCancelled {
      throw NetworkError.clientShutDown(request: request)
    }
  }

  /// Ends what is under way, and refuses what comes later.
  func shutDown() {
    let tasks = lock.withLock {
      state.isShutDown = true
      return state.tasks.values
    }
    for task in tasks { task.cancel() }
  }

  private var isShutDown: Bool { lock.withLock { state.isShutDown } }

  private func begin(
    _ work: @escaping @Sendable () async throws -> NetworkResponse
  ) -> (UInt64, Task<NetworkResponse, any Error>)? {
    lock.withLock {
      guard !state.isShutDown else { return nil }
      state.lastID += 1
      let task = Task { try await work() }
      state.tasks[state.lastID] = task
      return (state.lastID, task)
    }
  }
}
