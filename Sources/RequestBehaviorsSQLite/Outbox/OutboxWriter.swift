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
  let owners: ClientOwners

  /// Adds an entry; it is there when the transaction commits, and only then.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - db: The database of a write of the outbox's own store, with the durability ``SQLiteDurability/full``.
  /// - Returns: The ID of the entry, or that of the entry that has the operation's identity.
  /// - Throws: ``SQLiteError`` of code ``SQLiteError/Code/misuse`` for another database. `NetworkError` of code
  ///   `notSignedIn` if the request needs a user and none was signed in, of code `tokenStoreFailed` if the store of
  ///   the user's token could not be read yet, of code `signedOut` if the user has left since, and of code
  ///   `invalidRequest` for a request that an outbox does not deliver. The errors of
  ///   ``OutboxOperation/request(in:)`` but ``OutboxNotReady``.
  @discardableResult
  public func enqueue<Operation: OutboxOperation>(_ operation: Operation, in db: Database) throws -> UUID {
    try enqueue(operation, OutboxCoding.encode(operation), in: db, id: core.newID()).id
  }

  /// Adds an entry whose value is encoded; returns it, or the one that has the operation's identity.
  func enqueue<Operation: OutboxOperation>(
    _ operation: Operation, _ encoded: OutboxCoding.Encoded, in db: Database, id: UUID
  ) throws -> OutboxRow {
    try check(Operation.self, db)
    let requirement = try requirement(of: operation, in: db)
    let scope = try OutboxScopes.key(of: owners.members, for: requirement)
    let entry = OutboxTable.NewEntry(
      id: id, operation: Operation.name, payload: encoded.payload, files: encoded.files, scope: scope,
      sessions: OutboxOwner.sessions(of: scope, owners.members), origin: core.originText,
      delivery: operation.delivery)
    // Of the entry's own users: another account of the client may have left meanwhile.
    try owners.owner.verify(only: OutboxScopes.scopes(of: scope))
    let (row, dropped) = try core.table(db).add(
      entry, now: core.now, remembered: core.settings.remembersDelivered.storedTime)
    try db.afterCommit { [core] in
      core.files?.remove(dropped)
      core.signal.raise()
    }
    return row
  }

  /// Throws if the outbox takes no entry of a type in a database.
  private func check<Operation: OutboxOperation>(_ type: Operation.Type, _ db: Database) throws {
    guard db.belongs(to: core.store) else {
      throw SQLiteError(.misuse, "the outbox enqueues in its own store only; write to that", path: core.store.path)
    }
    guard db.durability == .full else {
      throw SQLiteError(
        .misuse,
        "an entry must survive a power cut, so that it is enqueued in a write with the durability .full; use "
          + "outbox.write, or store.write(durability: .full)", path: core.store.path)
    }
    guard core.handlers[Operation.name]?.type == Operation.self else {
      throw OutboxError(
        .invalidOperations,
        "\(Operation.self) with the name \"\(Operation.name)\" is not among the operations of the outbox; list it there"
      )
    }
  }

  /// Returns the credentials of the operation's request, after checking the request.
  private func requirement(
    of operation: some OutboxOperation, in db: Database
  ) throws -> AuthenticationRequirement {
    do {
      let request = try db.withReadOnly { try operation.request(in: $0) }
      try OutboxRequestRules.check(request)
      _ = try core.ownList(of: request)
      return core.requirement(of: request.options)
    } catch let error as OutboxNotReady {
      return error.authentication ?? core.client.configuration.options.authentication
    }
  }
}
