import Foundation

/// How sure it is that a response refuses a session's token, and not another credential of the request.
enum TokenRefusal: Sendable, Comparable {
  /// The response names another credential.
  case none
  /// Nobody can tell: the token may be refreshed, but nobody is signed out.
  case possible
  /// The response names the session, or the request carried nothing else.
  case certain

  /// Decides by the challenges of a 401 (RFC 9110 §11.6.1).
  ///
  /// - Parameters:
  ///   - challenges: The challenges of the response.
  ///   - scheme: The authentication scheme under which the token was sent; `nil` if it had a field of its own.
  ///   - realm: The realm that the user says the session is for; `nil` if any.
  ///   - others: The other credentials that the request carried, by their schemes; `nil` where one has none.
  init(_ challenges: [AuthenticationScheme], scheme: String?, realm: String?, others: [String?]) {
    let own = challenges.filter { scheme == nil || HeaderFields.areEqual($0.name, scheme ?? "") }
    let realms = own.compactMap(\.realm)
    if let realm, !realms.isEmpty {
      self = realms.contains(realm) ? .certain : .none
    } else if others.isEmpty || (scheme != nil && !own.isEmpty) {
      self = .certain
    } else if challenges.isEmpty {
      self = .possible
    } else if scheme != nil {
      self = .none
    } else {
      let named = Set(challenges.map { $0.name.lowercased() })
      self = others.contains { $0.map { named.contains($0.lowercased()) } ?? false } ? .none : .possible
    }
  }
}

/// Decides what an error of a token source means for the session.
enum TokenFailure {
  /// Whether the server said, verifiably, that there will be no token: RFC 6749 §5.2, and 401 and 403 at large.
  static func isTerminal(_ error: any Error) -> Bool {
    guard let error = error as? NetworkError else { return false }
    if error.code == .notSignedIn { return true }
    guard error.code == .unacceptableStatus, let response = error.response, response.isVerified else { return false }
    switch response.statusCode {
    case 401, 403: return true
    case 400: return oauthError(of: response) == "invalid_grant"
    default: return false
    }
  }

  private struct ErrorBody: Decodable {
    let error: String
  }

  private static func oauthError(of response: NetworkResponse) -> String? {
    guard case .data(let data) = response.body else { return nil }
    return (try? JSONDecoder().decode(ErrorBody.self, from: data))?.error
  }
}
