/// The values that a closure reads from a store, now and after each change; see `SQLiteStore.values(_:)`.
public struct SQLiteValues<Value: Sendable>: AsyncSequence, Sendable {
  /// The type of the closure's value.
  public typealias Element = Value

  let store: SQLiteStore
  let read: @Sendable (Database) throws -> Value
  let areEqual: @Sendable (Value, Value) -> Bool

  /// Returns an iterator whose first value is read at its first `next()`.
  public func makeAsyncIterator() -> Iterator { Iterator(values: self) }

  /// Reads the values one after the other.
  public struct Iterator: AsyncIteratorProtocol {
    let values: SQLiteValues
    let listener: ChangeListener
    /// Whether the store was closed before the iterator was made.
    ///
    /// That is a misuse, not the end of the sequence.
    private let isLate: Bool
    /// The tables that were last read; nil before the first value.
    private var tables: Set<String>?
    private var last: Value?

    init(values: SQLiteValues) {
      self.values = values
      listener = ChangeListener(values.store.state.changes)
      isLate = values.store.state.isClosed
    }

    /// Returns the next value, or nil when the store is closed.
    ///
    /// - Throws: The closure's error, ``SQLiteError``, or `CancellationError`. ``SQLiteError/Code/misuse`` when the
    ///   store was closed before the iterator was made.
    public mutating func next() async throws -> Value? {
      while true {
        if let tables, await !listener.wait(for: tables) {
          try Task.checkCancellation()
          return nil
        }
        guard let (value, tables) = try await readNow() else { return nil }
        self.tables = tables
        if let last, values.areEqual(last, value) { continue }
        last = value
        return value
      }
    }

    /// Reads the value and the tables that it depends on; nil if the store is closed.
    ///
    /// A read that is stopped by a suspension of the store is repeated when the store is resumed.
    private func readNow() async throws -> (Value, tables: Set<String>)? {
      do {
        return try await values.store.repeatedAfterSuspensions { [values, listener] in
          // Commits from here on may be missing in the snapshot, so they are recorded although the tables are not known
          // yet.
          listener.forget()
          return try await values.store.observe(values.read)
        }
      } catch  where values.store.state.isClosed && !isLate {
        // A cancelled loop ends with that, whatever else stopped its read.
        try Task.checkCancellation()
        return nil
      }
    }
  }
}

extension SQLiteStore {
  /// Runs work that reads, again each time that a suspension of the store may have stopped it, when the store is
  /// resumed.
  ///
  /// - Parameter work: The work.
  /// - Returns: Its result.
  /// - Throws: Its error; `CancellationError` if the task is cancelled.
  func repeatedAfterSuspensions<T>(_ work: () async throws -> T) async throws -> T {
    while true {
      let suspensions = state.suspensions
      do {
        let result = try await work()
        // A closure may have caught the error of a statement that a suspension stopped, and return too little.
        if state.suspensions == suspensions { return result }
      } catch {
        // A cancelled task ends with that, whatever else stopped its work.
        try Task.checkCancellation()
        guard !state.isClosed, state.isSuspended || state.suspensions != suspensions else { throw error }
      }
      try await state.waitUntilResumed()
    }
  }

  /// Runs the closure as ``read(_:)`` does.
  ///
  /// Returns its result, and the tables of which a commit must touch one to change the result.
  fileprivate func observe<T: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> (T, tables: Set<String>) {
    let returned = Returned<(T, tables: Set<String>)>()
    try await watchedReads.run {
      try await perform(on: anyReader) { connection in
        // A loop over a file that gets no more commits would wait forever.
        try connection.state.checkFile()
        connection.tablesRead = []
        defer { connection.tablesRead = nil }
        let value = try connection.read { database in
          // The tables that a statement reads are known for the schema with which it was prepared.
          try database.connection().checkSchemaVersion()
          return try body(database)
        }
        // A new schema may change the tables that the same statement reads.
        returned.value = (value, (connection.tablesRead ?? []).union(["sqlite_master"]))
      }
    }
    return try returned.get()
  }
}
