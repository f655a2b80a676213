public import Foundation
public import RequestBehaviors

extension Outbox {
  /// Adds an operation, and returns when it survives a power cut.
  ///
  /// ```swift
  /// let receipt = try await outbox.enqueue(CreateNote(note: note)).value
  /// ```
  ///
  /// Operations that many tasks enqueue at a time are committed together. Cancelling the task does not take the
  /// operation back. If the operation needs a user and no user is signed in, the token stores are read again, for
  /// ``OutboxConfiguration/pollInterval`` at most: another process may have signed the user in.
  ///
  /// - Parameter operation: The operation.
  /// - Returns: The entry, or the one that has the operation's identity.
  /// - Throws: As ``OutboxWriter/enqueue(_:in:)``.
  @discardableResult
  public func enqueue<Operation: OutboxOperation>(_ operation: Operation) async throws -> OutboxEntry<Operation> {
    let core = core
    let id = core.newID()
    // Held from before the commit, so that a fast response finds it.
    let ticket = core.tickets.ticket(of: id)
    defer { withExtendedLifetime(ticket) {} }
    // Not within the transaction, where all writes wait for it.
    let encoded = try OutboxCoding.encode(operation)
    let row = try await onceMoreForUser {
      let writer = try await writerDespiteCancellation()
      return try await core.store.writeTogether(durability: .full, isCancellable: false) { db in
        try writer.enqueue(operation, encoded, in: db, id: id)
      }
    }
    guard row.id != id else { return OutboxEntry(row, operation, core, present: [row.scope]) }
    let kept = try? OutboxCoding.decode(Operation.self, from: row.payload, core.files)
    return OutboxEntry(row, kept ?? operation, core, present: core.present)
  }

  /// Adds a request whose response does not matter, and returns when it survives a power cut.
  ///
  /// ```swift
  /// try await outbox.enqueue(.post("likes/\(id)"))
  /// ```
  ///
  /// Method, path, query, fields and a body in memory are kept, and the options `timeout`, `idleTimeout`,
  /// `acceptableStatuses`, `authentication` and `idempotencyKey`. A request with anything else is refused, and so is
  /// one with credentials, which a behavior adds when it is sent. Write an ``OutboxOperation`` for those.
  ///
  /// - Parameters:
  ///   - request: The request, to a path below the base URL.
  ///   - delivery: The order and the conditions.
  /// - Returns: The ID of the entry, or that of the one with the same identity.
  /// - Throws: ``OutboxError`` of code ``OutboxError/Code-swift.struct/cannotBeKept``, and as
  ///   ``OutboxWriter/enqueue(_:in:)``.
  @discardableResult
  public func enqueue(_ request: Request<Void>, delivery: OutboxDelivery = OutboxDelivery()) async throws -> UUID {
    let stored = try StoredRequest(request, delivery, encoder: core.client.configuration.encoder)
    return try await enqueue(stored).id
  }

  /// Writes rows and entries in one transaction that survives a power cut.
  ///
  /// ```swift
  /// try await outbox.write { db, queue in
  ///   try db.save([note], into: "note")
  ///   try queue.enqueue(CreateNote(note: note), in: db)
  /// }
  /// ```
  ///
  /// If the closure throws an error of code `notSignedIn`, and another process has signed the user in, the closure is
  /// called once more, after everything is rolled back.
  ///
  /// - Parameter body: Does the work, as in ``SQLiteStore/write(durability:_:)``.
  /// - Returns: The closure's result, after the commit.
  /// - Throws: The closure's error, which rolls everything back; ``SQLiteError``; `CancellationError`.
  @discardableResult
  public func write<Result: Sendable>(
    _ body: @escaping @Sendable (Database, OutboxWriter) throws -> Result
  ) async throws -> Result {
    try await onceMoreForUser {
      let writer = try await writer()
      return try await core.store.write(durability: .full) { try body($0, writer) }
    }
  }

  /// Does work, and once more if it needs a user whom another process has signed in.
  private func onceMoreForUser<Result>(_ work: () async throws -> Result) async throws -> Result {
    do {
      return try await work()
    } catch let error as NetworkError where error.code == .notSignedIn {
      // In a task of its own, because a task that is cancelled enqueues, too.
      guard try await Task(operation: { try await core.findsUser() }).value else { throw error }
      return try await work()
    }
  }

  /// Returns a writer, also to a task that is cancelled.
  private func writerDespiteCancellation() async throws -> OutboxWriter {
    // A task of its own costs a tenth of all that an entry costs.
    if !Task.isCancelled, let writer = try? await writer(), !Task.isCancelled { return writer }
    return try await Task { try await writer() }.value
  }

  /// Returns a writer for transactions of your own, which enqueues for the user who is signed in now.
  ///
  /// - Throws: `NetworkError` of code `clientShutDown`. ``SQLiteError`` if entries of a user who has left could not be
  ///   discarded yet (``OutboxConfiguration/atSignOut``).
  public func writer() async throws -> OutboxWriter {
    let owners = try await core.refreshOwners()
    // The user may be back, and the new entries must not be discarded with the old ones.
    try await core.discardEnded()
    return OutboxWriter(core: core, owners: owners)
  }
}
