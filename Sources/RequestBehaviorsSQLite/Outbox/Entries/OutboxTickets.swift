import Foundation
import RequestBehaviors

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
