public import Foundation
public import RequestBehaviors

extension OAuth2Flow {
  /// Signs a user in with a browser that calls back.
  ///
  /// - Parameters:
  ///   - parameters: Further parameters of the page, such as `prompt` or `login_hint`.
  ///   - account: The name or number of the user, as for `TokenSession.signIn(_:as:)`; by default the user of the ID
  ///     token, and without one a new owner. A user may choose another account at the page: if the server allows that,
  ///     use ``signIn(_:_:naming:)``.
  ///   - open: Opens the page and returns the URL that the server called back. Its error ends the sign-in.
  /// - Returns: The grant, with whose token the session is signed in.
  /// - Throws: As ``begin(_:)`` and ``finish(_:callback:as:)``, and the error of the closure.
  @discardableResult
  public func signIn(
    _ parameters: Query = [:], as account: String? = nil, _ open: (_ url: URL) async throws -> URL
  ) async throws -> OAuth2Grant {
    try SessionAccount.check(account)
    return try await signIn(parameters, open, by: { _ in account })
  }

  /// Signs a user in with a browser that calls back, and asks who it is.
  ///
  /// ```swift
  /// try await flow.signIn { url in
  ///   try await browser.open(url)
  /// } naming: { grant in
  ///   let profile: Profile = try await client.prerequisites.send(
  ///     .get("me").with(.bearer(grant.token.value)))
  ///   return profile.userID
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - parameters: Further parameters of the page, such as `prompt` or `login_hint`.
  ///   - open: Opens the page and returns the URL that the server called back. Its error ends the sign-in.
  ///   - name: As for ``finish(_:callback:naming:)``.
  /// - Returns: The grant, with whose token the session is signed in.
  /// - Throws: As ``begin(_:)`` and ``finish(_:callback:naming:)``, and the errors of the closures.
  @discardableResult
  public func signIn(
    _ parameters: Query = [:], _ open: (_ url: URL) async throws -> URL,
    naming name: (_ grant: OAuth2Grant) async throws -> String
  ) async throws -> OAuth2Grant {
    try await signIn(parameters, open, by: { try await name($0) })
  }

  private func signIn(
    _ parameters: Query, _ open: (_ url: URL) async throws -> URL, by name: (OAuth2Grant) async throws -> String?
  ) async throws -> OAuth2Grant {
    let signIn = try await begin(parameters)
    let start = now()
    let callback = try await OAuth2SignIn.$current.withValue(signIn) { try await open(signIn.url) }
    // The date may change while the page is open, for example when a new device first reaches a time server.
    return try await finish(signIn, callback, age: now() - start, naming: name)
  }

  /// Ends a sign-in with the URL that the server called back.
  ///
  /// - Parameters:
  ///   - signIn: The sign-in that ``begin(_:)`` returned.
  ///   - callback: The URL with the code.
  ///   - account: The name or number of the user, as for `TokenSession.signIn(_:as:)`; by default the user of the ID
  ///     token, and without one a new owner.
  /// - Returns: The grant, with whose token the session is signed in.
  /// - Throws: `NetworkError` of one of these codes, or that of the request:
  ///   - `oauth2UnexpectedCallback` if the URL is not of this sign-in, which goes on waiting;
  ///   - `oauth2InvalidResponse` if the URL or the response breaks a rule;
  ///   - `oauth2Denied` or `oauth2Refused` if the user or the server refused;
  ///   - `oauth2Expired` if the sign-in began more than an hour ago;
  ///   - `oauth2AlreadyFinished` if the session has seen this callback before;
  ///   - `oauth2InvalidServer` if the sign-in was begun for another client or token endpoint;
  ///   - `invalidRequest` if the name is empty;
  ///   - `signedOut` if the session was signed out, or in, meanwhile. After a sign-out the token is revoked if the
  ///     server can.
  @discardableResult
  public func finish(
    _ signIn: OAuth2SignIn, callback: URL, as account: String? = nil
  ) async throws -> OAuth2Grant {
    try SessionAccount.check(account)
    return try await finish(signIn, callback) { _ in account }
  }

  /// Ends a sign-in with the URL that the server called back, and asks who the user is.
  ///
  /// - Parameters:
  ///   - signIn: The sign-in that ``begin(_:)`` returned.
  ///   - callback: The URL with the code.
  ///   - name: Returns the name or number of the user, as for `TokenSession.signIn(_:as:)`, such as by a request with
  ///     the new token. Such a request needs a client without this session, as `client.prerequisites` is: one with it
  ///     carries the token of the user who is still signed in. The session is signed in when the closure returns. If
  ///     it throws, or returns an empty name, the sign-in is over: nothing is kept, and the token is revoked if the
  ///     server can, unless a user is signed in.
  /// - Returns: The grant, with whose token the session is signed in.
  /// - Throws: As ``finish(_:callback:as:)``, and the error of the closure.
  @discardableResult
  public func finish(
    _ signIn: OAuth2SignIn, callback: URL, naming name: (_ grant: OAuth2Grant) async throws -> String
  ) async throws -> OAuth2Grant {
    try await finish(signIn, callback) { try await name($0) }
  }
}
