public import Foundation
public import RequestBehaviors

/// A response in a cache, with everything that is needed to use it again.
public struct StoredResponse: Sendable, Hashable {
  /// The status code.
  public let statusCode: Int

  /// The header fields, without those that are not stored (RFC 9111 §3.1).
  public let headers: HeaderFields

  /// The whole body.
  public var body: Data

  /// The fields of the request that selected the response.
  public let variant: CacheVariant

  /// When the response was stored for the first time; a validation does not change it.
  public let storedAt: Date

  /// When the response, or the latest 304 about it, was received.
  public var receivedAt: Date { terms.responseTime }

  /// The terms on which it may be used.
  package let terms: StoredTerms

  /// The result of verifying the origin of the response.
  package var verification = NetworkResponse.Verification.none

  /// Creates a stored response, for a store that reads it back.
  package init(
    statusCode: Int, headers: HeaderFields, body: Data, variant: CacheVariant, storedAt: Date, terms: StoredTerms
  ) {
    self.statusCode = statusCode
    self.headers = headers
    self.body = body
    self.variant = variant
    self.storedAt = storedAt
    self.terms = terms
  }

  /// The approximate number of bytes that the response takes in memory.
  public var size: Int {
    headers.reduce(body.count + 256) { $0 + $1.name.utf8.count + $1.value.utf8.count + 32 }
  }

  /// Whether it is more recent than another response that the same request matches.
  ///
  /// If a request matches several responses, a store returns the most recent one (RFC 9111 §4).
  ///
  /// The response that was generated later, by `Date` and `Age`, is more recent. Of two that were generated at the same
  /// time, the one that was received later is more recent.
  public func isMoreRecent(than other: StoredResponse) -> Bool {
    let ages = (terms.generatedAt, other.terms.generatedAt)
    return ages.0 == ages.1 ? terms.responseTime >= other.terms.responseTime : ages.0 > ages.1
  }

  /// Whether two values are the same response and were received at the same time, for ``CacheStore/update(_:to:for:)``
  /// and ``CacheStore/remove(_:for:)``.
  public func isSame(as other: StoredResponse) -> Bool {
    receivedAt == other.receivedAt && storedAt == other.storedAt && variant == other.variant
  }
}

extension StoredTerms {
  /// When the response was generated, by its `Date` and `Age`.
  var generatedAt: Date { responseTime.addingTimeInterval(-initialAge) }
}

extension StoredResponse {
  /// Creates the stored form of a response.
  ///
  /// - Returns: `nil` if no later request can match it.
  init?(
    _ response: NetworkResponse, body: Data, to request: NetworkRequest, requestTime: Date, responseTime: Date,
    policy: CachePolicy
  ) {
    guard let variant = CacheVariant(of: response.headers, to: request.headers) else { return nil }
    let terms = StoredTerms(
      response.headers, statusCode: response.statusCode, requestTime: requestTime, responseTime: responseTime,
      policy: policy)
    var headers = StoredFields.stored(of: response.headers)
    // RFC 9110 §6.6.1: a response without a date gets that of its arrival.
    if !headers.contains("Date") { headers.set("Date", HTTPDate.text(of: responseTime)) }
    self.init(
      statusCode: response.statusCode, headers: headers, body: body, variant: variant, storedAt: responseTime,
      terms: terms)
    verification = response.verification
  }

  /// Returns the response with the updates of a 304, or of a response to a HEAD (RFC 9111 §4.3.4, §4.3.5).
  ///
  /// - Returns: The updated response; `nil` if no later request can match it any more.
  func updated(
    by newer: HeaderFields, to request: NetworkRequest, requestTime: Date, responseTime: Date, policy: CachePolicy
  ) -> StoredResponse? {
    let merged = StoredFields.updated(headers, by: newer)
    guard let variant = CacheVariant(of: merged, to: request.headers) else { return nil }
    // The age is that of the newer response, with the directives that are now in force.
    var current = merged
    for name in ["Age", "Date"] { current[name] = newer[name] }
    let terms = StoredTerms(
      current, statusCode: statusCode, requestTime: requestTime, responseTime: responseTime, policy: policy)
    var updated = StoredResponse(
      statusCode: statusCode, headers: merged, body: body, variant: variant, storedAt: storedAt, terms: terms)
    updated.verification = verification
    return updated
  }
}
