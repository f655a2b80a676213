public import Foundation
import RequestBehaviors

extension Outbox {
  /// Returns the entries of a type that the signed-in user still has to deliver, in the order of their commits.
  ///
  /// Within `store.values` they complete the saved rows with what the server does not have yet:
  ///
  /// ```swift
  /// let notes = store.values { db in
  ///   let rows: [Note] = try db.query("SELECT * FROM note")
  ///   let new = try outbox.waiting(CreateNote.self, in: db)
  ///   return rows + new.map(\.operation.note)
  /// }
  /// ```
  ///
  /// An entry and the row that its delivery saves change in one commit. After another user signs in, begin a new loop.
  ///
  /// - Parameters:
  ///   - type: The type of the operations.
  ///   - db: The database of a read or write of the store.
  /// - Returns: The entries; one whose value cannot be decoded is left out.
  /// - Throws: ``SQLiteError``.
  public func waiting<Operation: OutboxOperation>(
    _ type: Operation.Type, in db: Database
  ) throws -> [OutboxEntry<Operation>] {
    try core.check(db)
    let present = core.present
    return try core.table(db).rows(where: "operation = \(Operation.name) AND state IN (0,1,2)").compactMap { row in
      guard present.contains(row.scope) else { return nil }
      guard let operation = try? OutboxCoding.decode(type, from: row.payload, core.files) else { return nil }
      return OutboxEntry(row, operation, core, present: present)
    }
  }

  /// Returns the numbers of entries.
  ///
  /// - Parameter db: The database of a read or write of the store.
  /// - Returns: The numbers.
  /// - Throws: ``SQLiteError``.
  public func summary(in db: Database) throws -> OutboxSummary { try core.summary(in: db) }

  /// Returns an entry that is not delivered by its ID.
  ///
  /// - Parameters:
  ///   - id: The ID.
  ///   - type: The type of the operation.
  /// - Returns: The entry; `nil` if it is delivered, gone, or of another type.
  /// - Throws: `DecodingError`, ``SQLiteError``, or `CancellationError`.
  public func entry<Operation: OutboxOperation>(
    _ id: UUID, of type: Operation.Type
  ) async throws -> OutboxEntry<Operation>? {
    let core = core
    guard let row = try await core.store.read({ try core.table($0).row(id) }), row.operation == Operation.name,
      row.state != StoredState.delivered
    else { return nil }
    return OutboxEntry(
      row, try OutboxCoding.decode(type, from: row.payload, core.files), core, present: core.present)
  }

  /// Returns the state of an entry of any type.
  ///
  /// - Parameter id: The ID.
  /// - Returns: The state; `nil` if the entry is gone, or was delivered longer ago than is remembered.
  /// - Throws: ``SQLiteError``, or `CancellationError`.
  public func state(of id: UUID) async throws -> OutboxState? {
    let core = core
    return try await core.store.read { db in
      try core.table(db).row(id).map { core.state(of: $0, present: core.present) }
    }
  }

  // MARK: Dead letters

  /// Returns the entries that are not sent any more, of all users, in the order of their commits.
  ///
  /// ```swift
  /// for letter in try await outbox.deadLetters() {
  ///   print(letter.name, letter.state)
  ///   try await outbox.discard(letter.id)
  /// }
  /// ```
  ///
  /// - Throws: ``SQLiteError``, or `CancellationError`.
  public func deadLetters() async throws -> [OutboxRecord] {
    let core = core
    return try await core.store.read { db in
      let present = core.present
      return try core.table(db).rows(where: "state IN (3,4)").map { OutboxRecord($0, core, present: present) }
    }
  }

  /// Puts dead letters back, to be sent now; each goes before those of its lane that were enqueued later.
  ///
  /// A later one that is just being sent is not called back.
  ///
  /// - Parameter ids: The IDs.
  /// - Throws: ``OutboxError`` of code ``OutboxError/Code-swift.struct/notDead`` or
  ///   ``OutboxError/Code-swift.struct/noSuchEntry``; then none is put back.
  public func requeue(_ ids: UUID...) async throws { try await requeue(ids) }

  /// Puts dead letters back, such as all of them after a fault of the server.
  ///
  /// ```swift
  /// try await outbox.requeue(outbox.deadLetters().map(\.id))
  /// ```
  ///
  /// - Parameter ids: The IDs.
  /// - Throws: As for single IDs.
  public func requeue(_ ids: some Sequence<UUID>) async throws {
    try await change(Array(ids)) { core, table, row in
      guard row.isDead else {
        throw OutboxError(.notDead, "the entry \(row.id) is not a dead letter, so it cannot be put back")
      }
      try table.requeue(row, now: core.now)
    }
  }

  /// Removes entries that are not being sent, and their attachments; ``OutboxOperation/rejected(_:in:)`` is not called.
  ///
  /// - Parameter ids: The IDs.
  /// - Throws: ``OutboxError`` of code ``OutboxError/Code-swift.struct/alreadySent`` for an entry that is being sent,
  ///   or ``OutboxError/Code-swift.struct/noSuchEntry``; then no entry is removed.
  public func discard(_ ids: UUID...) async throws { try await discard(ids) }

  /// Removes entries that are not being sent, and their attachments.
  ///
  /// - Parameter ids: The IDs.
  /// - Throws: As for single IDs.
  public func discard(_ ids: some Sequence<UUID>) async throws {
    try await change(Array(ids)) { core, table, row in
      guard row.state != StoredState.sending, row.state != StoredState.delivered else {
        throw OutboxError(.alreadySent, "the entry \(row.id) is being sent or was delivered; it cannot be taken back")
      }
      try table.remove(row, now: core.now)
      let unused = try table.unused(row.files)
      try table.db.afterCommit {
        core.files?.remove(unused)
        core.tickets.wake(row.id)
      }
    }
  }

  /// Gives a dead letter, or an entry that was never sent, another value.
  ///
  /// A dead letter gets another idempotency key: the server may have kept its response to the first one. Its lane,
  /// identity and times stay.
  ///
  /// - Parameters:
  ///   - id: The ID.
  ///   - operation: The value.
  /// - Throws: ``OutboxError`` of code ``OutboxError/Code-swift.struct/alreadySent``,
  ///   ``OutboxError/Code-swift.struct/noSuchEntry`` or, for another type,
  ///   ``OutboxError/Code-swift.struct/invalidOperations``.
  public func replace<Operation: OutboxOperation>(_ id: UUID, with operation: Operation) async throws {
    let (payload, files) = try OutboxCoding.encode(operation)
    let newKey = operation.delivery.key.givenValue ?? RandomSource.uuid()
    try await change([id]) { core, table, row in
      guard row.operation == Operation.name else {
        throw OutboxError(
          .invalidOperations, "the entry is a \"\(row.operation)\", and \(Operation.self) is a \"\(Operation.name)\"")
      }
      guard row.isDead || (row.isLive && row.sends == 0) else {
        throw OutboxError(
          .alreadySent, "the entry \(id) may have been sent, and another value must not have the same key")
      }
      try table.replace(row, payload: payload, files: files, key: row.isDead ? newKey : row.key)
      let unused = try table.unused(row.files.filter { !files.contains($0) }, besides: row)
      try table.db.afterCommit { core.files?.remove(unused) }
    }
  }

  /// Changes entries in one transaction.
  private func change(
    _ ids: [UUID], _ body: @escaping @Sendable (OutboxCore, OutboxTable, OutboxRow) throws -> Void
  ) async throws {
    let core = core
    try await core.store.write(durability: .full) { db in
      for id in ids {
        guard let row = try core.table(db).row(id) else {
          throw OutboxError(.noSuchEntry, "there is no entry \(id) in the outbox")
        }
        try body(core, core.table(db), row)
      }
      try db.afterCommit { core.signal.raise() }
    }
  }
}

extension OutboxCore {
  /// Throws for the database of another store.
  func check(_ db: Database) throws {
    guard db.belongs(to: store) else {
      throw SQLiteError(.misuse, "the entries of the outbox are in another store; read that one", path: store.path)
    }
  }

  func summary(in db: Database) throws -> OutboxSummary {
    try check(db)
    let present = present
    var summary = OutboxSummary()
    let groups = try db.query(
      """
      SELECT state IN (3,4), scope, origin, operation, count(*), min(CASE WHEN state = 0 THEN not_before END) FROM outbox_entry
      WHERE queue = \(queue) AND state <> 5 GROUP BY 1, 2, 3, 4
      """
    ) { row in
      (
        isDead: try row[0] as Bool, scope: try row[1] as String?, origin: try row[2] as String,
        operation: try row[3] as String, count: try row[4] as Int, next: try row[5] as Int64?
      )
    }
    for group in groups {
      let isHeld = reasonToHold(origin: group.origin, operation: group.operation) != nil
      switch (present.contains(group.scope), group.isDead, isHeld) {
      case (false, true, _): break
      case (false, false, _): summary.others += group.count
      case (true, true, _): summary.dead += group.count
      case (true, false, true): summary.held += group.count
      case (true, false, false):
        summary.waiting += group.count
        summary.nextAttempt = [summary.nextAttempt, group.next.map { Date(storedTime: $0) }].compactMap(\.self).min()
      }
    }
    return summary
  }

  /// Removes files that no entry has.
  func sweepFiles() async throws {
    guard let files else { return }
    let texts = try await store.read { db in
      try db.query("SELECT files FROM outbox_entry WHERE files IS NOT NULL", as: String.self)
    }
    let kept = Set(texts.flatMap { OutboxRow.list($0) })
    let now = clock.date()
    BlockingQueue.background { files.sweep(keeping: kept, now: now) }
  }
}
