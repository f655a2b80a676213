import Foundation

/// The meaning of a 3xx response to a request (RFC 9110 §15.4).
package enum Redirect {
  /// The statuses of redirects that are followed (RFC 9110 §15.4).
  package static let statuses: Set<Int> = [301, 302, 303, 307, 308]

  /// The decision about a response.
  package enum Decision {
    /// The response is not a redirect to follow. It is the outcome.
    case stay
    /// Send this request next.
    case follow(NetworkRequest)
  }

  /// Decides whether a response is a redirect to follow.
  ///
  /// - Parameters:
  ///   - response: The response.
  ///   - request: The request, as the redirecting behavior sent it inward.
  ///   - policy: The user's policy.
  /// - Returns: The decision to stay, or the request to send next.
  /// - Throws: ``NetworkError`` of code `redirectFailed` for a location that must not be followed.
  package static func decide(
    _ response: NetworkResponse, to request: NetworkRequest, policy: RedirectPolicy
  ) throws -> Decision {
    // Only a verified response of the server may say where to go next.
    guard response.isVerified, Redirect.statuses.contains(response.statusCode) else { return .stay }
    let locations = response.headers.values(for: .location)
    guard let location = locations.first, !location.isEmpty else { return .stay }
    // Joined they would be a location that the server did not send, and each client would choose another one.
    guard locations.allSatisfy({ $0 == location }) else { throw failure("it has several locations", response) }
    // An inner behavior may have replaced the URL, so the location is resolved against the URL that was sent.
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

  /// Changes the method if the status asks for it: 303 makes all methods but HEAD a GET, 301 and 302 make a POST a GET.
  private static func rewritten(_ request: NetworkRequest, status: Int) -> NetworkRequest {
    let becomesGet =
      switch status {
      case 303: request.method != .head && request.method != .get
      case 301, 302: request.method == .post
      default: false
      }
    return becomesGet ? request.convertedToGet() : request
  }
}
