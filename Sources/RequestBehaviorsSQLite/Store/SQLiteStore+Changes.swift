internal import RequestBehaviors

extension SQLiteStore {
  /// Returns a sequence of the values that the closure reads: one now, and one after each commit that may have changed
  /// it.
  ///
  /// ```swift
  /// let all: SQL = "SELECT * FROM tag ORDER BY name"
  /// let saved = store.values { db in
  ///   try db.query(all, as: Tag.self)
  /// }
  /// for try await tags in saved { self.tags = tags }
  /// ```
  ///
  /// The store finds those commits by the tables that the closure's statements read, through views and joins too. You
  /// name no tables. The closure runs as in ``read(_:)``, and only when the loop asks for a value: a slow loop gets the
  /// latest value and misses those between. If values are `Equatable`, a value that is equal to the last is left out.
  ///
  /// The sequence sees commits of this store, including those of the saving behaviors. It sees commits of other stores
  /// and processes only if ``SQLiteConfiguration/changePollInterval`` is set. While the store is suspended nothing is
  /// read; the loop goes on when the store is resumed. The sequence ends when the store is closed. If the file was
  /// removed or replaced meanwhile, the sequence fails with ``SQLiteError/Code/readOnly`` after the next write to the
  /// store, or the next look for commits of others.
  ///
  /// After a commit the loops read in turns, at most one fewer at a time than ``SQLiteConfiguration/maximumReaders``,
  /// so that other reads need not wait for all of them.
  ///
  /// - Parameter read: Reads from the database it is given, on the store's thread.
  /// - Returns: A sequence; each loop over it reads for itself. It throws the closure's errors, ``SQLiteError``, or
  ///   `CancellationError`.
  public func values<Value: Sendable>(
    _ read: @escaping @Sendable (Database) throws -> Value
  ) -> SQLiteValues<Value> {
    SQLiteValues(store: self, read: read) { _, _ in false }
  }

  /// Returns a sequence of the values that the closure reads: one now, and one after each commit that has changed it.
  ///
  /// It works as `values(_:)` does, but leaves out a value that is equal to the one before.
  public func values<Value: Sendable & Equatable>(
    _ read: @escaping @Sendable (Database) throws -> Value
  ) -> SQLiteValues<Value> {
    SQLiteValues(store: self, read: read) { $0 == $1 }
  }

  /// Returns a stream that ticks after each commit of this store that changed rows of the tables.
  ///
  /// A tick says only that something changed: read again, or let `values(_:)` do so. Ticks that the loop has not yet
  /// taken become one. The stream ends when the store is closed. It listens from the moment it is made: make it, read,
  /// then read again at each tick, and no change is missed.
  ///
  /// Saving rows without changing them does not tick. A write that finds the file removed or replaced does. Commits of
  /// other stores and processes are seen only if ``SQLiteConfiguration/changePollInterval`` is set, and they tick for
  /// all tables.
  ///
  /// - Parameter tables: Names of tables, in any case; without names, all tables.
  /// - Returns: A stream for one loop.
  public func changes(in tables: String...) -> AsyncStream<Void> {
    let names = tables.isEmpty ? nil : Set(tables.map { $0.lowercased() })
    let listener = ChangeListener(state.changes)
    return AsyncStream { await listener.wait(for: names) ? () : nil }
  }
}

extension SQLiteStore {
  /// Looks for commits of other stores and processes at intervals, for as long as there are waiters for changes.
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

  /// Tells the waiters of commits of other stores and processes, and of a file that was removed or replaced.
  func noticeOtherCommits() async {
    let changes = state.changes
    // A look may fail, for example while the store is suspended. The next look finds the commit.
    try? await perform(on: writer) { if try $0.hasOtherCommits() { changes.publish(nil) } }
  }
}

extension Connection {
  /// Returns whether other connections have committed since the last call; true if that is not known.
  ///
  /// It returns true, too, when the file has been removed or replaced since the last call.
  func hasOtherCommits() throws -> Bool {
    let isInPlace = state.isFileInPlace
    defer { wasInPlace = isInPlace }
    guard isInPlace else { return wasInPlace }
    let version = try scalar("PRAGMA data_version")
    defer { dataVersion = version }
    return version != dataVersion
  }
}
