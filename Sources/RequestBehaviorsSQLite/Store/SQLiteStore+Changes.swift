internal import RequestBehaviors

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
  /// only where ``SQLiteConfiguration/changePollInterval`` says so. While the store is suspended nothing is read; the
  /// loop goes on when it is resumed. The sequence ends when the store is closed.
  ///
  /// After a commit the loops read it in turns, one fewer at a time than ``SQLiteConfiguration/maximumReaders``, so
  /// that other reads need not wait for all of them.
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
  /// Saving rows that are already there unchanged does not tick. Commits of other stores and processes are seen only
  /// where ``SQLiteConfiguration/changePollInterval`` says so, and tick whatever they changed.
  ///
  /// - Parameter tables: Names of tables, in any case; none means all.
  /// - Returns: A stream for one loop.
  public func changes(in tables: String...) -> AsyncStream<Void> {
    let names = tables.isEmpty ? nil : Set(tables.map { $0.lowercased() })
    let listener = ChangeListener(state.changes)
    return AsyncStream { await listener.wait(for: names) ? () : nil }
  }
}

extension SQLiteStore {
  /// Looks for commits of other stores and processes in intervals, for as long as anything waits for changes.
  func pollForChanges(every interval: Duration) {
    let interval = max(interval, .milliseconds(10))
    state.changes.poll { [weak self, clock = configuration.clock, changes = state.changes] in
      Task {
        repeat {
          try? await clock.sleep(for: interval)
          await self?.noticeOtherCommits()
        } while changes.goesOnPolling()
      }
    }
  }

  private func noticeOtherCommits() async {
    let changes = state.changes
    // Not now: while the store is suspended, for example. The next look finds it.
    try? await perform(on: writer) { if try $0.hasOtherCommits() { changes.publish(nil) } }
  }
}

extension Connection {
  /// Whether other connections have committed since the last call; true if it is not known.
  func hasOtherCommits() throws -> Bool {
    let version = try scalar("PRAGMA data_version")
    defer { dataVersion = version }
    return version != dataVersion
  }
}
