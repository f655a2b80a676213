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

/// The tickets of the entries that this run of the program knows, and the attempts under way.
final class OutboxTickets: Sendable {
  private struct Ticket {
    weak var ticket: OutboxTicket?
  }

  private struct State {
    var tickets: [UUID: Ticket] = [:]
    /// The numbers of attempts under way: the next one of an entry can begin before the last one has ended.
    var underWay: [UUID: Int] = [:]
  }

  private let state = Locked(State())

  /// Returns the ticket of an entry, the same as long as it is held.
  func ticket(of id: UUID) -> OutboxTicket {
    state.withLock { state in
      if let ticket = state.tickets[id]?.ticket { return ticket }
      let ticket = OutboxTicket { [weak self] in self?.forget(id) }
      state.tickets[id] = Ticket(ticket: ticket)
      return ticket
    }
  }

  /// Forgets a ticket that is not held any more, unless there is another one of its entry by now.
  private func forget(_ id: UUID) {
    // Returned, because a ticket that ends under the lock would wait for it.
    _ = state.withLock { state -> OutboxTicket? in
      let ticket = state.tickets[id]?.ticket
      if ticket == nil { state.tickets[id] = nil }
      return ticket
    }
  }

  private func held(_ id: UUID) -> OutboxTicket? { state.withLock { $0.tickets[id]?.ticket } }

  func isUnderWay(_ id: UUID) -> Bool { state.withLock { $0.underWay[id] != nil } }

  /// Begins an attempt.
  func begin(_ id: UUID) { state.withLock { $0.underWay[id, default: 0] += 1 } }

  /// Keeps the value of the response to an entry that was delivered.
  func note(_ value: Result<any Sendable, any Error>, of id: UUID) { held(id)?.settle(value) }

  /// Ends an attempt.
  func end(_ id: UUID) {
    state.withLock { state in
      state.underWay[id] = state.underWay[id].flatMap { $0 > 1 ? $0 - 1 : nil }
    }
    wake(id)
  }

  /// Has the tasks that wait for an entry look at it again.
  func wake(_ id: UUID) { held(id)?.wake() }
}
