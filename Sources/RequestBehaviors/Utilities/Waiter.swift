import Foundation

/// A value that one task waits for and another one settles, once.
///
/// Cancelling the task that waits settles it too: whoever would settle it later learns that nobody takes the value.
package final class Waiter<Value: Sendable>: Sendable {
  private enum State {
    case open
    case waiting(CheckedContinuation<Value, any Error>)
    case settled(Result<Value, any Error>)
  }

  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var state = State.open

  /// Creates a waiter that nobody has settled.
  package init() {}

  /// Settles the value, unless it is settled.
  ///
  /// - Parameter result: The value, or what the wait ends with.
  /// - Returns: Whether it was not settled before.
  @discardableResult
  package func settle(_ result: Result<Value, any Error>) -> Bool {
    let (isFirst, continuation) = lock.withLock { () -> (Bool, CheckedContinuation<Value, any Error>?) in
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

  /// The value, if it was settled with one.
  package var settledValue: Value? {
    lock.withLock {
      guard case .settled(.success(let value)) = state else { return nil }
      return value
    }
  }

  /// Waits for the value; one task does so, once.
  ///
  /// - Returns: The value.
  /// - Throws: What it was settled with; `CancellationError` as soon as the task is cancelled.
  package func value() async throws -> Value {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let settled = lock.withLock { () -> Result<Value, any Error>? in
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
