import Foundation

/// What a 3xx answer to a request means (RFC 9110 §15.4): values in, value out.
enum Redirect {
  /// The statuses of redirects that are followed (RFC 9110 §15.4).
  static let statuses: Set<Int> = [301, 302, 303, 307, 308]

  /// What to do.
  enum Decision {
    /// The response is no redirect to follow: it is the outcome.
    case stay
    /// Send this request next.
    case follow(NetworkRequest)
  }

  /// Decides what a response to a request leads to.
  ///
  /// - Parameters:
  ///   - response: The response.
  ///   - request: The request that it answers, as the redirecting behavior sent it inward.
  ///   - policy: What the user wants.
  /// - Returns: Whether to stay, or what to send next.
  /// - Throws: ``NetworkError`` of code `redirectFailed` for a location that must not be followed.
  static func decide(
    _ response: NetworkResponse, to request: NetworkRequest, policy: RedirectPolicy
  ) throws -> Decision {
    // Nobody but the server says where to go next.
    guard response.isVerified, Redirect.statuses.contains(response.statusCode) else { return .stay }
    guard let location = response.headers["Location"], !location.isEmpty else { return .stay }
    // What was sent may be another URL than the one of the request, which a behavior further in replaced.
    let sent = response.request
    let next: NetworkRequest
    do {
      next = try rewritten(request, status: response.statusCode).moved(to: location, relativeTo: sent.url)
    } catch let error as NetworkError {
      throw failure(error.message, response)
    }
    if next.body != nil, next.origin != sent.origin, !policy.sendsBodyToOtherOrigins { return .stay }
    guard next.body?.isReplayable != false else { return .stay }
    return .follow(next)
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
    next.removeIdempotencyKey()
    next.headers.removeAll { field in
      field.name.lowercased().hasPrefix("content-") || HeaderFields.areEqual(field.name, "Transfer-Encoding")
    }
    return next
  }
}
