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
  /// A token that the session does not take is revoked, unless a user is signed in.
  ///
  /// - Parameters:
  ///   - result: The token and its response.
  ///   - request: The scopes that were asked for, and the mark of the session before the first request.
  ///   - idToken: The ID token; `nil` without one.
  ///   - name: Returns the name of the account; `nil` for the user of the ID token, or without one for a new owner.
  ///   - revoke: Revokes the token, if the server can.
  /// - Returns: The grant.
  /// - Throws: As `TokenSession.signIn(_:)`, `NetworkError` of code `signedOut` if the token came too late, and the
  ///   error of the closure.
  func signIn(
    _ result: (token: AccessToken, response: NetworkResponse), _ request: (scopes: [String], mark: Int),
    idToken: IDToken? = nil, naming name: (OAuth2Grant) async throws -> String?,
    orRevoke revoke: @escaping @Sendable (AccessToken) async -> Void
  ) async throws -> OAuth2Grant {
    var token = result.token
    if token.scopes.isEmpty { token.scopes = Set(request.scopes) }
    let grant = OAuth2Grant(token, idToken: idToken, members: JSONObject(result.response))
    let account: String?
    do {
      account = try await name(grant) ?? SessionAccount.subject(of: idToken)
      try SessionAccount.check(account)
    } catch {
      await revokeUnlessSignedIn(token, by: revoke)
      throw error
    }
    do {
      try await signIn(token, as: account, since: request.mark)
    } catch let error as NetworkError where error.code == .signedOut {
      await revokeUnlessSignedIn(token, by: revoke)
      throw error
    }
    return grant
  }

  /// Revokes a token that the session does not take, if the server can.
  ///
  /// While a user is signed in, it is only dropped: some servers revoke all tokens that the user gave the client. So it
  /// is if the store cannot be read, for then a user may be signed in. The store is read again, because another process
  /// may have signed a user in.
  func revokeUnlessSignedIn(
    _ token: AccessToken, by revoke: @escaping @Sendable (AccessToken) async -> Void
  ) async {
    guard (try? await isAnyUserSignedIn()) == false else { return }
    // The caller may have been cancelled, such as by a sign-out, and waits for this no longer than it must.
    await Task { await revoke(token) }.endOrCancellation()
  }
}

extension SessionAccount {
  /// Returns the name of the user of an ID token, the same at each sign-in; `nil` without an ID token.
  static func subject(of idToken: IDToken?) -> String? { idToken.map { "\($0.issuer) \($0.subject)" } }
}

extension TokenEndpoint {
  /// Revokes a token that no session takes, if the server can; an error changes nothing.
  func discard(_ token: AccessToken, over client: NetworkClient) async {
    guard let server = try? server, server.revoke != nil else { return }
    try? await revoke(token, over: client)
  }
}
