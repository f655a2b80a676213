/// A value that one task waits for and another task settles, once.
///
/// Cancelling the task that waits in ``value()`` settles it too: a later ``settle(_:)`` returns `false`, because the
/// value is no longer wanted.
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

  /// The result of work that has ended before its caller comes to wait, as it usually has.
  private var settledResult: Result<Value, any Error>? {
    guard case .settled(let result) = state.withLock({ $0 }) else { return nil }
    return result
  }

  /// Waits for the value; may be called once, by one task.
  ///
  /// - Returns: The value.
  /// - Throws: The error that it was settled with; `CancellationError` as soon as the task is cancelled.
  package func value() async throws -> Value {
    if let result = settledResult { return try result.get() }
    return try await withTaskCancellationHandler {
      try await settlement()
    } onCancel: {
      settle(.failure(CancellationError()))
    }
  }

  /// Waits for the value, also while the task is cancelled; may be called once, by one task.
  ///
  /// It is for a wait that does not always end with the task. The caller's own cancellation handler decides that.
  ///
  /// - Returns: The value.
  /// - Throws: The error that it was settled with.
  package func settlement() async throws -> Value {
    if let result = settledResult { return try result.get() }
    return try await withCheckedThrowingContinuation { continuation in
      let settled = state.withLock { state -> Result<Value, any Error>? in
        if case .settled(let result) = state { return result }
        state = .waiting(continuation)
        return nil
      }
      if let settled { continuation.resume(with: settled) }
    }
  }
}
