import RequestBehaviors

/// The result of work that ends at once when the work ends, it is cancelled, or another task ends it.
///
/// The first of these counts. Work that does not notice its cancellation is left behind.
final class PendingResult<Value: Sendable>: Sendable {
  private struct State {
    var continuation: CheckedContinuation<Value, any Error>?
    var task: Task<Void, Never>?
    var outcome: Result<Value, any Error>?
  }

  private let state = Locked(State())
  private let dispose: @Sendable (Value) -> Void

  /// Creates a result that has not ended.
  ///
  /// - Parameter dispose: Gets a value that came too late; by default the value is dropped.
  init(dispose: @escaping @Sendable (Value) -> Void = { _ in }) { self.dispose = dispose }

  /// Returns the result of the work, unless it is ended before.
  func run(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { begin($0, work) }
    } onCancel: {
      end(.failure(CancellationError()))
    }
  }

  /// Ends the result unless it has already ended.
  func end(_ outcome: Result<Value, any Error>) {
    let ended = state.withLock { state -> State? in
      guard state.outcome == nil else { return nil }
      let before = state
      state = State(outcome: outcome)
      return before
    }
    guard let ended else {
      if case .success(let value) = outcome { dispose(value) }
      return
    }
    ended.task?.cancel()
    ended.continuation?.resume(with: outcome)
  }

  private func begin(
    _ continuation: CheckedContinuation<Value, any Error>,
    _ work: @escaping @Sendable () async throws -> Value
  ) {
    let outcome = state.withLock { state in
      if state.outcome == nil { state.continuation = continuation }
      return state.outcome
    }
    // It was ended before it began, for example by a cancellation.
    if let outcome { return continuation.resume(with: outcome) }
    let task = Task {
      do { end(.success(try await work())) } catch { end(.failure(error)) }
    }
    // The result may have ended before the task is stored, and would then not cancel it.
    let isOver = state.withLock { state in
      if state.outcome == nil { state.task = task }
      return state.outcome != nil
    }
    if isOver { task.cancel() }
  }
}
