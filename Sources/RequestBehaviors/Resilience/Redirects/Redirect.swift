import Foundation

/// What a 3xx answer to a request means (RFC 9110 §15.4): values in, value out.
enum Redirect {
  /// What to do.
  enum Decision {
    /// The answer is no redirect to follow: it is the outcome.
    case stay
    /// Send this request next.
    case follow(NetworkRequest)
  }

  /// Decides what a response to a request leads to.
  ///
  /// - Parameters:
  ///   - response: The answer.
  ///   - request: The request that it answers, as the redirecting behavior sent it inward.
  ///   - policy: What the user wants.
  /// - Returns: Whether to stay, or what to send next.
  /// - Throws: ``NetworkError`` of code `redirectFailed` for a location that must not be followed.
  static func decide(
    _ response: NetworkResponse, to request: NetworkRequest, policy: RedirectPolicy
  ) throws -> Decision {
    guard [301, 302, 303, 307, 308].contains(response.statusCode) else { return .stay }
    guard let location = response.headers["Location"], !location.isEmpty else { return .stay }
    let target = try resolve(location, against: request.url, response)
    var next = rewritten(request, status: response.statusCode)
    next.url = target
    next.endpoint = target.path(percentEncoded: true)
    if next.origin != request.origin {
      if next.body != nil, !policy.sendsBodyToOtherOrigins { return .stay }
      leaveOrigin(&next)
    }
    guard next.body?.isReplayable != false else { return .stay }
    return .follow(next)
  }

  /// Resolves a location (RFC 3986 §5.2), carrying the fragment over (RFC 9110 §10.2.2).
  private static func resolve(_ location: String, against base: URL, _ response: NetworkResponse) throws -> URL {
    let text = PercentEncoding.repair(location) { PercentEncoding.isQueryCharacter($0) || "#[]".utf8.contains($0) }
    guard let reference = URLComponents(string: text) else {
      throw failure("the location is no URL reference", response)
    }
    let resolved: URL
    do {
      resolved = try RequestURL.check(try reference.resolved(against: base))
    } catch let error as NetworkError {
      throw failure(error.message, response)
    }
    if base.scheme?.lowercased() == "https", resolved.scheme != "https" {
      throw failure("it leads from https to http, where anybody can read and change it", response)
    }
    return resolved
  }

  private static func failure(_ reason: String, _ response: NetworkResponse) -> NetworkError {
    NetworkError(
      .redirectFailed, "the \(response.statusCode) redirect was not followed: \(reason)", response: response)
  }

  /// Changes the method where the status asks for it: 303 to GET (but HEAD), 301 and 302 POST to GET.
  private static func rewritten(_ request: NetworkRequest, status: Int) -> NetworkRequest {
    var next = request
    let becomesGet =
      switch status {
      case 303: request.method != .head && request.method != .get
      case 301, 302: request.method == .post
      default: false
      }
    guard becomesGet else { return next }
    next.method = .get
    next.body = nil
    next.headers.removeAll { field in
      field.name.lowercased().hasPrefix("content-") || HTTPHeaders.areEqual(field.name, "Transfer-Encoding")
    }
    return next
  }

  /// Takes away what was for the origin that is left; what is gone stays gone on the hops that follow.
  private static func leaveOrigin(_ request: inout NetworkRequest) {
    request.headers.removeAll { field in
      field.isSensitive
        || ["Authorization", "Cookie", "Proxy-Authorization", "Host", "Origin"]
          .contains { HTTPHeaders.areEqual($0, field.name) }
    }
    request.options = request.options.portable()
  }
}

extension URLComponents {
  /// Resolves this reference against a base (RFC 3986 §5.2.2).
  fileprivate func resolved(against base: URL) throws -> URL {
    guard var target = URLComponents(url: base, resolvingAgainstBaseURL: true) else {
      throw NetworkError.invalidURL("the base has no parts")
    }
    let baseFragment = target.percentEncodedFragment
    if scheme != nil || encodedHost != nil {
      let baseScheme = target.scheme
      target = self
      if target.scheme == nil { target.scheme = baseScheme }
    } else if percentEncodedPath.isEmpty {
      if percentEncodedQuery != nil { target.percentEncodedQuery = percentEncodedQuery }
    } else {
      let directory = target.percentEncodedPath.prefix(through: target.percentEncodedPath.lastIndex(of: "/"))
      let isRooted = percentEncodedPath.hasPrefix("/")
      target.percentEncodedPath = isRooted ? percentEncodedPath : directory + percentEncodedPath
      target.percentEncodedQuery = percentEncodedQuery
    }
    target.percentEncodedFragment = percentEncodedFragment ?? baseFragment
    guard let url = target.url else { throw NetworkError.invalidURL("the location is no URL") }
    return url
  }
}

extension String {
  fileprivate func prefix(through index: String.Index?) -> String {
    index.map { String(self[...$0]) } ?? "/"
  }
}
