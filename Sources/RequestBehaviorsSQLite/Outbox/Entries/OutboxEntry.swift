public import Foundation
import RequestBehaviors

/// An entry of an ``Outbox``: an operation, and what has become of it.
public struct OutboxEntry<Operation: OutboxOperation>: Sendable, Identifiable {
  /// The ID of the entry, and by default the idempotency key of its requests.
  public let id: UUID
  /// The operation.
  public let operation: Operation
  /// The state when the entry was read.
  public let state: OutboxState
  /// The failure of the last attempt; `nil` without one.
  public let failure: OutboxFailure?

  let core: OutboxCore
  let ticket: OutboxTicket

  init(_ row: OutboxRow, _ operation: Operation, _ core: OutboxCore, present: Set<String?>) {
    id = row.id
    self.operation = operation
    state = core.state(of: row, present: present)
    failure = row.failure
    self.core = core
    ticket = core.tickets.ticket(of: row.id)
  }

  /// The value of the response, after the delivery.
  ///
  /// Reading it waits, for days if need be. Cancelling the task ends the wait and not the delivery.
  ///
  /// - Throws: The ``OutboxFailure`` of a dead letter. ``OutboxError`` of code
  ///   ``OutboxError/Code-swift.struct/deliveredEarlier`` if another run of the program got the response, and of code
  ///   ``OutboxError/Code-swift.struct/noSuchEntry`` if the entry is gone. The error of decoding the response: the
  ///   server has the request all the same.
  public var value: Operation.Value {
    get async throws {
      if let value = try knownValue() { return value }
      core.watch.begin(id)
      defer { core.watch.end(id) }
      while true {
        let (number, wake) = ticket.nextWake()
        defer { ticket.leave(number) }
        if let value = try await valueOfEnded() { return value }
        try await wake.value()
      }
    }
  }

  /// Returns the value if the entry has ended, and `nil` if it still waits.
  ///
  /// - Throws: The reason for which there is no value.
  private func valueOfEnded() async throws -> Operation.Value? {
    let (core, id) = (core, id)
    let row: OutboxRow?
    do {
      row = try await core.store.repeatedAfterSuspensions {
        try await core.store.read { try core.table($0).row(id) }
      }
    } catch  where core.store.state.isClosed {
      throw SQLiteError(.misuse, "the store was closed before the entry was delivered", path: core.store.path)
    }
    // Asked before the row is believed: its response may be on the way here.
    if core.tickets.isUnderWay(id) { return nil }
    if let value = try knownValue() { return value }
    guard let row else { throw OutboxError(.noSuchEntry, "the entry \(id) is not in the outbox any more") }
    if row.isDead { throw row.reason }
    guard row.state == StoredState.delivered else { return nil }
    throw OutboxError(.deliveredEarlier, "the entry \(id) was delivered, and its response was not kept")
  }

  /// The value that this run of the program knows.
  private func knownValue() throws -> Operation.Value? {
    guard let known = try ticket.value?.get() else { return nil }
    return known as? Operation.Value
  }

  /// The states of the entry: the one it has, and each further one.
  ///
  /// The stream ends after the delivery, when the entry is discarded or the store closed, and when the file cannot be
  /// read. A slow loop misses states in between, and gets the latest.
  public var states: AsyncStream<OutboxState> {
    let (core, id) = (core, id)
    var values = core.store.values { db -> OutboxState? in
      try core.table(db).row(id).map { core.state(of: $0, present: core.present) }
    }.makeAsyncIterator()
    // So that the commits of others are seen.
    core.watch.begin(id)
    let (stream, continuation) = AsyncStream.makeStream(of: OutboxState.self, bufferingPolicy: .bufferingNewest(1))
    let task = Task {
      defer { core.watch.end(id) }
      while let state = try? await values.next(), let state {
        continuation.yield(state)
        if state == .delivered { break }
      }
      continuation.finish()
    }
    continuation.onTermination = { _ in task.cancel() }
    return stream
  }
}
