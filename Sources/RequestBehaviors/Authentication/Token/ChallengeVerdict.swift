import Foundation

/// The certainty that a response refuses a session's token, and not another credential of the request.
enum ChallengeVerdict: Sendable, Comparable {
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
    let owner: ChallengeVerdict
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
    self = relevant.map { ChallengeVerdict(error: $0.error) }.max().map { min(owner, $0) } ?? owner
  }

  /// Decides by the error of a challenge; a word that is in none of the RFCs may be about the token.
  private init(error: String?) {
    switch error {
    case nil, "invalid_token": self = .certain
    case let error? where ChallengeVerdict.otherErrors.contains(error): self = .none
    default: self = .possible
    }
  }
}

extension TokenAuthBehavior {
  /// Whether the server itself refuses a credential of the request.
  func isRefusal(_ response: NetworkResponse) -> Bool {
    response.isVerified && isUnauthorized?(response) ?? (response.statusCode == 401)
  }

  /// Returns how sure it is that a refusal is about this token.
  ///
  /// A response that only the user's closure calls unauthorized may be about this token, unless a realm tells
  /// otherwise.
  func verdict(on issued: IssuedToken, in response: NetworkResponse) -> ChallengeVerdict {
    // A field for a proxy does not count: a server does not refuse it. Nor does the proof that belongs to the token.
    let sent = response.request.headers
    func isNamed(_ field: HeaderFields.Field, _ name: String) -> Bool { HeaderFields.areEqual(field.name, name) }
    let notOthers = [header.name, "Proxy-Authorization", "DPoP"]
    let others = sent.filter { field in field.isSensitive && !notOthers.contains { isNamed(field, $0) } }
    let challenges = response.headers.values(for: "WWW-Authenticate").flatMap(AuthenticationScheme.list)
    let refusal = ChallengeVerdict(
      challenges, scheme: header.scheme(of: issued), realm: realm,
      others: others.map { isNamed($0, "Authorization") ? $0.value.split(separator: " ").first.map(String.init) : nil })
    return isUnauthorized == nil || realm != nil ? refusal : max(refusal, .possible)
  }
}
