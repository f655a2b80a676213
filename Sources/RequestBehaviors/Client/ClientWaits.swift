import Foundation

/// The waits of a client's calls and of its variants', so that shutting the client down ends them.
///
/// Only a wait has a task of its own. A call that does not wait runs in its caller's task, which is not the client's to
/// cancel, and pays for no other.
final class ClientWaits: Sendable {
  private struct State {
    var isShutDown = false
    var lastID: UInt64 = 0
    var endings: [UInt64: @Sendable () -> Void] = [:]
  }

  /// Tells the behaviors of the client and of its variants that a scope has ended.
  let scopeEndings = ScopeEndings()

  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var state = State()

  /// Whether the client was shut down.
  var isShutDown: Bool { lock.withLock { state.isShutDown } }

  /// Waits until the work is done, the caller's task is cancelled, or the client is shut down.
  ///
  /// - Parameter work: What to wait for; it is ended by cancelling its task.
  /// - Returns: What the work returns.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/clientShutDown``, or what the work throws.
  func run<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
    try Task.checkCancellation()
    let task = Task { try await work() }
    guard let id = add({ task.cancel() }) else {
      task.cancel()
      throw NetworkError.clientShutDown()
    }
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

  /// Starts work that nobody need wait for, in a task that ends when the client is shut down.
  ///
  /// - Parameters:
  ///   - completion: Gets the outcome, in the task.
  ///   - work: What to do.
  /// - Returns: The task; once the client is shut down, one that fails with the code `clientShutDown`.
  func start<Value: Sendable>(
    completion: @escaping @Sendable (Result<Value, any Error>) -> Void,
    _ work: @escaping @Sendable () async throws -> Value
  ) -> Task<Value, any Error> {
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
      // The task may have ended, and removed its entry, by now.
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

  /// Adds what ends something when the client is shut down; `nil` if it was.
  func add(_ ending: @escaping @Sendable () -> Void) -> UInt64? {
    lock.withLock {
      guard !state.isShutDown else { return nil }
      state.lastID += 1
      state.endings[state.lastID] = ending
      return state.lastID
    }
  }

  /// Removes what has ended by itself.
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
  /// A behavior puts its waits in here, so that ``NetworkClient/shutdown()`` can end them. Sleeps on ``clock`` and
  /// whatever ``Next`` does need no wrapping.
  ///
  /// ```swift
  /// func modify(_ request: inout NetworkRequest) async throws {
  ///   try await request.call.wait { await gate.opened() }
  /// }
  /// ```
  ///
  /// - Parameter work: What to wait for. It runs in a task of its own, which is cancelled to end it; a call of `next`
  ///   does not belong here.
  /// - Returns: What the work returns.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/clientShutDown``, `CancellationError` if the
  ///   task is cancelled, or what the work throws.
  public func wait<Value: Sendable>(
    for work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    guard let waits else { return try await work() }
    return try await waits.run(work)
  }
}
