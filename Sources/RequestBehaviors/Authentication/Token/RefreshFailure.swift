/// Decides the meaning of a token source's error for the session.
enum RefreshFailure {
  /// Whether the server said, verifiably, that there will be no token: `invalid_grant` (RFC 6749 §5.2).
  ///
  /// A status alone is not enough: portals, firewalls and servers under repair send 401 and 403 too.
  ///
  /// A token that cannot be refreshed ends the session only when it is no longer good, not as a precaution.
  static func isTerminal(_ error: any Error, isPrecaution: Bool) -> Bool {
    guard let error = error as? NetworkError else { return false }
    if error.underlyingError is TokenOfAnotherKey || error.underlyingError is RefusedAssertion { return false }
    if error.underlyingError is UnrefreshableToken { return !isPrecaution }
    return error.code == .notSignedIn || oauthError(of: error) == "invalid_grant"
  }

  /// The OAuth error code that the token endpoint sent; `nil` if it may have come from another server.
  ///
  /// Any status below 500 counts but a redirect: servers are known to send it with 400, 401, 403 and 200.
  static func oauthError(of error: NetworkError) -> String? {
    guard let response = error.response, response.isVerified, response.statusCode < 500,
      !(300..<400).contains(response.statusCode), isOwn(response)
    else { return nil }
    return TokenEndpointResponse(response)?.error
  }

  /// Whether a response is the one to the original URL and method, and not to a redirect.
  private static func isOwn(_ response: NetworkResponse) -> Bool {
    let sent = response.request
    return sent.call.attempts.allSatisfy { Origin($0.url) == sent.origin && $0.method == sent.method }
  }

  /// The error code for a message; a code that is not valid by RFC 6749 §5.2 is not shown.
  static func shown(_ code: String) -> String {
    let isCode =
      code.utf8.count <= 256 && code.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
    return isCode ? code : "of an unknown form"
  }
}
