internal import RequestBehaviors

/// Lets a number of watched reads run at a time; the others wait their turn.
///
/// After a commit all reads begin anew that watch its tables. A read that nobody watches would wait behind all of them.
final class WatchedReads: Sendable {
  private struct State {
    var running = 0
    // A slice, because its first element is removed without moving the others.
    var waiting: ArraySlice<Waiter<Void>> = []
  }

  private let state = Locked(State())
  private let maximum: Int

  /// Creates turns for watched reads.
  ///
  /// - Parameter readers: How many reads run at a time; one reader is left to those that nobody watches, if there are
  ///   several.
  init(readers: Int) { maximum = max(1, readers - 1) }

  /// Runs the work when it is its turn.
  ///
  /// - Throws: What the work throws; `CancellationError` as soon as the task is cancelled while it waits.
  func run<T: Sendable>(_ work: () async throws -> T) async throws -> T {
    try await takeTurn()
    defer { passTurn() }
    return try await work()
  }

  private func takeTurn() async throws {
    let waiter = state.withLock { state -> Waiter<Void>? in
      guard state.running == maximum else {
        state.running += 1
        return nil
      }
      let waiter = Waiter<Void>()
      state.waiting.append(waiter)
      return waiter
    }
    try await waiter?.value()
  }

  private func passTurn() {
    while true {
      let next = state.withLock { state -> Waiter<Void>? in
        if state.waiting.isEmpty { state.running -= 1 }
        return state.waiting.popFirst()
      }
      // One that was cancelled does not take the turn.
      guard let next, !next.settle(.success(())) else { return }
    }
  }
}
