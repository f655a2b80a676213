public import Foundation
public import RequestBehaviors

/// Signs a user in by three-legged OAuth 1.0a: a request token, the user's consent, an access token (RFC 5849 §2).
///
/// ```swift
/// let flow = OAuth1Flow(
///   session: session, endpoints: endpoints,
///   callback: URL(string: "myapp://signed-in"), over: client)
/// let access = try await flow.signIn { url in
///   // Shows the page and returns the URL of the callback.
///   try await browser.open(url)
/// }
/// ```
///
/// At its end the session signs for the user. The result has the credentials to store, and the other fields of the
/// response. If one of them is the user's id, name the account by it, which is the same owner with every token then:
/// `flow.signIn(naming: { $0["user_id"] }) { … }`.
///
/// An app that may be ended while the user is in the browser takes the steps one by one, and stores the request token
/// between them: ``begin()``, ``authorizeURL(for:)``, ``finish(_:callback:naming:)``.
///
/// The requests go through the client without its own ``OAuth1Behavior``. Its `mapError` replaces the errors of the
/// steps, once.
public struct OAuth1Flow: Sendable {
  /// The URLs of a service for tokens and for the user's consent; its documentation has the three.
  public struct Endpoints: Sendable, Hashable {
    /// The URL of request tokens, called the temporary credential request in RFC 5849 §2.1.
    public var requestToken: URL
    /// The page that asks the user (RFC 5849 §2.2).
    public var authorize: URL
    /// The URL of access tokens (RFC 5849 §2.3).
    public var accessToken: URL

    /// Creates the list of the three URLs.
    public init(requestToken: URL, authorize: URL, accessToken: URL) {
      self.requestToken = requestToken
      self.authorize = authorize
      self.accessToken = accessToken
    }
  }

  /// The session that signs for the user at the end.
  public let session: OAuth1Session
  /// The service's URLs.
  public let endpoints: Endpoints
  /// The URL that the service sends the user back to; `nil` if it shows a code to type instead.
  public let callback: URL?
  /// The method of the requests for tokens.
  public let method: RequestMethod
  let client: NetworkClient

  /// Creates a flow.
  ///
  /// - Parameters:
  ///   - session: The session that signs for the user at the end; its consumer, method and options are used.
  ///   - endpoints: The service's URLs.
  ///   - callback: The URL that the service sends the user back to; `nil` if it shows a code to type instead (`oob`).
  ///   - method: The method of the requests for tokens; by default `POST`, as RFC 5849 §2.1 has it.
  ///   - client: The client that sends the requests for tokens.
  public init(
    session: OAuth1Session, endpoints: Endpoints, callback: URL? = nil, method: RequestMethod = .post,
    over client: NetworkClient
  ) {
    self.session = session
    self.endpoints = endpoints
    self.callback = callback
    self.method = method
    self.client = client
  }

  /// Gets a request token (RFC 5849 §2.1).
  ///
  /// - Returns: The token to open the browser with, and to finish with.
  /// - Throws: `NetworkError`, of code `NetworkError.Code.oauth1Refused` if the service says why, and
  ///   `NetworkError.Code.oauth1CallbackNotConfirmed` if it speaks OAuth 1.0 only.
  public func begin() async throws -> OAuth1RequestToken {
    let value = callback?.absoluteString ?? "oob"
    return try await client.mappingErrors {
      try await exchange(endpoints.requestToken, as: .none, sending: [(name: "oauth_callback", value: value)]) {
        try $0.requestToken()
      }
    }
  }

  /// Returns the page to open in the browser (RFC 5849 §2.2): the authorize URL with `oauth_token` added to its query.
  ///
  /// - Parameter token: The request token that ``begin()`` returned.
  /// - Returns: The URL.
  /// - Throws: `NetworkError` of code `NetworkError.Code.invalidURL` if the endpoint is no http or
  ///   https URL.
  public func authorizeURL(for token: OAuth1RequestToken) throws -> URL {
    let parts = try OAuth1RequestURL(endpoints.authorize, hostField: nil)
    return parts.appending(query: OAuth1EncodedPair("oauth_token", token.token).encoded) ?? endpoints.authorize
  }

  /// Ends a sign-in with the URL that the service called back.
  ///
  /// - Parameters:
  ///   - token: The request token that ``begin()`` returned.
  ///   - callback: The URL with `oauth_token` and `oauth_verifier`.
  ///   - naming: Returns the name or number of the user, unique at the service, as for
  ///     ``OAuth1Session/signIn(_:as:)``; by default the owner follows from the token.
  /// - Returns: The user's credentials, with which the session signs from now on, and the other fields of the response.
  /// - Throws: `NetworkError`, of code `NetworkError.Code.oauth1Denied` if the user refused,
  ///   `NetworkError.Code.oauth1UnexpectedCallback` if the callback is not of this sign-in, and
  ///   `NetworkError.Code.signedOut` if the session was signed in or out meanwhile.
  @discardableResult
  public func finish(
    _ token: OAuth1RequestToken, callback: URL, naming: (OAuth1AccessToken) throws -> String? = { _ in nil }
  ) async throws -> OAuth1AccessToken {
    try await client.mappingErrors {
      try await exchange(token, for: try OAuth1TokenResponse.verifier(in: callback, for: token), naming)
    }
  }

  /// Ends a sign-in with the code that the service showed (RFC 5849 §2.3).
  ///
  /// - Parameters:
  ///   - token: The request token that ``begin()`` returned.
  ///   - verifier: The code; space around it is ignored.
  ///   - naming: Returns the name or number of the user, unique at the service, as for
  ///     ``OAuth1Session/signIn(_:as:)``; by default the owner follows from the token.
  /// - Returns: The user's credentials, with which the session signs from now on, and the other fields of the response.
  /// - Throws: `NetworkError`, of code `NetworkError.Code.oauth1Refused` if the service says why, and
  ///   `NetworkError.Code.signedOut` if the session was signed in or out meanwhile.
  @discardableResult
  public func finish(
    _ token: OAuth1RequestToken, verifier: String, naming: (OAuth1AccessToken) throws -> String? = { _ in nil }
  ) async throws -> OAuth1AccessToken {
    try await client.mappingErrors {
      try await exchange(token, for: verifier.trimmingCharacters(in: .whitespacesAndNewlines), naming)
    }
  }

  private func exchange(
    _ token: OAuth1RequestToken, for verifier: String, _ naming: (OAuth1AccessToken) throws -> String?
  ) async throws -> OAuth1AccessToken {
    try await signIn(
      as: OAuth1Credentials(token: token.token, secret: token.secret),
      sending: (name: "oauth_verifier", value: verifier), naming)
  }

  /// Exchanges the user's token for a fresh one, at services whose tokens expire (OAuth Session 1.0).
  ///
  /// If the session signs with the credentials, the user stays the same owner: calls under way go on with the new
  /// token, and what is kept for the user stays. Without a named account this holds until the next launch, where the
  /// owner follows from the new token.
  ///
  /// - Parameters:
  ///   - credentials: The credentials that expire.
  ///   - sessionHandle: The `oauth_session_handle` that the service gave with them; ``OAuth1AccessToken/subscript(_:)``
  ///     reads it.
  /// - Returns: The new credentials, with which the session signs from now on, and the other fields of the response.
  /// - Throws: `NetworkError`, of code `NetworkError.Code.oauth1Refused` if the service says why, and
  ///   `NetworkError.Code.signedOut` if the session was signed in or out meanwhile.
  @discardableResult
  public func renew(_ credentials: OAuth1Credentials, sessionHandle: String) async throws -> OAuth1AccessToken {
    try await client.mappingErrors {
      try await signIn(as: credentials, sending: (name: "oauth_session_handle", value: sessionHandle)) { _ in nil }
    }
  }

  /// Exchanges credentials for those of the user, with which the session then signs.
  private func signIn(
    as credentials: OAuth1Credentials, sending parameter: (name: String, value: String),
    _ naming: (OAuth1AccessToken) throws -> String?
  ) async throws -> OAuth1AccessToken {
    let mark = session.mark(exchanging: credentials)
    let access = try await exchange(endpoints.accessToken, as: credentials, sending: [parameter]) {
      try $0.accessToken()
    }
    try session.signIn(access.credentials, as: try naming(access), since: mark)
    return access
  }
}

extension OAuth1Flow {
  /// Signs a user in with a browser that calls back.
  ///
  /// - Parameters:
  ///   - naming: Returns the name or number of the user, unique at the service, as for
  ///     ``OAuth1Session/signIn(_:as:)``; by default the owner follows from the token.
  ///   - authorize: Opens the page and returns the URL that the service called back. Its error ends the sign-in.
  /// - Returns: The user's credentials, with which the session signs from now on, and the other fields of the response.
  /// - Throws: `NetworkError`, or the error of the closure.
  @discardableResult
  public func signIn(
    naming: (OAuth1AccessToken) throws -> String? = { _ in nil }, _ authorize: (_ url: URL) async throws -> URL
  ) async throws -> OAuth1AccessToken {
    let token = try await begin()
    return try await finish(token, callback: try await authorize(try authorizeURL(for: token)), naming: naming)
  }

  /// Signs a user in with a page that shows a code to type, for flows without a callback.
  ///
  /// - Parameters:
  ///   - naming: Returns the name or number of the user, unique at the service, as for
  ///     ``OAuth1Session/signIn(_:as:)``; by default the owner follows from the token.
  ///   - askForCode: Opens the page and returns the code that the user typed.
  /// - Returns: The user's credentials, with which the session signs from now on, and the other fields of the response.
  /// - Throws: `NetworkError`, or the error of the closure.
  @discardableResult
  public func signInWithCode(
    naming: (OAuth1AccessToken) throws -> String? = { _ in nil }, _ askForCode: (_ url: URL) async throws -> String
  ) async throws -> OAuth1AccessToken {
    let token = try await begin()
    return try await finish(token, verifier: try await askForCode(try authorizeURL(for: token)), naming: naming)
  }
}

extension OAuth1Flow {
  /// Sends a request for a token and reads the response.
  func exchange<Token>(
    _ url: URL, as credentials: OAuth1Credentials, sending parameters: [(name: String, value: String)],
    reading read: (OAuth1TokenResponse) throws -> Token
  ) async throws -> Token {
    let behavior = OAuth1FlowBehavior(
      session: session, origin: Origin(url),
      signer: OAuth1Signer(
        consumer: session.consumer, credentials: credentials, method: session.signatureMethod,
        options: session.options),
      parameters: parameters)
    // This request brings its own credentials, whatever the client requires of other requests.
    let request = Request<NetworkResponse>(method, url: url).with(\.authentication, .optional)
      .without(OAuth1Behavior.self).with(behavior)
    let response: NetworkResponse
    do {
      response = try await client.sendUnmapped(request)
    } catch let error as NetworkError {
      throw OAuth1Flow.refusal(in: error) ?? error
    }
    // The error shows the response in which a field is missing.
    do {
      return try read(OAuth1TokenResponse(try response.data))
    } catch var error as NetworkError {
      error.response = response
      error.request = response.request
      throw error
    }
  }

  /// Returns the reason of a refusal, from its body or its challenge.
  private static func refusal(in error: NetworkError) -> NetworkError? {
    guard error.code == .unacceptableStatus, let response = error.response else { return nil }
    return OAuth1Refusal(response).problem.map { OAuth1TokenResponse.refusal($0, response: response) }
  }
}

/// Signs a request for a token, but only on the endpoint's origin.
private struct OAuth1FlowBehavior: RequestBehavior {
  let order = BehaviorOrder.signing
  let session: OAuth1Session
  let origin: Origin?
  let signer: OAuth1Signer
  let parameters: [(name: String, value: String)]

  func modify(_ request: inout NetworkRequest) async throws {
    guard request.origin == origin else { return }
    try await session.sign(&request, with: signer, additional: parameters)
  }

  func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    guard request.origin == origin else { return try await next(request) }
    return try await session.correctingClock(request, next: next)
  }
}
