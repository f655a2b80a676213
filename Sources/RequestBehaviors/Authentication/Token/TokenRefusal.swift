import Foundation

/// The certainty that a response refuses a session's token, and not another credential of the request.
enum TokenRefusal: Sendable, Comparable {
  /// The response names another credential.
  case none
  /// The response does not tell: the token may be refreshed, but the session is not signed out.
  case possible
  /// The response names the session, or the request carried nothing else.
  case certain

  /// The errors of a challenge that do not say whether the token is valid.
  ///
  /// They are about its scopes, about how the user signed in, or about the request (RFC 6750 §3.1, RFC 9470 §3, RFC
  /// 9449 §7.1).
  private static let otherErrors: Set<String> = [
    "insufficient_scope", "insufficient_user_authentication", "insufficient_claims", "invalid_request",
    "use_dpop_nonce", "invalid_dpop_proof",
  ]

  /// Decides by the challenges of a 401 (RFC 9110 §11.6.1).
  ///
  /// Challenges of other schemes say nothing about the token.
  ///
  /// - Parameters:
  ///   - challenges: The challenges of the response.
  ///   - scheme: The authentication scheme under which the token was sent; `nil` if it had a field of its own.
  ///   - realm: The realm that the user gave for the session; `nil` for any.
  ///   - others: The other credentials that the request carried, by their schemes; `nil` for one without a scheme.
  init(_ challenges: [AuthenticationScheme], scheme: String?, realm: String?, others: [String?]) {
    // A realm only tells challenges apart if the server names one at all.
    let own = challenges.filter { scheme == nil || HeaderFields.areEqual($0.name, scheme ?? "") }
    let namesRealm = own.contains { $0.realm != nil }
    let relevant = realm == nil || !namesRealm ? own : own.filter { $0.realm == realm }
    let owner: TokenRefusal
    if challenges.isEmpty {
      owner = others.isEmpty ? .certain : .possible
    } else if relevant.isEmpty {
      owner = .none
    } else if scheme != nil || others.isEmpty || (realm != nil && namesRealm) {
      owner = .certain
    } else {
      // A token in a field of its own has no scheme that a challenge could name, but another credential may have one.
      let named = Set(challenges.map { $0.name.lowercased() })
      owner = others.contains { $0.map { named.contains($0.lowercased()) } ?? false } ? .none : .possible
    }
    self = relevant.map { TokenRefusal(error: $0.error) }.max().map { min(owner, $0) } ?? owner
  }

  /// Decides by the error of a challenge; a word that is in none of the RFCs may be about the token.
  private init(error: String?) {
    switch error {
    case nil, "invalid_token": self = .certain
    case let error? where TokenRefusal.otherErrors.contains(error): self = .none
    default: self = .possible
    }
  }
}

/// Decides the meaning of a token source's error for the session.
enum TokenFailure {
  /// Whether the server said, verifiably, that there will be no token: `invalid_grant` (RFC 6749 §5.2).
  ///
  /// A status alone is not enough: portals, firewalls and servers under repair send 401 and 403 too.
  static func isTerminal(_ error: any Error) -> Bool {
    guard let error = error as? NetworkError else { return false }
    if error.underlyingError is TokenOfAnotherKey { return false }
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
