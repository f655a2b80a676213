/// A value that one task waits for and another task settles, once.
///
/// Cancelling the waiting task settles it too: a later ``settle(_:)`` returns `false`, because the value is no longer
/// wanted.
package final class Waiter<Value: Sendable>: Sendable {
  private enum State {
    case open
    case waiting(CheckedContinuation<Value, any Error>)
    case settled(Result<Value, any Error>)
  }

  private let state = Locked(State.open)

  /// Creates a waiter that is not settled.
  package init() {}

  /// Settles the value, unless it is settled already.
  ///
  /// - Parameter result: The value or the error for the waiting task.
  /// - Returns: Whether this call settled the value.
  @discardableResult
  package func settle(_ result: Result<Value, any Error>) -> Bool {
    let (isFirst, continuation) = state.withLock { state -> (Bool, CheckedContinuation<Value, any Error>?) in
      switch state {
      case .settled: return (false, nil)
      case .open:
        state = .settled(result)
        return (true, nil)
      case .waiting(let continuation):
        state = .settled(result)
        return (true, continuation)
      }
    }
    continuation?.resume(with: result)
    return isFirst
  }

  /// The value; `nil` if it is not settled, or settled with an error.
  package var settledValue: Value? {
    state.withLock { state in
      guard case .settled(.success(let value)) = state else { return nil }
      return value
    }
  }

  /// Waits for the value; may be called once, by one task.
  ///
  /// - Returns: The value.
  /// - Throws: The error that it was settled with; `CancellationError` as soon as the task is cancelled.
  package func value() async throws -> Value {
    // The usual case of work that ended before its caller came to wait.
    if case .settled(let result) = state.withLock({ $0 }) { return try result.get() }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let settled = state.withLock { state -> Result<Value, any Error>? in
          if case .settled(let result) = state { return result }
          state = .waiting(continuation)
          return nil
        }
        if let settled { continuation.resume(with: settled) }
      }
    } onCancel: {
      settle(.failure(CancellationError()))
    }
  }
}
