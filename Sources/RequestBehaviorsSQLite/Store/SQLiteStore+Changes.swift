extension SQLiteStore {
  /// Returns a stream that ticks after each commit of this store that changed rows of the tables.
  ///
  /// A tick says only that something changed: read again. Ticks that nobody has waited for yet become one; the stream ends when the store
  /// is closed. It listens from the moment it is made: make it, read, then read again at each tick, and nothing is missed.
  ///
  /// ```swift
  /// let changes = store.changes(in: "artwork")
  /// artworks = try await load()
  /// for await _ in changes { artworks = try await load() }
  /// ```
  ///
  /// Saving rows that are already there unchanged does not tick. Commits of other processes are not seen.
  ///
  /// - Parameter tables: Names of tables, in any case; none means all.
  /// - Returns: A stream for one loop.
  public func changes(in tables: String...) -> AsyncStream<Void> {
    state.changes.stream(of: Set(tables.map { $0.lowercased() }))
  }
}
