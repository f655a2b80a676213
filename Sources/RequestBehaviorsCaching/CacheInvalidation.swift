import Foundation
import RequestBehaviors

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
