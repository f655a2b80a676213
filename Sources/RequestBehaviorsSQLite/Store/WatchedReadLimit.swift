internal import RequestBehaviors

/// A limit on the watched reads that run at a time; the others wait for their turn.
///
/// After a commit all reads that watch its tables begin again. Without the limit, an unwatched read would wait behind
/// them.
final class WatchedReadLimit: Sendable {
  private struct State {
    var running = 0
    var waiting = Line<Waiter<Void>>()
  }

  private let state = Locked(State())
  private let maximum: Int

  /// Creates the limit.
  ///
  /// - Parameter readers: The number of reads that run at a time. If there are several, one is left to unwatched reads.
  init(readers: Int) { maximum = max(readers, 2) - 1 }

  /// Runs the work when it is its turn.
  ///
  /// - Throws: The work's error; `CancellationError` as soon as the task is cancelled while it waits.
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
        let next = state.waiting.popFirst()
        if next == nil { state.running -= 1 }
        return next
      }
      // A waiter that was cancelled does not take the turn, so the next one gets it.
      guard let next, !next.settle(.success(())) else { return }
    }
  }
}
