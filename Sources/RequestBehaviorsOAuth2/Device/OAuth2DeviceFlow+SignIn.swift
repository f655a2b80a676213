import RequestBehaviors

extension OAuth2DeviceFlow {
  /// Signs a user in.
  ///
  /// - Parameters:
  ///   - account: The name or number of the user, as for `TokenSession.signIn(_:as:)`; by default a new owner. Any user
  ///     can type the code: if the server allows that, use ``signIn(_:naming:)``.
  ///   - show: Shows the page and the code; waiting begins when it returns. Its error ends the sign-in.
  /// - Returns: The grant, with whose token the session is signed in.
  /// - Throws: As ``begin()`` and ``finish(_:as:)``, and the error of the closure.
  @discardableResult
  public func signIn(
    as account: String? = nil, _ show: (_ code: OAuth2DeviceCode) async throws -> Void
  ) async throws -> OAuth2Grant {
    try SessionAccount.check(account)
    return try await signIn(show, by: { _ in account })
  }

  /// Signs a user in, and asks who it is.
  ///
  /// - Parameters:
  ///   - show: Shows the page and the code; waiting begins when it returns. Its error ends the sign-in.
  ///   - name: As for ``finish(_:naming:)``.
  /// - Returns: The grant, with whose token the session is signed in.
  /// - Throws: As ``begin()`` and ``finish(_:naming:)``, and the errors of the closures.
  @discardableResult
  public func signIn(
    _ show: (_ code: OAuth2DeviceCode) async throws -> Void,
    naming name: (_ grant: OAuth2Grant) async throws -> String
  ) async throws -> OAuth2Grant {
    try await signIn(show, by: { try await name($0) })
  }

  /// Waits until the user has decided (§3.4, §3.5).
  ///
  /// - Parameters:
  ///   - code: The codes that ``begin()`` returned.
  ///   - account: The name or number of the user, as for `TokenSession.signIn(_:as:)`; by default a new owner.
  /// - Returns: The grant, with whose token the session is signed in.
  /// - Throws: `NetworkError`, of code `oauth2Denied` if the user refused, `oauth2Expired` if the user did not decide
  ///   in time, `oauth2Refused` if the server says why not, `oauth2InvalidServer` if the codes are of another client or
  ///   token endpoint, `invalidRequest` if the name is empty, and `signedOut` if the session was signed out, or in,
  ///   meanwhile. After a sign-out the token is revoked if the server can. `CancellationError` at once when the task is
  ///   cancelled.
  @discardableResult
  public func finish(_ code: OAuth2DeviceCode, as account: String? = nil) async throws -> OAuth2Grant {
    try SessionAccount.check(account)
    return try await finish(code, by: { _ in account })
  }

  /// Waits until the user has decided, and asks who it is.
  ///
  /// - Parameters:
  ///   - code: The codes that ``begin()`` returned.
  ///   - name: Returns the name or number of the user, as for `TokenSession.signIn(_:as:)`, such as by a request with
  ///     the new token. Such a request needs a client without this session, as `client.prerequisites` is: one with it
  ///     carries the token of the user who is still signed in. The session is signed in when the closure returns. If
  ///     it throws, or returns an empty name, the sign-in is over: nothing is kept, and the token is revoked if the
  ///     server can, unless a user is signed in.
  /// - Returns: The grant, with whose token the session is signed in.
  /// - Throws: As ``finish(_:as:)``, and the error of the closure.
  @discardableResult
  public func finish(
    _ code: OAuth2DeviceCode, naming name: (_ grant: OAuth2Grant) async throws -> String
  ) async throws -> OAuth2Grant {
    try await finish(code, by: { try await name($0) })
  }
}
