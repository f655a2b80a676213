import Foundation

/// How sure it is that a response refuses a session's token, and not another credential of the request.
enum TokenRefusal: Sendable, Comparable {
  /// The response names another credential.
  case none
  /// Nobody can tell: the token may be refreshed, but nobody is signed out.
  case possible
  /// The response names the session, or the request carried nothing else.
  case certain

  /// The errors of a challenge that are about something else than whether the token is good: what it allows, how the user
  /// signed in, or the request (RFC 6750 §3.1, RFC 9470 §3, RFC 9449 §7.1).
  private static let otherErrors: Set<String> = [
    "insufficient_scope", "insufficient_user_authentication", "insufficient_claims", "invalid_request",
    "use_dpop_nonce", "invalid_dpop_proof",
  ]

  /// Decides by the challenges of a 401 (RFC 9110 §11.6.1).
  ///
  /// Challenges of other schemes only say nothing of the token.
  ///
  /// - Parameters:
  ///   - challenges: The challenges of the response.
  ///   - scheme: The authentication scheme under which the token was sent; `nil` if it had a field of its own.
  ///   - realm: The realm that the user says the session is for; `nil` if any.
  ///   - others: The other credentials that the request carried, by their schemes; `nil` where one has none.
  init(_ challenges: [AuthenticationScheme], scheme: String?, realm: String?, others: [String?]) {
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
      let named = Set(challenges.map { $0.name.lowercased() })
      owner = others.contains { $0.map { named.contains($0.lowercased()) } ?? false } ? .none : .possible
    }
    self = relevant.map { TokenRefusal(error: $0.error) }.max().map { min(owner, $0) } ?? owner
  }

  /// What the error of a challenge says of the token; any other word than those of the RFCs may mean it.
  private init(error: String?) {
    switch error {
    case nil, "invalid_token": self = .certain
    case let error? where TokenRefusal.otherErrors.contains(error): self = .none
    default: self = .possible
    }
  }
}

/// Decides what an error of a token source means for the session.
enum TokenFailure {
  /// Whether the server said, verifiably, that there will be no token: `invalid_grant` of RFC 6749 §5.2.
  ///
  /// A status alone says nothing: portals, firewalls and servers that are being repaired answer 401 and 403 too.
  static func isTerminal(_ error: any Error) -> Bool {
    guard let error = error as? NetworkError else { return false }
    return error.code == .notSignedIn || oauthError(of: error) == "invalid_grant"
  }

  /// The code of the OAuth error that the token endpoint answered; `nil` if it may have come from somebody else.
  ///
  /// It comes with any status below 500: servers are known for 400, 401, 403 and 200.
  static func oauthError(of error: NetworkError) -> String? {
    guard let response = error.response, response.isVerified, response.statusCode < 500, isOwn(response) else {
      return nil
    }
    return TokenEndpointResponse(response)?.error
  }

  /// Whether a response came from the server that was asked, by the method that was used: it was not redirected.
  private static func isOwn(_ response: NetworkResponse) -> Bool {
    let sent = response.request
    return sent.call.attempts.allSatisfy { Origin($0.url) == sent.origin && $0.method == sent.method }
  }

  /// An error code as messages show it: what is no code by RFC 6749 §5.2 is not shown.
  static func shown(_ code: String) -> String {
    let isCode =
      code.utf8.count <= 256 && code.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
    return isCode ? code : "of an unknown form"
  }
}
