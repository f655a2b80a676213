import Foundation
import RequestBehaviors

/// The rules for storing a response (RFC 9111 §3).
enum Storability {
  /// Decides whether a response may be stored.
  ///
  /// The cache is private: `private` allows storing, `Authorization` does not forbid it, and `s-maxage` is ignored. The
  /// cache checks the completeness and the owner of a response elsewhere.
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
    // A server that sends `must-understand` adds `no-store` for caches that do not know `must-understand`.
    let isUnderstood = CacheableStatus.isUnderstood(statusCode)
    if control.contains("must-understand") {
      if !isUnderstood { return .notUnderstood }
    } else if control.contains("no-store") {
      return .responseForbids
    }
    let hasExplicitFreshness = control.contains("max-age") || headers.contains("Expires")
    if method == .post {
      guard hasExplicitFreshness, isLocated(headers, at: url) else { return .postWithoutLocation }
    }
    let isAllowed = hasExplicitFreshness || control.contains("public") || control.contains("private")
    return isAllowed || CacheableStatus.isHeuristicallyCacheable(statusCode) ? nil : .status
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

/// The URLs that an unsafe request makes invalid (RFC 9111 §4.4).
enum CacheInvalidation {
  /// Returns the URLs whose stored responses must be removed after a response to an unsafe request.
  ///
  /// - Returns: The URL of the request, and those of `Location` and `Content-Location` on the same origin; empty for a
  ///   safe method and for an error response.
  static func urls(
    statusCode: Int, headers: HeaderFields, method: RequestMethod, url: URL
  ) -> [String] {
    guard !method.isSafe, (200...399).contains(statusCode) else { return [] }
    let others = ["Location", "Content-Location"].compactMap { headers[$0] }
      .compactMap { resolve($0, against: url) }.filter { Origin($0) == Origin(url) }
    var seen: Set<String> = []
    return ([url] + others).map { CacheKey.text(of: $0) }.filter { seen.insert($0).inserted }
  }

  /// Returns the URLs whose stored responses must be removed after a request, which may have been redirected.
  ///
  /// - Returns: The URL of the request, the URLs of an unsafe request that it was redirected to, and the target of a
  ///   redirect within the origin.
  static func urls(after response: NetworkResponse, to request: NetworkRequest) -> [String] {
    let (status, headers, last) = (response.statusCode, response.headers, response.request)
    var urls = urls(statusCode: status, headers: headers, method: request.method, url: request.url)
    if !urls.isEmpty, !last.method.isSafe {
      urls += CacheInvalidation.urls(statusCode: status, headers: headers, method: last.method, url: last.url)
    } else if !urls.isEmpty, last.origin == request.origin {
      urls.append(CacheKey.text(of: last.url))
    }
    var seen: Set<String> = []
    return urls.filter { seen.insert($0).inserted }
  }

  /// Resolves a reference in a response (RFC 3986 §5).
  static func resolve(_ reference: String, against url: URL) -> URL? {
    // An empty reference is the document itself (§4.4), and Foundation does not resolve it.
    reference.isEmpty ? url : URL(string: reference, relativeTo: url)?.absoluteURL.standardized
  }
}
