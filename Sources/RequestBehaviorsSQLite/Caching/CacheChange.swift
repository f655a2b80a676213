import Foundation
import RequestBehaviors

/// What one transaction does to the entries of a cache.
final class CacheChange {
  private let db: Database
  /// The files of bodies that no entry has any more, once the transaction is committed.
  private(set) var removedFiles: [String] = []

  /// The most responses of one key, as in memory.
  private static let variantLimit = 64

  init(_ db: Database) { self.db = db }

  /// Writes down when entries were used.
  func note(_ uses: [Int64: Int]) throws {
    for (id, minute) in uses {
      try db.execute("UPDATE entry SET last_used = \(minute) WHERE id = \(id) AND last_used < \(minute)")
    }
  }

  /// Adds an entry in place of those that the same request matches.
  func insert(_ row: CacheRow.Values, body: Data, matching request: HeaderFields, _ bodies: CacheBodies) throws {
    var others = try db.query(CacheRow.select(row.key)) { try CacheRow($0) }
    let replaced = others.filter {
      $0.response.variant.matches(request) || $0.response.variant == row.response.variant
    }
    others.removeAll { other in replaced.contains { $0.id == other.id } }
    // A server may tell every request from every other by its Vary, and each of them would be read for each request.
    let excess = others.sorted { $0.id < $1.id }.dropLast(CacheChange.variantLimit - 1)
    for old in replaced + excess { try delete(where: "id = \(old.id)") }
    let file = body.count > CacheBodies.inlineLimit ? try bodies.write(body) : nil
    do {
      let values: [any SQLBindable] = row.identity + row.terms + [body.count, row.minute, file]
      try db.execute(SQL(verbatim: CacheRow.insertion, arguments: values))
      if file == nil { try db.execute("INSERT INTO body (id, body) VALUES (\(db.lastInsertedRowID), \(body))") }
    } catch {
      if let file { bodies.remove([file]) }
      throw error
    }
  }

  /// Replaces everything but the body of an entry, if it is still the one that was found.
  func update(_ old: StoredResponse, to row: CacheRow.Values, for key: CacheKey) throws {
    try db.execute(
      """
      UPDATE entry SET \(sql: SQL(verbatim: CacheRow.assignments, arguments: row.terms)), last_used = \(row.minute)
      WHERE \(sql: CacheRow.isSame(as: old, key))
      """)
  }

  /// Removes the entries that a condition is true for.
  func delete(where condition: SQL) throws {
    removedFiles += try db.query("SELECT file FROM entry WHERE file IS NOT NULL AND \(sql: condition)", as: String.self)
    try db.execute("DELETE FROM entry WHERE \(sql: condition)")
  }

  /// How many bytes are stored.
  func totalSize() throws -> Int { try db.first("SELECT bytes FROM cache", as: Int.self) ?? 0 }

  /// Removes the entries that were not used for the longest time, if more bytes than a limit are stored.
  ///
  /// - Parameters:
  ///   - limit: The most bytes that may be stored.
  ///   - goal: How many bytes may be left if it is more.
  ///   - row: An entry that was just added, which does not count as evicted.
  /// - Returns: How many entries went.
  /// - Throws: ``SQLiteError``.
  func evict(above limit: Int, to goal: Int, keeping row: CacheRow.Values?) throws -> Int {
    var size = try totalSize()
    guard size > limit else { return 0 }
    var count = 0
    while size > goal {
      let oldest = try db.query("SELECT id, size FROM entry ORDER BY last_used, id LIMIT 100") { row in
        (id: try row[0] as Int64, size: try row[1] as Int)
      }
      if oldest.isEmpty { break }
      for entry in oldest where size > goal {
        try delete(where: "id = \(entry.id)")
        size -= entry.size
        count += 1
      }
    }
    return count
  }
}
