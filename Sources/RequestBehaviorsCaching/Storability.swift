import Foundation
import RequestBehaviors

/// The rules for storing a response (RFC 9111 §3).
enum Storability {
  /// Decides whether a response may be stored.
  ///
  /// The cache is private: `private` allows storing, `Authorization` does not forbid it, and `s-maxage` is ignored. The
  /// completeness of a response is checked by ``isComplete(_:_:)``, its owner by `CacheExchange.refusal(of:_:)`.
  ///
  /// - Parameters:
  ///   - statusCode: The status of the response.
  ///   - headers: The header fields of the response.
  ///   - method: The method of the request.
  ///   - url: The URL of the request.
  /// - Returns: The reason for which it must not be stored; `nil` if it may be.
  static func refusal(
    statusCode: Int, headers: HeaderFields, method: RequestMethod, url: URL
  ) -> CacheRefusal? {
    let control = CacheControl(headers)
    guard [.get, .query, .post].contains(method) else { return .method }
    switch statusCode {
    case 206: return .partial
    case 304: return .notModified
    case 412, 416: return .conditional
    case ..<200: return .status
    default: break
    }
    // A body without an end is not collected to be stored.
    if let type = MediaType(headers[.contentType] ?? ""), type.isEndless { return .endless }
    if let refusal = refusal(by: control, statusCode) { return refusal }
    let hasExplicitFreshness = control.contains("max-age") || headers.contains("Expires")
    if method == .post {
      guard hasExplicitFreshness, isLocated(headers, at: url) else { return .postWithoutLocation }
    }
    let isAllowed = hasExplicitFreshness || control.contains("public") || control.contains("private")
    return isAllowed || CacheableStatus.isHeuristicallyCacheable(statusCode) ? nil : .status
  }

  /// Whether the directives of a response forbid to store it.
  static func isForbidden(_ statusCode: Int, _ headers: HeaderFields) -> Bool {
    refusal(by: CacheControl(headers), statusCode) != nil
  }

  private static func refusal(by control: CacheControl, _ statusCode: Int) -> CacheRefusal? {
    // A server that sends `must-understand` adds `no-store` for caches that do not know `must-understand`.
    if control.contains("must-understand") {
      return CacheableStatus.isUnderstood(statusCode) ? nil : .notUnderstood
    }
    return control.contains("no-store") ? .responseForbids : nil
  }

  /// Whether the response is the one that a GET of the URL would get (RFC 9110 §9.3.3).
  private static func isLocated(_ headers: HeaderFields, at url: URL) -> Bool {
    guard let location = headers[.contentLocation], let resolved = CacheInvalidation.resolve(location, against: url)
    else { return false }
    return CacheKey.text(of: resolved) == CacheKey.text(of: url)
  }

  /// Whether a body has the length that the response declares.
  ///
  /// A transport that decodes the body leaves the length of the encoded body in the fields, so that length is not
  /// compared.
  static func isComplete(_ length: Int, _ headers: HeaderFields) -> Bool {
    guard !headers.contains("Content-Encoding"), let text = headers[.contentLength], let told = Int(text) else {
      return true
    }
    return told == length
  }
}
