public import Foundation

/// Authenticates with the token of a session.
///
/// ```swift
/// let session = TokenSession(source: .clientCredentials(endpoint))
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.tokenAuth(session)])
/// ```
///
/// A request waits until there is a fresh token. If the server responds with 401, the token is refreshed, unless that
/// has happened meanwhile, and the request is sent once more. A 401 after that signs the session out.
///
/// A 401 that may not come from the server changes nothing, nor does one to a request that carried no token of the
/// session. A one-shot body is not sent again: the 401 is then the outcome.
///
/// A request may carry other credentials too, such as the token of a second session or an API key. The challenge of the
/// 401 (RFC 9110 §11.6.1) then tells by its scheme and realm which credential it is about. Without a challenge each
/// session refreshes its token once, and a repeated 401 does not sign a session out.
///
/// The token goes to its origins only. A client may have several such behaviors for sessions of different names;
/// ``RequestOptions/authentication`` chooses for one request.
public struct TokenAuthBehavior: UniqueBehavior, CredentialBehavior {
  /// Among authentication: waiting for a token holds no permit of a limiter.
  public let order = BehaviorOrder.authentication

  /// The name of the session.
  public var name: String { session.name }

  /// The name of the session, by which ``AuthenticationRequirement/only(_:)`` asks for its token.
  public var credential: String { session.name }

  /// The servers that the token may be sent to.
  public var origins: OriginScope { field.origins }

  /// The field that carries the token.
  public var credentialField: String? { header.name }

  var header: TokenHeader { field.header }

  let session: TokenSession
  private let field: TokenField
  let realm: String?
  let isUnauthorized: (@Sendable (NetworkResponse) -> Bool)?
  private let validation: TokenValidation?

  /// Creates the behavior.
  ///
  /// - Parameters:
  ///   - session: The session that holds the token.
  ///   - header: The field that carries it; by default `Authorization`.
  ///   - origins: The servers it may be sent to; by default the base URL's.
  ///   - validation: A check that a token must pass; none by default.
  ///   - realm: The realm of the session (RFC 9110 §11.5): a challenge that names another is about other credentials;
  ///     any by default.
  ///   - isUnauthorized: Whether a verified response means that the token is not accepted; by default a status of 401.
  public init(
    _ session: TokenSession, header: TokenHeader = .authorization, origins: OriginScope = .baseURL,
    validation: TokenValidation? = nil, realm: String? = nil,
    isUnauthorized: (@Sendable (NetworkResponse) -> Bool)? = nil
  ) {
    self.session = session
    self.field = TokenField(header, of: session, for: origins)
    self.validation = validation
    self.realm = realm
    self.isUnauthorized = isUnauthorized
  }

  /// Returns the signed-in user as the owner of the response, and records that user as the owner of the call.
  ///
  /// It waits until the store has been read once, so that a user is the same owner after every launch.
  public func scope(for request: NetworkRequest) async -> String? {
    guard request.options.authentication.includes(name) else { return nil }
    noteClient(of: request.call)
    // A source may send with this client. Its request fails where those of others wait for the token, so it must not
    // share a response with them: they would fail with it, or it would wait for one of them. The number of the refresh
    // gives it another sharing key.
    if let refresh = session.coordinator.refreshAtWork {
      request.call.update(SignInNumbers.self) { $0[ObjectIdentifier(session.coordinator.queue)] = refresh }
    }
    let user = session.coordinator.user
    // Recorded for calls to other servers too, because a redirect may lead to this one.
    if let generation = user.generation { request.call.noteUser(generation, of: session.coordinator.id) }
    if user.isKnown { return applies(to: request) ? user.scope : nil }
    await session.coordinator.waitForUser(of: request.call)
    guard applies(to: request) else { return nil }
    // The call does not belong to one who has signed in meanwhile: it must not find that user's responses.
    let found = session.coordinator.user
    return (found.generation ?? user.generation) == user.generation ? found.scope : user.scope
  }

  /// Returns the rights that the source of the session asks for: another session of the same account may have others.
  public func credentialDigest(salt: Data) -> String? { session.rights }

  /// Sends the request with a token, and once more with a newer one if the server does not accept it.
  public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    guard applies(to: request) else { return try await next(request) }
    // With `.optional` a missing token is no error, except for a user who has left and for a call that is over.
    var issued: IssuedToken
    do {
      let found = try lookUp(request)
      if let found, isAccepted(found) {
        issued = found
      } else {
        issued = try await wait(request, found, next)
      }
      issued = try await withOwnKey(issued, request, next)
    } catch let error as CancellationError {
      throw error
    } catch let error as NetworkError where error.code == .signedOut || error.code == .clientShutDown {
      // After a sign-out the response to a request without a token would be stored as that of the user who has left.
      throw error
    } catch  where request.options.authentication.isOptional && !request.call.isLate {
      let message = "sent without a token: the session has no token"
      request.call.record(message, from: "TokenAuthBehavior", kind: .authentication)
      let isUsers = session.coordinator.update { state, _ in state.noteSendWithoutToken() }
      // The call belongs to a user, and a response to a request without the user's token does not.
      if isUsers { request.call.becomeAnonymous() }
      return try await next(request)
    }
    let response = try await next(authorized(request, issued))
    guard isRefusal(response), let sent = token(sentIn: response) else { return response }
    let verdict = verdict(on: sent, in: response)
    if verdict == .none { return response }
    return try await answer(to: response, request, sent, isCertain: verdict == .certain, next)
  }

  /// Records that the call needs the session, and returns the token unless the call must wait for one.
  private func lookUp(_ request: NetworkRequest) throws -> IssuedToken? {
    session.follow(request.call)
    let lookup = session.coordinator.lookUp(request.call.sessionClock)
    let noted = request.call.note(lookup, of: session.coordinator.id)
    guard noted.generation == lookup.snapshot.generation else { throw NetworkError.signedOut() }
    return lookup.issued
  }

  /// Returns a token that can be sent, after waiting for it.
  private func wait(_ request: NetworkRequest, _ found: IssuedToken?, _ next: Next) async throws -> IssuedToken {
    if let found { return try await renew(found, request, next) }
    let waited = try await request.call.wait { try await session.issuedToken(.token, for: request, next) }
    guard let issued = waited else { throw NetworkError.notSignedIn() }
    return isAccepted(issued) ? issued : try await renew(issued, request, next)
  }

  /// Returns a newer token in place of one that the user's check rejects; the rejected one if there is no newer.
  private func renew(_ rejected: IssuedToken, _ request: NetworkRequest, _ next: Next) async throws -> IssuedToken {
    try await request.call.wait { try await session.issuedToken(.newer(than: rejected), for: request, next) }
      ?? rejected
  }

  /// Returns a token that this process can prove: the given one, or a new one in place of another process's.
  ///
  /// - Throws: The error for the token of another key, unless the session is that of a service.
  func withOwnKey(_ issued: IssuedToken, _ request: NetworkRequest, _ next: Next) async throws -> IssuedToken {
    guard let problem = session.problem(of: issued) else { return issued }
    // A service needs no user to get a token of its own key.
    guard session.source.account != nil else { throw problem }
    let renewed = try await renew(issued, request, next)
    if let problem = session.problem(of: renewed) { throw problem }
    return renewed
  }

  private func isAccepted(_ issued: IssuedToken) -> Bool { validation?.accepts(issued.token) ?? true }

  /// Returns the request with the token; the token is checked once more right before the request is sent.
  func authorized(_ request: NetworkRequest, _ issued: IssuedToken) -> NetworkRequest {
    let value = header.value(of: issued)
    request.call.noteToken(issued, as: value, in: field)
    if let scope = issued.token.sessionID { request.call.noteSend(for: scope) }
    var authorized = request
    authorized.headers.set(header.name, value, sensitive: origins)
    return authorized
  }

  /// The token of the session that the request of a response carried; `nil` if it carried none.
  ///
  /// It may be newer than the token with which the request left this behavior.
  func token(sentIn response: NetworkResponse) -> IssuedToken? {
    response.request.call.token(sentIn: response.request.headers, header, of: session.coordinator.id)
  }
}

extension RequestBehavior where Self == TokenAuthBehavior {
  /// Authenticates with the token of a session; see ``TokenAuthBehavior``.
  public static func tokenAuth(
    _ session: TokenSession, header: TokenHeader = .authorization, origins: OriginScope = .baseURL,
    validation: TokenValidation? = nil, realm: String? = nil,
    isUnauthorized: (@Sendable (NetworkResponse) -> Bool)? = nil
  ) -> TokenAuthBehavior {
    TokenAuthBehavior(
      session, header: header, origins: origins, validation: validation, realm: realm, isUnauthorized: isUnauthorized)
  }
}
