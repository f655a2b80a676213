import Foundation
import RequestBehaviors
import RequestBehaviorsCaching

/// The changes of one transaction to the entries of a cache.
final class CacheChange {
  let db: Database
  let bodies: CacheBodies
  /// The time of the next use that is saved.
  private var nextUse: Int
  /// The files of bodies that no entry has any more, once the transaction is committed.
  var removedFiles: [String] = []

  /// The most responses of one key, as in memory.
  private static let variantLimit = 64

  /// The most removals that are remembered, as in memory.
  private static let removalLimit = 1_000

  /// Begins a change.
  ///
  /// - Parameters:
  ///   - db: The database, in a write transaction.
  ///   - bodies: The bodies that have files.
  ///   - now: The current time in milliseconds. A use is later than all before it, also when the clock was set back.
  /// - Throws: ``SQLiteError``.
  init(_ db: Database, _ bodies: CacheBodies, now: Int) throws {
    self.db = db
    self.bodies = bodies
    let latest = try db.first("SELECT max(last_used) FROM entry") { row in try row[0] as Int? } ?? nil
    // A damaged file may hold any number.
    nextUse = max(now, (latest ?? 0) &+ 1)
  }

  // MARK: - Uses

  /// Saves that entries were used, in this order.
  func note(_ uses: [Int64]) throws {
    for id in uses { try db.execute("UPDATE entry SET last_used = \(takeUse()) WHERE id = \(id)") }
  }

  private func takeUse() -> Int {
    defer { nextUse &+= 1 }
    return nextUse
  }

  // MARK: - Entries

  /// Adds an entry in place of those that the same request matches.
  ///
  /// - Parameters:
  ///   - row: The entry.
  ///   - request: The fields of its request.
  ///   - onFile: Called with the name of the body's file, which must be removed if the transaction fails.
  /// - Returns: The number of the entry.
  /// - Throws: ``SQLiteError``, for example when the disk is full.
  func insert(_ row: CacheRow.Values, matching request: HeaderFields, onFile: (String) -> Void) throws -> Int64 {
    try makeRoom(for: row, matching: request)
    let body = row.response.body
    let file = body.count > CacheBodies.inlineLimit ? try bodies.write(body) : nil
    if let file { onFile(file) }
    let values: [any SQLBindable] = row.identity + row.terms + [takeUse(), file]
    try db.execute(SQL(verbatim: CacheRow.insertion, arguments: values))
    let id = db.lastInsertedRowID
    if file == nil { try db.execute("INSERT INTO body (id, body) VALUES (\(id), \(body))") }
    return id
  }

  /// Removes the entries of the key that the same request matches, and the least recently used ones if there are too
  /// many.
  func makeRoom(for row: CacheRow.Values, matching request: HeaderFields) throws {
    // The latest used are first. A server may make every request a variant of its own, so their number is limited.
    let others = try db.query(CacheRow.selectVariants(of: row.key)) { entry in
      (id: try entry[0] as Int64, variant: CacheRow.variant(try entry[1]))
    }
    let replaced = others.filter { $0.variant.matches(request) || $0.variant == row.response.variant }
    let kept = others.filter { other in !replaced.contains { $0.id == other.id } }
    for old in replaced + kept.dropFirst(CacheChange.variantLimit - 1) { try delete(where: "id = \(old.id)") }
  }

  /// Replaces everything but the body of an entry, if it is still the one that was found.
  func update(_ old: StoredResponse, to row: CacheRow.Values, for key: CacheKey) throws {
    let assignments = SQL(verbatim: CacheRow.assignments, arguments: row.terms + [row.headSize])
    try db.execute(
      """
      UPDATE entry SET \(sql: assignments), last_used = \(takeUse()) WHERE \(sql: CacheRow.isSame(as: old, key))
      """)
  }

  /// Removes the entries that a condition is true for.
  func delete(where condition: SQL) throws {
    removedFiles += try db.query("SELECT file FROM entry WHERE file IS NOT NULL AND \(sql: condition)", as: String.self)
    try db.execute("DELETE FROM entry WHERE \(sql: condition)")
  }

  // MARK: - Removals

  /// The responses that are removed together, other than by a replacement.
  enum Removal: Sendable {
    case url(String)
    case scope(String)
    case everything
  }

  /// Removes responses and counts the removal, so that a response that was requested before it is not stored after it.
  func remove(_ removal: Removal) throws {
    try delete(where: CacheRow.isOf(removal))
    try db.execute(SQL("INSERT INTO removal (what) VALUES (?)", arguments: [CacheRow.hash(of: removal)]))
    try db.execute("DELETE FROM removal WHERE number <= \(db.lastInsertedRowID) - \(CacheChange.removalLimit)")
  }

  /// The number of the latest removal.
  static func mark(_ db: Database) throws -> CacheMark {
    CacheMark(try db.first("SELECT max(number) FROM removal", as: Int.self) ?? 0)
  }

  /// Whether neither the URL nor an owner of a response was removed since a mark; `false` if the mark is too old to
  /// tell.
  func allows(_ key: CacheKey, since mark: CacheMark) throws -> Bool {
    let known = try db.first("SELECT min(number), max(number) FROM removal") { row in
      (first: try row[0] as Int, last: try row[1] as Int)
    }
    guard let known, mark.number >= known.first &- 1, mark.number <= known.last else { return false }
    let own = CacheRemovals.hashes(of: key)
    let found = try db.first(
      "SELECT 1 FROM removal WHERE number > \(mark.number) AND (what IS NULL OR what IN \(list: own)) LIMIT 1",
      as: Int.self)
    return found == nil
  }
}
