import Foundation
import RequestBehaviors
import RequestBehaviorsCaching

/// A row that was read from the table of entries.
struct CacheRow: Sendable {
  let id: Int64
  var response: StoredResponse
  let bodySize: Int
  private let checksum: Int64
  private let file: String?

  private static let columns = """
    id, variant, status, headers, stored_at, received_at, initial_age, lifetime, flags, stale_while_revalidate, \
    stale_if_error, body_size, checksum, file
    """

  // This text is made once, because every request uses it; the rare conditions are made at each use.
  private static let selection = "SELECT \(columns) FROM entry WHERE \(keyCondition)"

  /// Returns the query for the variants of a key, the latest used first.
  static func selectVariants(of key: CacheKey) -> SQL {
    SQL(
      verbatim: "SELECT id, variant FROM entry WHERE \(keyCondition) ORDER BY last_used DESC, id DESC",
      arguments: arguments(of: key))
  }

  /// Returns the query for the rows that were used last.
  static func selectNewest(_ limit: Int) -> SQL {
    """
    SELECT \(sql: SQL(verbatim: columns)), url, scopes, discriminator FROM entry ORDER BY last_used DESC, id DESC
    LIMIT \(max(0, limit))
    """
  }

  /// Finds the most recent response of a key that a request matches, without its body.
  static func first(
    for key: CacheKey, matching request: HeaderFields, in db: Database
  ) throws -> CacheRow? {
    var best: CacheRow?
    try db.forEach(SQL(verbatim: selection, arguments: arguments(of: key))) { row in
      let variant = variant(try row[1])
      guard variant.matches(request) else { return }
      let candidate = try CacheRow(row, variant)
      if let best, !candidate.response.isMoreRecent(than: best.response) { return }
      best = candidate
    }
    return best
  }

  /// Reads a row without its body.
  init(_ row: SQLiteRow) throws { try self.init(row, CacheRow.variant(row[1])) }

  private init(_ row: SQLiteRow, _ variant: CacheVariant) throws {
    id = try row[0]
    bodySize = try row[11]
    checksum = try row[12]
    file = try row[13]
    // The numbers are positions in `columns`: reading by name would cost a search for each value.
    var terms = StoredTerms(
      responseTime: Date(timeIntervalSinceReferenceDate: try row[5]), initialAge: try row[6], lifetime: try row[7])
    let flags = Flags(rawValue: try row[8])
    terms.requiresValidation = flags.contains(.requiresValidation)
    terms.forbidsStale = flags.contains(.forbidsStale)
    terms.isImmutable = flags.contains(.isImmutable)
    terms.staleWhileRevalidate = try row[9]
    terms.staleIfError = try row[10]
    response = StoredResponse(
      statusCode: try row[2], headers: CacheRow.headers(try row[3]), body: Data(), variant: variant,
      storedAt: Date(timeIntervalSinceReferenceDate: try row[4]), terms: terms)
    response.verification = flags.verification
  }

  /// Reads the body from the database or its file.
  ///
  /// - Returns: Whether the body exists, with the length and the checksum that were stored.
  mutating func readBody(from db: Database, _ bodies: CacheBodies) throws -> Bool {
    let body: Data? =
      if let file { bodies.read(file) } else {
        try db.first("SELECT body FROM body WHERE id = \(id)") { row in try row[0] as Data }
      }
    guard let body, body.count == bodySize, CacheBodies.checksum(body) == checksum else { return false }
    response.body = body
    return true
  }

  /// Returns the key of a row of ``selectNewest(_:)``.
  static func key(of row: SQLiteRow) throws -> CacheKey {
    CacheKey(url: try row[14], scopes: scopes(try row[15]), discriminator: try row[16])
  }

  // MARK: - Conditions

  static func isOf(_ key: CacheKey) -> SQL { SQL(verbatim: keyCondition, arguments: arguments(of: key)) }

  private static let keyCondition = "url_hash = ? AND url = ? AND scopes = ? AND discriminator = ?"

  private static func arguments(of key: CacheKey) -> [any SQLBindable] {
    [hash(key.url), key.url, text(of: key.scopes), key.discriminator]
  }

  static func isOf(_ removal: CacheChange.Removal) -> SQL {
    switch removal {
    case .url(let url): "url_hash = \(hash(url)) AND url = \(url)"
    case .scope(let scope): "instr(char(10) || scopes, \("\n" + text(of: [scope]))) > 0"
    case .everything: "1"
    }
  }

  static func isSame(as response: StoredResponse, _ key: CacheKey) -> SQL {
    """
    \(sql: isOf(key)) AND received_at = \(response.receivedAt.timeIntervalSinceReferenceDate) \
    AND stored_at = \(response.storedAt.timeIntervalSinceReferenceDate) AND variant = \(text(of: response.variant))
    """
  }

  /// Returns the number of a removal; `nil` for the removal of everything.
  static func hash(of removal: CacheChange.Removal) -> Int64? {
    switch removal {
    case .url(let url): CacheRemovals.hash(url: url)
    case .scope(let scope): CacheRemovals.hash(scope: scope)
    case .everything: nil
    }
  }

  /// Returns the number of a URL in the index; the texts are compared, too.
  static func hash(_ url: String) -> Int64 { CacheRemovals.hash(url: url) }
}
