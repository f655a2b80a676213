import Foundation
import RequestBehaviors
import RequestBehaviorsCaching

extension CacheRow {
  /// The properties of a response that are true or false.
  struct Flags: OptionSet {
    let rawValue: Int

    static let requiresValidation = Flags(rawValue: 1)
    static let forbidsStale = Flags(rawValue: 2)
    static let isImmutable = Flags(rawValue: 4)
    static let isVerified = Flags(rawValue: 8)
    static let isUnverified = Flags(rawValue: 16)

    init(rawValue: Int) { self.rawValue = rawValue }

    init(_ response: StoredResponse) {
      self = []
      if response.terms.requiresValidation { insert(.requiresValidation) }
      if response.terms.forbidsStale { insert(.forbidsStale) }
      if response.terms.isImmutable { insert(.isImmutable) }
      switch response.verification {
      case .none: break
      case .verified: insert(.isVerified)
      case .unverified: insert(.isUnverified)
      }
    }

    var verification: NetworkResponse.Verification {
      if contains(.isUnverified) { return .unverified }
      return contains(.isVerified) ? .verified : .none
    }
  }

  static let insertion = """
    INSERT INTO entry (\((identityColumns + termColumns).joined(separator: ", ")), last_used, file)
    VALUES (\(repeatElement("?", count: identityColumns.count + termColumns.count + 2).joined(separator: ", ")))
    """

  /// The assignments of an update, with parameters for ``Values/terms`` and ``Values/headSize``.
  static let assignments = termColumns.map { "\($0) = ?, " }.joined() + "size = body_size + ?"

  private static let identityColumns = [
    "url_hash", "url", "scopes", "discriminator", "variant", "stored_at", "body_size", "checksum", "size",
  ]

  private static let termColumns = [
    "status", "headers", "received_at", "initial_age", "lifetime", "flags", "stale_while_revalidate", "stale_if_error",
  ]

  /// The values of a response that are written to its row.
  struct Values: Sendable {
    let key: CacheKey
    let response: StoredResponse

    /// - Throws: ``SQLiteError`` for a field with a line break, which no server can have sent.
    init(_ response: StoredResponse, key: CacheKey) throws {
      self.key = key
      self.response = response
      // Lines separate the fields.
      let values = response.headers.map(\.value) + response.variant.fields.compactMap(\.value)
      guard !values.contains(where: { $0.utf8.contains(0x0A) }) else {
        throw SQLiteError(.mismatch, "a field of the response has a line break")
      }
    }

    /// The values that do not change while the response is stored.
    var identity: [any SQLBindable] {
      [
        CacheRow.hash(key.url), key.url, CacheRow.text(of: key.scopes), key.discriminator,
        CacheRow.text(of: response.variant), response.storedAt.timeIntervalSinceReferenceDate, response.body.count,
        CacheBodies.checksum(response.body), response.size,
      ]
    }

    /// The values that a 304 changes.
    var terms: [any SQLBindable] {
      let terms = response.terms
      return [
        response.statusCode, CacheRow.text(of: response.headers), terms.responseTime.timeIntervalSinceReferenceDate,
        terms.initialAge, terms.lifetime, Flags(response).rawValue, terms.staleWhileRevalidate, terms.staleIfError,
      ]
    }

    /// The size of all but the body.
    var headSize: Int { response.size - response.body.count }
  }
}

// MARK: - Texts

extension CacheRow {
  /// Returns a line for each owner, with a line break at its end.
  static func text(of scopes: [String]) -> String { EscapedLines.cache.join(scopes + [""]) }

  /// Reads ``text(of:)-([String])``.
  static func scopes(_ text: String) -> [String] { EscapedLines.cache.split(text).dropLast() }

  /// Returns a line for each field: the name alone, or with its value.
  static func text(of variant: CacheVariant) -> String {
    variant.fields.map { field in field.value.map { "\(field.name):\($0)" } ?? field.name }.joined(separator: "\n")
  }

  static func variant(_ text: String) -> CacheVariant {
    CacheVariant(
      fields: text.unicodeScalars.split(separator: "\n").map { line in
        let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        return CacheVariant.Field(name: String(parts[0]), value: parts.count > 1 ? String(parts[1]) : nil)
      })
  }

  /// Returns a line for each field, with a mark at a secret.
  static func text(of headers: HeaderFields) -> String {
    headers.map { "\($0.name):\($0.isSensitive ? "!" : " ")\($0.value)" }.joined(separator: "\n")
  }

  static func headers(_ text: String) -> HeaderFields {
    var text = text
    return text.withUTF8 { bytes in
      var fields: [HeaderFields.Field] = []
      fields.reserveCapacity(16)
      var (start, colon) = (0, Int?.none)
      // The fields are read in one pass over the bytes, because every hit reads them.
      for index in 0...bytes.count {
        if index < bytes.count, bytes[index] != 0x0A {
          if colon == nil, bytes[index] == 0x3A { colon = index }
          continue
        }
        // After the name come a colon, the mark of a secret or a space, and the value.
        if let colon, index - colon >= 2 {
          let (name, value) = (bytes[start..<colon], bytes[(colon + 2)..<index])
          fields.append(
            HeaderFields.Field(
              String(decoding: UnsafeBufferPointer(rebasing: name), as: UTF8.self),
              String(decoding: UnsafeBufferPointer(rebasing: value), as: UTF8.self),
              sensitive: bytes[colon + 1] == 0x21 ? .any : nil))
        }
        (start, colon) = (index + 1, nil)
      }
      return HeaderFields(fields)
    }
  }
}
