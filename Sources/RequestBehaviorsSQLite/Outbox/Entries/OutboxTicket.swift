import Foundation
import RequestBehaviors

/// The knowledge of an entry that this run of the program has: the value of its response, once it is delivered.
final class OutboxTicket: Sendable {
  private struct State {
    var value: Result<any Sendable, any Error>?
    /// The tasks that wait, by numbers in the order in which they came.
    var waiting: [Int: Waiter<Void>] = [:]
    var lastWait = 0
  }

  private let state = Locked(State())
  private let end: @Sendable () -> Void

  /// Creates a ticket.
  ///
  /// - Parameter end: Called when the ticket is not held any more.
  init(end: @escaping @Sendable () -> Void) { self.end = end }

  deinit { end() }

  /// The value of the response, or the error of decoding it; nil before the delivery.
  var value: Result<any Sendable, any Error>? { state.withLock { $0.value } }

  /// Keeps the value of the response.
  func settle(_ value: Result<any Sendable, any Error>) {
    state.withLock { $0.value = $0.value ?? value }
    wake()
  }

  /// Wakes the tasks that wait, so that they look at the entry again.
  func wake() {
    let waiting = state.withLock { state in
      defer { state.waiting = [:] }
      return state.waiting
    }
    for (_, waiter) in waiting.sorted(by: { $0.key < $1.key }) { waiter.settle(.success(())) }
  }

  /// Begins to wait, before the entry is read; returns the number of the wait and its waiter.
  func nextWake() -> (number: Int, waiter: Waiter<Void>) {
    state.withLock { state in
      state.lastWait += 1
      let waiter = Waiter<Void>()
      state.waiting[state.lastWait] = waiter
      return (state.lastWait, waiter)
    }
  }

  /// Ends a wait.
  func leave(_ number: Int) { state.withLock { _ = $0.waiting.removeValue(forKey: number) } }
}
