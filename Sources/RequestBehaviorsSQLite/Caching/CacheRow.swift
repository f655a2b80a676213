import Foundation
import RequestBehaviors

/// A row of the table of entries, read.
struct CacheRow: Sendable {
  let id: Int64
  var response: StoredResponse
  let bodySize: Int

  private static let columns = """
    entry.id, variant, status, headers, stored_at, received_at, initial_age, lifetime, flags, stale_while_revalidate, \
    stale_if_error, body_size, file
    """

  /// The rows of a key, each with its body, which is not read unless somebody asks for it.
  static func select(_ key: CacheKey) -> SQL { SQL(verbatim: selection, arguments: arguments(of: key)) }

  // Not put together for each request, as the conditions of what is rare are.
  private static let selection =
    "SELECT \(columns), body FROM entry LEFT JOIN body ON body.id = entry.id WHERE \(keyCondition)"

  /// The rows that were used last.
  static func selectNewest(_ limit: Int) -> SQL {
    """
    SELECT \(sql: SQL(verbatim: columns)), url, scopes, discriminator FROM entry ORDER BY last_used DESC, id DESC
    LIMIT \(max(0, limit))
    """
  }

  /// Reads a row of ``select(_:)`` or ``selectNewest(_:)`` without its body.
  init(_ row: SQLiteRow) throws {
    id = try row[0]
    bodySize = try row[11]
    var terms = ReuseTerms(
      responseTime: Date(timeIntervalSince1970: try row[5]), initialAge: try row[6], lifetime: try row[7])
    let flags: Int = try row[8]
    terms.requiresValidation = flags & Flag.requiresValidation != 0
    terms.forbidsStale = flags & Flag.forbidsStale != 0
    terms.isImmutable = flags & Flag.isImmutable != 0
    terms.staleWhileRevalidate = try row[9]
    terms.staleIfError = try row[10]
    response = StoredResponse(
      statusCode: try row[2], headers: CacheRow.headers(try row[3]), body: Data(),
      variant: CacheRow.variant(try row[1]), storedAt: Date(timeIntervalSince1970: try row[4]), terms: terms)
    if flags & Flag.isVerified != 0 { response.verification = .verified }
  }

  /// Returns the row with the body that the database or a file has.
  func withBody(of row: SQLiteRow, _ bodies: CacheBodies) throws -> CacheRow {
    var whole = self
    let file: String? = try row[12]
    let body: Data? = if let file { bodies.read(file) } else { try row[13] }
    whole.response.body = body ?? Data()
    return whole
  }

  /// Whether the body has the length that it was stored with.
  var isComplete: Bool { response.body.count == bodySize }

  /// Returns the key of a row of ``selectNewest(_:)``.
  static func key(of row: SQLiteRow) throws -> CacheKey {
    let scopes: String = try row[14]
    return CacheKey(
      url: try row[13], scopes: scopes.split(separator: "\n").map(String.init), discriminator: try row[15])
  }

  // MARK: - Conditions

  static func isOf(_ key: CacheKey) -> SQL { SQL(verbatim: keyCondition, arguments: arguments(of: key)) }

  private static let keyCondition = "url_hash = ? AND url = ? AND scopes = ? AND discriminator = ?"

  private static func arguments(of key: CacheKey) -> [any SQLBindable] {
    [hash(key.url), key.url, scopes(of: key), key.discriminator]
  }

  private static func scopes(of key: CacheKey) -> String {
    // Mostly there is one or none.
    key.scopes.count > 1 ? key.scopes.joined(separator: "\n") : key.scopes.first ?? ""
  }

  static func isOf(url: String) -> SQL { "url_hash = \(hash(url)) AND url = \(url)" }

  static func isOf(scope: String) -> SQL {
    let line = "\n\(scope)\n"
    return "instr(char(10) || scopes || char(10), \(line)) > 0"
  }

  static func isSame(as response: StoredResponse, _ key: CacheKey) -> SQL {
    """
    \(sql: isOf(key)) AND received_at = \(response.receivedAt.timeIntervalSince1970) \
    AND variant = \(text(of: response.variant))
    """
  }

  /// FNV-1a, for an index of integers; the texts are compared, too.
  static func hash(_ text: String) -> Int64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return Int64(bitPattern: hash)
  }
}

// MARK: - Values

extension CacheRow {
  enum Flag {
    static let requiresValidation = 1
    static let forbidsStale = 2
    static let isImmutable = 4
    static let isVerified = 8
  }

  static let insertion = """
    INSERT INTO entry (url_hash, url, scopes, discriminator, variant, status, stored_at, \(termColumns.joined(separator: ", ")),
      body_size, last_used, file)
    VALUES (\(repeatElement("?", count: 10 + termColumns.count).joined(separator: ", ")))
    """

  /// What an update sets, with parameters for ``Values/terms``.
  static let assignments = termColumns.map { "\($0) = ?" }.joined(separator: ", ")

  private static let termColumns = [
    "headers", "received_at", "initial_age", "lifetime", "flags", "stale_while_revalidate", "stale_if_error", "size",
  ]

  /// What a response is written as.
  struct Values: Sendable {
    let key: CacheKey
    let response: StoredResponse
    let minute: Int

    /// - Throws: ``SQLiteError`` for a field with a line break, which no server can have sent.
    init(_ response: StoredResponse, key: CacheKey, minute: Int) throws {
      self.key = key
      self.response = response
      self.minute = minute
      // Lines separate the fields.
      let values = response.headers.map(\.value) + response.variant.fields.compactMap(\.value)
      guard !values.contains(where: { $0.utf8.contains(0x0A) }) else {
        throw SQLiteError(.mismatch, "a field of the response has a line break")
      }
    }

    /// What does not change while the response is stored.
    var identity: [any SQLBindable] {
      [
        CacheRow.hash(key.url), key.url, CacheRow.scopes(of: key), key.discriminator,
        CacheRow.text(of: response.variant), response.statusCode, response.storedAt.timeIntervalSince1970,
      ]
    }

    /// What a 304 changes.
    var terms: [any SQLBindable] {
      let terms = response.terms
      return [
        response.headers.map { "\($0.name): \($0.value)" }.joined(separator: "\n"),
        terms.responseTime.timeIntervalSince1970, terms.initialAge, terms.lifetime, flags, terms.staleWhileRevalidate,
        terms.staleIfError, response.size,
      ]
    }

    private var flags: Int {
      let terms = response.terms
      var flags = terms.requiresValidation ? Flag.requiresValidation : 0
      if terms.forbidsStale { flags |= Flag.forbidsStale }
      if terms.isImmutable { flags |= Flag.isImmutable }
      return response.verification == .verified ? flags | Flag.isVerified : flags
    }
  }

  /// A line for each field: the name alone, or with its value.
  static func text(of variant: CacheVariant) -> String {
    variant.fields.map { field in field.value.map { "\(field.name):\($0)" } ?? field.name }.joined(separator: "\n")
  }

  private static func variant(_ text: String) -> CacheVariant {
    guard !text.isEmpty else { return CacheVariant(fields: []) }
    return CacheVariant(
      fields: text.split(separator: "\n").map { line in
        let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        return CacheVariant.Field(name: String(parts[0]), value: parts.count > 1 ? String(parts[1]) : nil)
      })
  }

  private static func headers(_ text: String) -> HeaderFields {
    var text = text
    return text.withUTF8 { bytes in
      var fields: [HeaderFields.Field] = []
      fields.reserveCapacity(16)
      var (start, colon) = (0, Int?.none)
      for index in 0...bytes.count {
        if index < bytes.count, bytes[index] != 0x0A {
          if colon == nil, bytes[index] == 0x3A { colon = index }
          continue
        }
        if let colon, index - colon >= 2 {
          let (name, value) = (bytes[start..<colon], bytes[(colon + 2)..<index])
          fields.append(
            HeaderFields.Field(
              String(decoding: UnsafeBufferPointer(rebasing: name), as: UTF8.self),
              String(decoding: UnsafeBufferPointer(rebasing: value), as: UTF8.self)))
        }
        (start, colon) = (index + 1, nil)
      }
      return HeaderFields(fields)
    }
  }
}
