import Foundation
import RequestBehaviors

/// The encoded form of a response for your own store, which may be encrypted, shared, or part of a database.
///
/// The whole value is encoded, with the body as `Data`. A store that keeps the body elsewhere empties ``body`` before
/// it encodes, and sets it after it has decoded. A binary property list contains the bytes of a body as they are; JSON
/// contains them as text that is a third longer.
///
/// Every field is decoded as it was, whatever strategies the encoder has. A header field that is marked as a secret
/// stays a secret, for every origin.
extension StoredResponse: Codable {
  private enum CodingKeys: CodingKey {
    case statusCode, headers, body, variant, storedAt, terms, verification
  }

  /// Encodes the response.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(statusCode, forKey: .statusCode)
    try container.encode(headers.map(CodableField.init), forKey: .headers)
    try container.encode(body, forKey: .body)
    try container.encode(variant, forKey: .variant)
    // It is not encoded as a date: an encoder may cut off the fraction of a second, which separates responses.
    try container.encode(storedAt.timeIntervalSinceReferenceDate, forKey: .storedAt)
    try container.encode(CodableTerms(terms), forKey: .terms)
    try container.encode(verification, forKey: .verification)
  }

  /// Decodes a response.
  ///
  /// - Throws: `DecodingError`, also for a number that no response can have; the cache then goes on as if nothing were
  ///   stored.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let storedAt = try container.decode(TimeInterval.self, forKey: .storedAt)
    let terms = try container.decode(CodableTerms.self, forKey: .terms)
    let statusCode = try container.decode(Int.self, forKey: .statusCode)
    guard storedAt.isFinite, terms.isValid, (100...999).contains(statusCode) else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "no response has these numbers"))
    }
    self.init(
      statusCode: statusCode,
      headers: HeaderFields(try container.decode([CodableField].self, forKey: .headers).map(\.field)),
      body: try container.decode(Data.self, forKey: .body),
      variant: try container.decode(CacheVariant.self, forKey: .variant),
      storedAt: Date(timeIntervalSinceReferenceDate: storedAt), terms: terms.terms)
    verification = try container.decode(NetworkResponse.Verification.self, forKey: .verification)
  }
}

/// A header field as it is encoded.
private struct CodableField: Codable {
  let name: String
  let value: String
  /// Whether the value is a secret; missing if it is not.
  let isSecret: Bool?

  init(_ field: HeaderFields.Field) {
    (name, value) = (field.name, field.value)
    isSecret = field.isSensitive ? true : nil
  }

  var field: HeaderFields.Field { HeaderFields.Field(name, value, sensitive: isSecret == true ? .any : nil) }
}

/// Terms as they are encoded: dates are in seconds since 2001, and a value that is not set is missing.
private struct CodableTerms: Codable {
  let responseTime: TimeInterval
  let initialAge: TimeInterval
  let lifetime: TimeInterval
  let requiresValidation: Bool
  let forbidsStale: Bool
  let isImmutable: Bool
  let staleWhileRevalidate: TimeInterval?
  let staleIfError: TimeInterval?

  init(_ terms: StoredTerms) {
    responseTime = terms.responseTime.timeIntervalSinceReferenceDate
    initialAge = terms.initialAge
    lifetime = terms.lifetime
    requiresValidation = terms.requiresValidation
    forbidsStale = terms.forbidsStale
    isImmutable = terms.isImmutable
    staleWhileRevalidate = terms.staleWhileRevalidate
    staleIfError = terms.staleIfError
  }

  var isValid: Bool {
    initialAge >= 0
      && [responseTime, initialAge, lifetime, staleWhileRevalidate ?? 0, staleIfError ?? 0].allSatisfy(\.isFinite)
  }

  var terms: StoredTerms {
    var terms = StoredTerms(
      responseTime: Date(timeIntervalSinceReferenceDate: responseTime), initialAge: initialAge, lifetime: lifetime)
    terms.requiresValidation = requiresValidation
    terms.forbidsStale = forbidsStale
    terms.isImmutable = isImmutable
    terms.staleWhileRevalidate = staleWhileRevalidate
    terms.staleIfError = staleIfError
    return terms
  }
}
