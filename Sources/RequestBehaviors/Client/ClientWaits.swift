import Foundation

/// The waits of the calls of a client and its variants, so that shutting the client down ends them.
///
/// Only a wait has a task of its own. A call that does not wait runs in its caller's task, which the client must not
/// cancel, and needs no other.
final class ClientWaits: Sendable {
  private struct State {
    var isShutDown = false
    var lastID: UInt64 = 0
    var endings: [UInt64: @Sendable () -> Void] = [:]
  }

  /// Tells the behaviors of the client and its variants that an owner has ended.
  let scopeEndings = ScopeEndings()

  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var state = State()

  /// Whether the client was shut down.
  var isShutDown: Bool { lock.withLock { state.isShutDown } }

  /// Waits until the work is done, the caller's task is cancelled, or the client is shut down.
  ///
  /// - Parameter work: The work to wait for; cancelling its task ends it.
  /// - Returns: The result of the work.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/clientShutDown``, or the error of the work.
  func run<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
    try Task.checkCancellation()
    let task = Task { try await work() }
    guard let id = add({ task.cancel() }) else {
      task.cancel()
      throw NetworkError.clientShutDown()
    }
    // A cancellation that the caller did not ask for comes from the shutdown.
    defer { remove(id) }
    do {
      return try await withTaskCancellationHandler {
        try await task.value
      } onCancel: {
        task.cancel()
      }
    } catch is CancellationError where isShutDown && !Task.isCancelled {
      throw NetworkError.clientShutDown()
    }
  }

  /// Starts work that may go on without a waiter, in a task that ends when the client is shut down.
  ///
  /// - Parameters:
  ///   - completion: Gets the outcome, in the task.
  ///   - work: The work.
  /// - Returns: The task; once the client is shut down, one that fails with the code `clientShutDown`.
  func start<Value: Sendable>(
    completion: @escaping @Sendable (Result<Value, any Error>) -> Void,
    _ work: @escaping @Sendable () async throws -> Value
  ) -> Task<Value, any Error> {
    // The entry comes before the task, which removes it and may be quick.
    let id = lock.withLock {
      state.lastID += 1
      state.endings[state.lastID] = {}
      return state.lastID
    }
    let task = Task {
      defer { remove(id) }
      let outcome = await self.outcome(of: work)
      completion(outcome)
      return try outcome.get()
    }
    let isTooLate = lock.withLock {
      // The task may have ended by now and removed its entry.
      if state.endings[id] != nil { state.endings[id] = { task.cancel() } }
      return state.isShutDown
    }
    if isTooLate { task.cancel() }
    return task
  }

  private func outcome<Value: Sendable>(
    of work: @Sendable () async throws -> Value
  ) async -> Result<Value, any Error> {
    if isShutDown { return .failure(NetworkError.clientShutDown()) }
    do {
      return .success(try await work())
    } catch {
      return .failure(error is CancellationError && isShutDown ? NetworkError.clientShutDown() : error)
    }
  }

  /// Ends the waits under way, and refuses later ones.
  func shutDown() {
    let endings = lock.withLock {
      state.isShutDown = true
      // In the order in which they began.
      return state.endings.sorted { $0.key < $1.key }
    }
    for (_, end) in endings { end() }
  }

  /// Adds a closure to run when the client is shut down; returns `nil` if it has been.
  func add(_ ending: @escaping @Sendable () -> Void) -> UInt64? {
    lock.withLock {
      guard !state.isShutDown else { return nil }
      state.lastID += 1
      state.endings[state.lastID] = ending
      return state.lastID
    }
  }

  /// Removes the closure of a wait that has ended by itself.
  func remove(_ id: UInt64) { lock.withLock { _ = state.endings.removeValue(forKey: id) } }
}

extension RequestClock {
  /// Returns the clock with sleeps that end when a client is shut down.
  func ending(with waits: ClientWaits) -> RequestClock {
    sleeping { duration in try await waits.run { try await sleep(for: duration) } }
  }
}

extension Call {
  /// Waits until the work is done, the task is cancelled, or the client is shut down.
  ///
  /// A behavior wraps its waits in this call, so that ``NetworkClient/shutdown()`` can end them. Sleeps on ``clock``
  /// and calls of ``Next`` need no wrapping.
  ///
  /// ```swift
  /// func modify(_ request: inout NetworkRequest) async throws {
  ///   try await request.call.wait { await gate.opened() }
  /// }
  /// ```
  ///
  /// - Parameter work: The work to wait for. It runs in a task of its own, which is cancelled to end it; a call of
  ///   `next` does not belong here.
  /// - Returns: The result of the work.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/clientShutDown``, `CancellationError` if the
  ///   task is cancelled, or the error of the work.
  public func wait<Value: Sendable>(
    for work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    guard let waits else { return try await work() }
    return try await waits.run(work)
  }
}
