import Foundation
import RequestBehaviors

extension TokenSession {
  /// The number of finished sign-ins that a session remembers.
  private static let memory = 16

  /// Records that a callback of a sign-in is used; returns false if one was used before.
  func begin(_ signIn: OAuth2SignIn) -> Bool {
    let digest = Digest.sha256(of: signIn.state)
    return finishedSignIns.withLock { finished in
      guard !finished.contains(digest) else { return false }
      finished.append(digest)
      finished.removeFirst(max(0, finished.count - TokenSession.memory))
      return true
    }
  }

  /// Records that a callback was not used after all.
  func undo(_ signIn: OAuth2SignIn) {
    let digest = Digest.sha256(of: signIn.state)
    finishedSignIns.withLock { finished in finished.removeAll { $0 == digest } }
  }

  /// Takes the token of a response, and returns the grant.
  ///
  /// With an ID token, the same user is the same owner at each sign-in.
  func signIn(
    _ result: (token: AccessToken, response: NetworkResponse), scopes: [String], idToken: IDToken? = nil
  ) async throws -> OAuth2Grant {
    var token = result.token
    if token.scopes.isEmpty { token.scopes = Set(scopes) }
    let grant = OAuth2Grant(
      token, idToken: idToken, members: (try? result.response.data).flatMap { JSONObject($0) })
    if let idToken {
      try await signIn(token, as: "\(idToken.issuer) \(idToken.subject)")
    } else {
      try await signIn(token)
    }
    return grant
  }
}
