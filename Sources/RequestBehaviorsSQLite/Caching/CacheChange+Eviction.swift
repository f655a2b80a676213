/// Keeps the size of the cache below its limit.
extension CacheChange {
  /// How many bytes are stored.
  func totalSize() throws -> Int { try db.first("SELECT bytes FROM cache", as: Int.self) ?? 0 }

  /// Removes the entries that were not used for the longest time, if more bytes than a limit are stored.
  ///
  /// - Parameters:
  ///   - limit: The most bytes that may be stored.
  ///   - goal: The bytes that may remain if the limit is exceeded.
  ///   - kept: The number of an entry that is not removed.
  /// - Returns: How many entries were removed.
  /// - Throws: ``SQLiteError``.
  func evict(above limit: Int, to goal: Int, keeping kept: Int64? = nil) throws -> Int {
    var size = try totalSize()
    guard size > limit else { return 0 }
    var count = 0
    while size > goal {
      let oldest = try db.query(
        "SELECT id, size FROM entry WHERE id <> \(kept ?? 0) ORDER BY last_used, id LIMIT 100"
      ) { row in (id: try row[0] as Int64, size: try row[1] as Int) }
      if oldest.isEmpty { break }
      for entry in oldest where size > goal {
        try delete(where: "id = \(entry.id)")
        size &-= entry.size
        count += 1
      }
    }
    // Files of a process that was killed belong to no entry, so they count as no bytes but take room.
    removedFiles += try CacheChange.orphans(of: bodies, in: db).subtracting(removedFiles)
    return count
  }

  /// The files of bodies that no entry has, of processes that were killed.
  ///
  /// A body is written in the transaction that adds its entry. So within a write transaction the result has no file of
  /// a living process.
  static func orphans(of bodies: CacheBodies, in db: Database) throws -> Set<String> {
    let names = bodies.names
    if names.isEmpty { return [] }
    return names.subtracting(try db.query("SELECT file FROM entry WHERE file IS NOT NULL", as: String.self))
  }
}
