extension SQLiteStore {
  /// Saves records as rows, in a transaction that it may share with other saves that wait at the same time.
  ///
  /// ```swift
  /// let counts = try await store.save(
  ///   artworks, into: "artwork", durability: .full)
  /// ```
  ///
  /// Use it when many tasks save: the saves that wait are committed together, with one wait for the disk. Each save
  /// succeeds, fails and is cancelled on its own, as ``write(durability:_:)`` would be. For the rest see
  /// ``Database/save(_:into:)-([Record],_)``.
  ///
  /// - Parameters:
  ///   - records: The records. They are encoded again if the shared transaction was undone.
  ///   - table: The table, such as `"artwork"`.
  ///   - scope: Rows to delete unless they are among the saved ones; none by default.
  ///   - durability: The failures that the commit survives; `nil` for the configuration's. It may survive more, if
  ///     another save in the transaction asks for that.
  /// - Returns: How many rows were inserted, updated, left unchanged and deleted.
  /// - Throws: ``SQLiteError``, or `CancellationError`.
  @discardableResult
  public func save<Record: Encodable & Sendable>(
    _ records: [Record], into table: SQLiteTable, deletingOthers scope: SQLiteScope? = nil,
    durability: SQLiteDurability? = nil
  ) async throws -> SQLiteSaveCounts {
    try await writeTogether(durability: durability) { db in
      if let scope { return try db.save(records, into: table, deletingOthers: scope) }
      return try db.save(records, into: table)
    }
  }
}
