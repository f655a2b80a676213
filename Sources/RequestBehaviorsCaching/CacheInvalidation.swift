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
    let others = ["Location", "Content-Location"].flatMap { headers.values(for: $0) }
      .compactMap { resolve($0, against: url) }.filter { Origin($0) == Origin(url) }
    return unique(([url] + others).map { CacheKey.text(of: $0) })
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
    return unique(urls)
  }

  /// Returns the URLs whose stored responses must be removed after an unsafe request, whatever became of it.
  ///
  /// RFC 9111 §4.4 requires it for a response that is not an error. The server may also have carried out a send that
  /// was cancelled or whose response was lost, and later sends do not tell. A removal in vain costs one request.
  ///
  /// - Parameters:
  ///   - outcome: The outcome of the request.
  ///   - request: The request.
  ///   - sends: The sends of the request, also of a safe one that it was redirected to.
  /// - Returns: The URLs of `urls(after:to:)` for a verified response. If the server may have carried out a send
  ///   without a response, also the URL of the request and that of the send.
  static func urls(
    after outcome: Result<NetworkResponse, any Error>, of request: NetworkRequest, _ sends: ArraySlice<Attempt>
  ) -> [String] {
    var lost = sends.filter(\.isLost)
    var urls: [String] = []
    switch outcome {
    case .success(let response): if response.isVerified { urls = CacheInvalidation.urls(after: response, to: request) }
    case .failure(let error):
      let error = error as? NetworkError
      guard let last = sends.last else { return [] }
      if error?.progress?.stage == .notSent, lost.last?.number == last.number { lost.removeLast() }
      // A behavior further in may refuse a successful response. One that cannot be trusted is not the server's.
      if last.hasSucceeded, error?.code != .intercepted { lost.append(last) }
    }
    if !lost.isEmpty { urls += ([request.url] + lost.map(\.url)).map { CacheKey.text(of: $0) } }
    return unique(urls)
  }

  private static func unique(_ urls: [String]) -> [String] {
    var seen: Set<String> = []
    return urls.filter { seen.insert($0).inserted }
  }

  /// Resolves a reference in a response (RFC 3986 §5).
  static func resolve(_ reference: String, against url: URL) -> URL? {
    // An empty reference is the document itself (§4.4), and Foundation does not resolve it.
    reference.isEmpty ? url : URL(string: reference, relativeTo: url)?.absoluteURL.standardized
  }
}

extension Attempt {
  /// Whether the server may have carried out an unsafe send whose response did not arrive.
  fileprivate var isLost: Bool {
    if method.isSafe || outcome.hasFailed(with: .intercepted) { return false }
    if case .response = outcome { return false }
    return mayHaveArrived
  }

  /// Whether an unsafe send has a response that is not an error.
  fileprivate var hasSucceeded: Bool {
    guard !method.isSafe, case .response(let statusCode, _) = outcome else { return false }
    return (200...399).contains(statusCode)
  }
}
