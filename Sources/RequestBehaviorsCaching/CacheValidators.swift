import Foundation
import RequestBehaviors

/// The validators of a stored response, by which the server tells whether it is still current (RFC 9110 §8.8).
struct CacheValidators: Sendable, Hashable {
  /// The value of `ETag`.
  let etag: String?
  /// The value of `Last-Modified`, if it is a date.
  let lastModified: String?

  /// Reads the validators of a response; a value that the cache could not send back is left out.
  init(_ headers: HeaderFields) {
    etag = headers[.eTag].flatMap { $0.isEmpty || !HTTPSyntax.isFieldValue($0) ? nil : $0 }
    let modified = headers[.lastModified]
    lastModified = modified.flatMap {
      HTTPDate.strictDate(from: $0, now: Date(timeIntervalSince1970: 0)) == nil ? nil : $0
    }
  }

  /// Whether the response has no validator.
  var isEmpty: Bool { etag == nil && lastModified == nil }

  /// The names of the fields that make a request conditional (RFC 9110 §13.1).
  static let conditions = HeaderFields.conditions

  /// Whether a request has conditions of its own.
  static func areConditions(in request: HeaderFields) -> Bool { conditions.contains { request.contains($0) } }

  /// The fields that ask whether the stored response is still good (RFC 9111 §4.3.1).
  ///
  /// A date is sent besides an entity tag, for servers that know only dates.
  var conditionalFields: HeaderFields {
    var fields = HeaderFields()
    if let etag { fields.set("If-None-Match", etag) }
    if let lastModified { fields.set("If-Modified-Since", lastModified) }
    return fields
  }

  /// Whether a 304 is about the response with these validators (RFC 9111 §4.3.4).
  ///
  /// A 304 without validators is about the response whose validators were sent.
  func isConfirmed(by notModified: HeaderFields) -> Bool {
    let other = CacheValidators(notModified)
    if let theirs = other.etag {
      if !EntityTag.isWeak(theirs) { return etag == theirs }
      if let etag { return EntityTag.areWeaklyEqual(etag, theirs) }
      // A tag that the stored response does not have was not asked for: only the date can show that they are the same.
      return lastModified != nil && other.lastModified == lastModified
    }
    guard let theirs = other.lastModified, let lastModified else { return true }
    return theirs == lastModified
  }

  /// Whether a response to a HEAD is about the same content as a stored response to a GET (RFC 9111 §4.3.5).
  static func describesSameContent(_ head: HeaderFields, as stored: HeaderFields) -> Bool {
    ["ETag", "Last-Modified", "Content-Length"].allSatisfy { name in
      guard let value = head[name] else { return true }
      return value == stored[name]
    }
  }
}

/// The conditions of the user's own request, evaluated on a stored response (RFC 9111 §4.3.2).
enum ReceivedConditions {
  /// The response to a request with conditions that a stored response allows.
  enum Answer: Equatable {
    /// The whole response.
    case full
    /// 304: the user has it already.
    case notModified
    /// Only the server can evaluate the condition.
    case unknown
  }

  /// Evaluates the conditions of a request.
  ///
  /// `If-None-Match` goes before `If-Modified-Since` (RFC 9110 §13.2.2).
  static func evaluate(_ request: HeaderFields, on stored: StoredResponse) -> Answer {
    // RFC 9111 §4.3.2: only the origin evaluates the conditions that guard a change. `If-Range` is left to it, too.
    guard !["If-Match", "If-Unmodified-Since", "If-Range"].contains(where: { request.contains($0) }) else {
      return .unknown
    }
    guard stored.statusCode == 200 else {
      return CacheValidators.areConditions(in: request) ? .unknown : .full
    }
    if let tags = request["If-None-Match"] {
      return matches(tags, stored.headers[.eTag]) ? .notModified : .full
    }
    // Without `Last-Modified`, the `Date` or the time of arrival counts as the last change (RFC 9111 §4.3.2).
    guard let since = request["If-Modified-Since"] else { return .full }
    let now = stored.terms.responseTime
    guard let limit = HTTPDate.strictDate(from: since, now: now) else { return .full }
    let changed = ["Last-Modified", "Date"].lazy.compactMap { name in
      stored.headers[name].flatMap { HTTPDate.strictDate(from: $0, now: now) }
    }.first
    return (changed ?? now) <= limit ? .notModified : .full
  }

  private static func matches(_ tags: String, _ etag: String?) -> Bool {
    if tags == "*" { return true }
    guard let etag else { return false }
    return FieldList.members(of: tags).contains { EntityTag.areWeaklyEqual(String($0), etag) }
  }
}
