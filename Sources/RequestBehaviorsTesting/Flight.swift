import Foundation
import RequestBehaviors

/// An answer under way, which its own end, a cancellation or a shutdown ends: the first of them, at once.
final class MockFlight: Sendable {
  private struct State {
    var continuation: CheckedContinuation<NetworkResponse, any Error>?
    var task: Task<Void, Never>?
    var outcome: Result<NetworkResponse, any Error>?
  }

  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var state = State()

  /// Returns what the work returns, unless it is ended before.
  func run(_ work: @escaping @Sendable () async throws -> NetworkResponse) async throws -> NetworkResponse {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { begin($0, work) }
    } onCancel: {
      end(.failure(CancellationError()))
    }
  }

  /// Ends the flight if nothing else has.
  func end(_ outcome: Result<NetworkResponse, any Error>) {
    let ended: State? = lock.withLock {
      guard state.outcome == nil else { return nil }
      let before = state
      state = State(outcome: outcome)
      return before
    }
    guard let ended else {
      // Nobody gets the answer, so nobody else could cancel its stream.
      if case .success(let response) = outcome { response.body.cancel() }
      return
    }
    ended.task?.cancel()
    ended.continuation?.resume(with: outcome)
  }

  private func begin(
    _ continuation: CheckedContinuation<NetworkResponse, any Error>,
    _ work: @escaping @Sendable () async throws -> NetworkResponse
  ) {
    let outcome = lock.withLock {
      if state.outcome == nil { state.continuation = continuation }
      return state.outcome
    }
    if let outcome { return continuation.resume(with: outcome) }
    let task = Task {
      do { end(.success(try await work())) } catch { end(.failure(error)) }
    }
    let isOver = lock.withLock {
      if state.outcome == nil { state.task = task }
      return state.outcome != nil
    }
    if isOver { task.cancel() }
  }
}
