public import Foundation
import RequestBehaviors

/// Adds entries to an ``Outbox`` in a transaction of the user's own, for the user who was signed in when it was made.
///
/// ```swift
/// try await outbox.write { db, queue in
///   try db.save([note], into: "note")
///   try queue.enqueue(CreateNote(note: note), in: db)
/// }
/// ```
public struct OutboxWriter: Sendable {
  let core: OutboxCore
  let owners: CallOwners

  /// Adds an entry; it is there when the transaction commits, and only then.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - db: The database of a write of the outbox's own store, with the durability ``SQLiteDurability/full``.
  /// - Returns: The ID of the entry, or that of the entry that has the operation's identity.
  /// - Throws: ``SQLiteError`` of code ``SQLiteError/Code/misuse`` for another database. `NetworkError` of code
  ///   `notSignedIn` if the request needs a user and none was signed in, of code `signedOut` if the user has left
  ///   since, and of code `invalidRequest` for a request that an outbox does not deliver. The errors of
  ///   ``OutboxOperation/request(in:)`` but ``OutboxNotReady``.
  @discardableResult
  public func enqueue<Operation: OutboxOperation>(_ operation: Operation, in db: Database) throws -> UUID {
    try enqueue(operation, in: db, id: UUID.inOutbox())
  }

  func enqueue<Operation: OutboxOperation>(_ operation: Operation, in db: Database, id: UUID) throws -> UUID {
    guard db.belongs(to: core.store) else {
      throw SQLiteError(.misuse, "the outbox enqueues in its own store only; write to that", path: core.store.path)
    }
    guard db.durability == .full else {
      throw SQLiteError(
        .misuse,
        "an entry must survive a power cut, so that it is enqueued in a write with the durability .full; use "
          + "outbox.write, or store.write(durability: .full)", path: core.store.path)
    }
    guard let handler = core.handlers[Operation.name], handler.type == Operation.self else {
      throw OutboxError(
        .invalidOperations,
        "\(Operation.self) with the name \"\(Operation.name)\" is not among the operations of the outbox; list it there"
      )
    }
    let requirement = try requirement(of: operation, in: db)
    let (payload, files) = try OutboxCoding.encode(operation)
    let entry = OutboxTable.NewEntry(
      id: id, operation: Operation.name, payload: payload, files: files,
      scope: try OutboxScopes.key(of: owners.members, for: requirement), origin: core.origin.description,
      delivery: operation.delivery)
    try owners.owner.verify()
    let added = try core.table(db).add(
      entry, now: core.now, remembered: core.settings.remembersDelivered.outboxTime)
    try db.afterCommit { core.signal.raise() }
    return added
  }

  /// Returns the credentials of the operation's request, after checking the request.
  private func requirement(
    of operation: some OutboxOperation, in db: Database
  ) throws -> AuthenticationRequirement {
    do {
      let request = try operation.request(in: db.readOnly())
      try OutboxRules.check(request)
      return core.requirement(of: request.options)
    } catch is OutboxNotReady {
      return core.client.configuration.options.authentication
    }
  }
}

extension UUID {
  /// Returns a new ID, which a simulation's random numbers make too.
  static func inOutbox() -> UUID { UUID(uuidString: RandomSource.uuid()) ?? UUID() }
}
