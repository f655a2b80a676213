/// Authenticates with the token of a session.
///
/// ```swift
/// let session = TokenSession(source: .clientCredentials(endpoint))
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.tokenAuth(session)])
/// ```
///
/// A request waits until there is a fresh token. If the server answers 401 to it, the token is refreshed (unless that
/// has happened meanwhile) and the request is sent once more. A 401 that remains after that signs the session out. A
/// 401 that may not come from the server, and one to a request that carried no token of the session, changes nothing;
/// nor is a one-shot body sent again: the 401 is then the outcome.
///
/// Where a request carries other credentials too, such as the token of a second session or an API key, the challenge of
/// the 401 (RFC 9110 §11.6.1) tells by its scheme and realm whose it is. Without a challenge each session refreshes its
/// token once, and a 401 that remains signs nobody out.
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

  /// Where the token may be sent.
  public let origins: OriginScope

  let session: TokenSession
  let header: TokenHeader
  private let realm: String?
  private let isUnauthorized: (@Sendable (NetworkResponse) -> Bool)?
  private let validation: TokenValidation?

  /// Creates the behavior.
  ///
  /// - Parameters:
  ///   - session: Holds the token.
  ///   - header: The field that carries it; by default `Authorization`.
  ///   - origins: Where it may be sent; by default to the base URL's origin.
  ///   - validation: A check that a token must pass; none by default.
  ///   - realm: The realm of the session (RFC 9110 §11.5): a challenge that names another is about other credentials;
  ///     any by default.
  ///   - isUnauthorized: Whether a verified response says that the token is not accepted; by default, of status 401.
  public init(
    _ session: TokenSession, header: TokenHeader = .authorization, origins: OriginScope = .baseURL,
    validation: TokenValidation? = nil, realm: String? = nil,
    isUnauthorized: (@Sendable (NetworkResponse) -> Bool)? = nil
  ) {
    self.session = session
    self.header = header
    self.origins = origins
    self.validation = validation
    self.realm = realm
    self.isUnauthorized = isUnauthorized
  }

  /// The responses are those of whoever is signed in; the call is theirs from then on.
  ///
  /// Waits until the store was read once, so that the scope of a user is the same after every launch.
  public func scope(for request: NetworkRequest) async -> String? {
    guard request.options.authentication.includes(name) else { return nil }
    session.coordinator.scopes.follow(request.call)
    let user = session.coordinator.user
    // A call to another server may come to this one by a redirect.
    if let generation = user.generation { request.call.noteUser(generation, of: session.coordinator.id) }
    if !user.isKnown { await session.coordinator.waitForUser(of: request.call) }
    guard applies(to: request) else { return nil }
    return user.isKnown ? user.scope : session.coordinator.user.scope
  }

  /// Sends the request with a token, and once more with a newer one if the server does not accept it.
  public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    guard applies(to: request) else { return try await next(request) }
    let issued: IssuedToken
    do {
      let found = try lookUp(request)
      if let found, isAccepted(found) {
        issued = found
      } else {
        issued = try await wait(request, found, next)
      }
    } catch let error as CancellationError {
      throw error
    } catch let error as NetworkError where error.code == .signedOut {
      // The response to a request without a token would be kept as that of the user who has gone.
      throw error
    } catch  where request.options.authentication.isOptional && !request.call.isLate {
      request.call.record("sent without a token: there is none", from: "TokenAuthBehavior")
      session.coordinator.update { state, _ in state.noteSendWithoutToken() }
      return try await next(request)
    }
    let response = try await next(authorized(request, issued))
    guard let sent = token(sentIn: response), refusal(of: sent, in: response) != .none else { return response }
    return try await answer(to: response, request, sent, next)
  }

  /// Notes that the call needs the session, and returns the token unless it must wait for one.
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

  /// Returns a newer token than one that the user's check rejects, or that one if there is none.
  private func renew(_ rejected: IssuedToken, _ request: NetworkRequest, _ next: Next) async throws -> IssuedToken {
    try await request.call.wait { try await session.issuedToken(.newer(than: rejected), for: request, next) }
      ?? rejected
  }

  private func isAccepted(_ issued: IssuedToken) -> Bool { validation?.accepts(issued.token) ?? true }

  /// Returns the request with the token, which is checked once more right before it is sent.
  func authorized(_ request: NetworkRequest, _ issued: IssuedToken) -> NetworkRequest {
    request.call.noteToken(issued, in: header, for: origins, of: session.coordinator)
    if let scope = issued.token.sessionID { request.call.noteSend(for: scope) }
    var authorized = request
    authorized.headers.set(header.name, header.value(of: issued), sensitive: origins)
    return authorized
  }

  /// The token of the session that a response's request carried; `nil` if it carried none.
  ///
  /// It may be a newer one than the request left this behavior with.
  func token(sentIn response: NetworkResponse) -> IssuedToken? {
    response.request.call.token(sentIn: response.request.headers, header, of: session.coordinator.id)
  }

  /// How sure it is that the server, and nobody in its place, does not accept this token.
  ///
  /// What the user calls unauthorized may be about this token unless a realm tells otherwise.
  func refusal(of issued: IssuedToken, in response: NetworkResponse) -> TokenRefusal {
    guard response.isVerified, isUnauthorized?(response) ?? (response.statusCode == 401) else { return .none }
    let sent = response.request.headers
    func isNamed(_ field: HeaderFields.Field, _ name: String) -> Bool { HeaderFields.areEqual(field.name, name) }
    let others = sent.filter { $0.isSensitive && !isNamed($0, header.name) && !isNamed($0, "Proxy-Authorization") }
    let challenges = response.headers.values(for: "WWW-Authenticate").flatMap(AuthenticationScheme.list)
    let refusal = TokenRefusal(
      challenges, scheme: header.scheme(of: issued), realm: realm,
      others: others.map { isNamed($0, "Authorization") ? $0.value.split(separator: " ").first.map(String.init) : nil })
    return isUnauthorized == nil || realm != nil ? refusal : max(refusal, .possible)
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

/// A check of the user's own that a token must pass before it is sent.
///
/// ```swift
/// let behavior = TokenAuthBehavior(
///   session,
///   validation: TokenValidation { $0.scopes.contains("write") })
/// ```
///
/// A token that fails is refreshed first, once for a request; the newer one is sent whatever the check says.
public struct TokenValidation: Sendable {
  let accepts: @Sendable (AccessToken) -> Bool

  /// Creates a check.
  ///
  /// - Parameter accepts: Returns whether the token may be sent; called for every request.
  public init(_ accepts: @escaping @Sendable (AccessToken) -> Bool) { self.accepts = accepts }
}
