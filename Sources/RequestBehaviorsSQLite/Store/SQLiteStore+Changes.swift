extension SQLiteStore {
  /// Returns what the closure reads: now, and again after each commit that may have changed it.
  ///
  /// ```swift
  /// let all: SQL = "SELECT * FROM tag ORDER BY name"
  /// let saved = store.values { db in
  ///   try db.query(all, as: Tag.self)
  /// }
  /// for try await tags in saved { self.tags = tags }
  /// ```
  ///
  /// Which commits those are is found by what the closure's statements read, through views and joins too: name no
  /// tables. The closure runs as one in ``read(_:)`` does, and only when the loop asks for a value: a slow loop gets
  /// the latest value and misses those between. Where values are `Equatable`, one that is equal to the last is left
  /// out.
  ///
  /// Commits of this store are seen, those of the saving behaviors among them; commits of other stores and processes
  /// are not. The sequence ends when the store is closed.
  ///
  /// - Parameter read: Reads from the database it is given, on the store's thread.
  /// - Returns: A sequence, each loop over which reads for itself. It throws what the closure throws, ``SQLiteError``,
  ///   or `CancellationError`.
  public func values<Value: Sendable>(
    _ read: @escaping @Sendable (Database) throws -> Value
  ) -> SQLiteValues<Value> {
    SQLiteValues(store: self, read: read) { _, _ in false }
  }

  /// Returns what the closure reads: now, and after each commit that has changed it.
  ///
  /// As `values(_:)`, without values that are equal to the one before.
  public func values<Value: Sendable & Equatable>(
    _ read: @escaping @Sendable (Database) throws -> Value
  ) -> SQLiteValues<Value> {
    SQLiteValues(store: self, read: read) { $0 == $1 }
  }

  /// Returns a stream that ticks after each commit of this store that changed rows of the tables.
  ///
  /// A tick says only that something changed: read again, or let `values(_:)` do so. Ticks that nobody has waited for
  /// yet become one; the stream ends when the store is closed. It listens from the moment it is made: make it, read,
  /// then read again at each tick, and nothing is missed.
  ///
  /// Saving rows that are already there unchanged does not tick. Commits of other processes are not seen.
  ///
  /// - Parameter tables: Names of tables, in any case; none means all.
  /// - Returns: A stream for one loop.
  public func changes(in tables: String...) -> AsyncStream<Void> {
    let names = tables.isEmpty ? nil : Set(tables.map { $0.lowercased() })
    let listener = state.changes.listen()
    return AsyncStream { await listener.wait(for: names) ? () : nil }
  }
}

/// The values that a closure reads from a store, now and after each change; see `SQLiteStore.values(_:)`.
public struct SQLiteValues<Value: Sendable>: AsyncSequence, Sendable {
  /// The type of the closure's value.
  public typealias Element = Value

  let store: SQLiteStore
  let read: @Sendable (Database) throws -> Value
  let areEqual: @Sendable (Value, Value) -> Bool

  /// Returns an iterator whose first value is read at its first `next()`.
  public func makeAsyncIterator() -> Iterator { Iterator(values: self, listener: store.state.changes.listen()) }

  /// Reads the values one after the other.
  public struct Iterator: AsyncIteratorProtocol {
    let values: SQLiteValues
    let listener: ChangeListener
    /// The tables that were read last, nil before the first value.
    private var tables: Set<String>?
    private var last: Value?

    init(values: SQLiteValues, listener: ChangeListener) {
      self.values = values
      self.listener = listener
    }

    /// Returns the next value, or nil when the store is closed.
    public mutating func next() async throws -> Value? {
      while true {
        if let tables, await !listener.wait(for: tables) {
          try Task.checkCancellation()
          return nil
        }
        // Commits from here on may not be in the snapshot, so they are noted although the tables are not known yet.
        listener.forget()
        let (value, tables) = try await values.store.observe(values.read)
        self.tables = tables
        if let last, values.areEqual(last, value) { continue }
        last = value
        return value
      }
    }
  }
}

extension SQLiteStore {
  /// Runs the closure as ``read(_:)`` does and returns, beside its result, the tables that a commit must touch to
  /// change it.
  fileprivate func observe<T: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> (T, tables: Set<String>) {
    let returned = Returned<(T, tables: Set<String>)>()
    try await perform(on: anyReader) { connection in
      connection.tablesRead = []
      defer { connection.tablesRead = nil }
      let value = try connection.read { database in
        // Statements know what they read as of the schema they were prepared with.
        try database.connection().checkSchemaVersion()
        return try body(database)
      }
      // A new schema may change what the same statement reads.
      returned.value = (value, (connection.tablesRead ?? []).union(["sqlite_master"]))
    }
    return try returned.get()
  }
}
