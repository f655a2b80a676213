public import Foundation
public import RequestBehaviors

/// Signs a user in with a browser: authorization code with a proof key (RFC 6749 §4.1, RFC 7636).
///
/// ```swift
/// let flow = OAuth2Flow(
///   session: session, endpoint: endpoint,
///   redirectURI: URL(string: "com.example.shop:/signed-in")!,
///   scopes: ["orders.read"], over: client)
/// let grant = try await flow.signIn { url in
///   // Shows the page and returns the URL of the callback.
///   try await browser.open(url)
/// }
/// ```
///
/// An app that may be ended while the user is in the browser takes the steps one by one, and stores the sign-in between
/// them: ``begin(_:)``, ``finish(_:callback:as:)``.
///
/// A callback is accepted only if it is of this sign-in: its address, its state, and its issuer if that is known. Each
/// code is exchanged once. The method of the proof key is always S256. Only a complete and valid response signs the
/// session in; no error signs it out.
public struct OAuth2Flow: Sendable {
  /// Checks the signature of an ID token; throws if it is wrong.
  public typealias Verify =
    @Sendable (_ signingInput: [UInt8], _ signature: [UInt8], _ algorithm: String, _ keyID: String?) async throws
    -> Void

  /// The session that is signed in at the end.
  public let session: TokenSession
  /// The token endpoint, made with a server.
  public let endpoint: TokenEndpoint
  /// The URL that the server sends the user back to.
  public let redirectURI: URL
  /// The scopes to ask for.
  public let scopes: [String]
  /// The resources for which the token is to be (RFC 8707); none by default.
  public let resources: [URL]
  let client: NetworkClient
  private let verify: Verify?

  /// Creates a flow.
  ///
  /// - Parameters:
  ///   - session: The session that is signed in at the end.
  ///   - endpoint: The token endpoint, made with `TokenEndpoint(server, clientID:)`.
  ///   - redirectURI: The URL that the server sends the user back to: https, http on this machine, or of a private
  ///     scheme such as `com.example.shop:/signed-in`. It must be registered with the server, as the same text.
  ///   - scopes: The scopes to ask for; by default the server chooses. With `openid` there will be an ID token.
  ///   - resources: The resources for which the token is to be (RFC 8707).
  ///   - client: The client that sends the requests, without its authentication.
  ///   - verify: Checks the signature of an ID token; not needed for one from the token endpoint (OpenID Connect Core
  ///     §3.1.3.7, point 6).
  public init(
    session: TokenSession, endpoint: TokenEndpoint, redirectURI: URL, scopes: [String] = [], resources: [URL] = [],
    over client: NetworkClient, verify: Verify? = nil
  ) {
    self.session = session
    self.endpoint = endpoint
    self.redirectURI = redirectURI
    self.scopes = scopes
    self.resources = resources
    self.client = client.prerequisites
    self.verify = verify
  }

  /// Begins a sign-in.
  ///
  /// Nothing is sent, unless the server requires that parameters are pushed to it first (RFC 9126).
  ///
  /// - Parameter parameters: Further parameters of the page, such as `prompt` or `login_hint`.
  /// - Returns: The sign-in, with the page to open.
  /// - Throws: `NetworkError`, of code `oauth2InvalidServer` if the server or a parameter breaks a rule, and
  ///   `oauth2Refused` if the server refuses the push.
  public func begin(_ parameters: Query = [:]) async throws -> OAuth2SignIn {
    let server = try endpoint.server
    let page = try endpoint.url(\.authorize, "authorization endpoint")
    try check(server)
    let isOpenID = scopes.contains("openid")
    let request = AuthorizationRequest(
      clientID: endpoint.clientID, redirectURI: redirectURI, scopes: scopes, state: Nonce.make(),
      verifier: ProofKey.makeVerifier(), nonce: isOpenID ? Nonce.make() : nil,
      keyThumbprint: endpoint.parts?.keyThumbprint, resources: resources, additional: parameters)
    try request.check(page)
    let query = server.requiresPush ? try await push(request.parameters) : request.parameters
    return OAuth2SignIn(
      url: try AuthorizationRequest.url(page, query), redirectURI: redirectURI, scopes: scopes,
      date: client.configuration.clock.date(), state: request.state, verifier: request.verifier, nonce: request.nonce,
      server: server, clientID: endpoint.clientID, keyThumbprint: request.keyThumbprint)
  }

  private func check(_ server: OAuth2Server) throws {
    try EndpointRules.check(server.token, as: "the token endpoint")
    try EndpointRules.checkRedirect(redirectURI)
    guard server.supportsProofKeys else {
      throw NetworkError.invalidServer("the server's metadata do not list the proof key method S256 (RFC 7636)")
    }
    guard server.issuer != nil || !scopes.contains("openid") else {
      throw NetworkError.invalidServer("the scope openid needs the server's issuer, with which ID tokens are compared")
    }
  }

  /// Pushes the parameters to the server (RFC 9126 §2), and returns those of the page.
  private func push(_ parameters: Query) async throws -> Query {
    let url = try endpoint.url(\.push, "endpoint for pushed authorization requests, which it requires")
    do {
      let response = try await endpoint.send(at: url, using: client) { parameters }
      if let problem = OAuth2Problem(response) {
        throw NetworkError.refusal(problem, of: "the pushed request", response)
      }
      guard let members = JSONObject(response), let uri = members.text("request_uri"), !uri.isEmpty else {
        throw NetworkError.invalidResponse("the response to the push has no request_uri (RFC 9126 §2.2)", response)
      }
      return ["client_id": endpoint.clientID, "request_uri": uri]
    } catch {
      throw NetworkError.ofStep("the pushed request", error)
    }
  }
}

extension OAuth2Flow {
  /// Exchanges the code of a callback, and signs the session in.
  ///
  /// - Parameters:
  ///   - signIn: The sign-in.
  ///   - callback: The URL with the code.
  ///   - age: The time since the sign-in began; `nil` for that since its date.
  ///   - name: Returns the name of the account.
  /// - Returns: The grant.
  /// - Throws: As the public `finish`.
  func finish(
    _ signIn: OAuth2SignIn, _ callback: URL, age: Duration? = nil, naming name: (OAuth2Grant) async throws -> String?
  ) async throws -> OAuth2Grant {
    try check(signIn, age: age)
    let outcome = OAuth2Callback.read(callback, for: signIn)
    if case .unexpected(let reason) = outcome {
      throw NetworkError(.oauth2UnexpectedCallback, "the URL is not the callback of this sign-in: \(reason)")
    }
    guard session.begin(signIn) else {
      throw NetworkError(.oauth2AlreadyFinished, "this callback was handed over before; its code is used once only")
    }
    switch outcome {
    case .code(let code): return try await exchange(code, for: signIn, naming: name)
    case .refused(let problem): throw NetworkError.refusal(problem, of: "the sign-in")
    case .invalid(let reason), .unexpected(let reason):
      throw NetworkError.invalidResponse("the callback breaks a rule: \(reason)")
    }
  }

  /// The monotonic time.
  func now() -> Duration { client.configuration.clock.now() }

  private func check(_ signIn: OAuth2SignIn, age: Duration?) throws {
    guard signIn.format == OAuth2SignIn.currentFormat else {
      throw NetworkError(
        .oauth2Expired,
        "the sign-in has the format \(signIn.format), and this version reads \(OAuth2SignIn.currentFormat)")
    }
    let age = age?.inSeconds ?? client.configuration.clock.date().timeIntervalSince(signIn.date)
    // A date in the future counts as now, because a clock may have been set back.
    guard age <= OAuth2SignIn.lifetime else {
      throw NetworkError(.oauth2Expired, "the sign-in began more than an hour ago; begin another one")
    }
    // A secret of this flow's client must not go to the server of another one.
    guard signIn.clientID == endpoint.clientID, signIn.tokenEndpoint == (try endpoint.server.token) else {
      throw NetworkError.invalidServer(
        "the sign-in was begun for another client or token endpoint; finish it with the flow that began it")
    }
    guard signIn.keyThumbprint == endpoint.parts?.keyThumbprint else {
      throw NetworkError(.oauth2SigningFailed, "the sign-in was begun with another DPoP key; begin another one")
    }
  }

  /// Exchanges the code at the endpoint with which the sign-in began (RFC 6749 §4.1.3), and signs the session in.
  private func exchange(
    _ code: String, for signIn: OAuth2SignIn, naming name: (OAuth2Grant) async throws -> String?
  ) async throws -> OAuth2Grant {
    let request = (scopes: signIn.scopes, mark: await session.signInMark(on: client.configuration.clock))
    let result: (token: AccessToken, response: NetworkResponse)
    let sending = SendMark()
    do {
      result = try await endpoint.exchange(
        at: signIn.tokenEndpoint, using: client.with { $0.behaviors.append(sending) }
      ) {
        [
          "grant_type": "authorization_code", "code": code, "redirect_uri": signIn.redirectURI.absoluteString,
          "code_verifier": signIn.verifier, "resource": resources.map(\.absoluteString),
        ]
      }
    } catch {
      // A code that never left is still good.
      if !sending.isSet || (error as? NetworkError)?.mayHaveArrived == false { session.undo(signIn) }
      throw NetworkError.ofStep("the code", error)
    }
    let idToken: IDToken?
    do {
      idToken = try await self.idToken(result, for: signIn)
    } catch {
      await session.revokeUnlessSignedIn(result.token, by: discard)
      throw error
    }
    return try await session.signIn(result, request, idToken: idToken, naming: name, orRevoke: discard)
  }

  private var discard: @Sendable (AccessToken) async -> Void {
    { [endpoint, client] in await endpoint.discard($0, over: client) }
  }

  private func idToken(
    _ result: (token: AccessToken, response: NetworkResponse), for signIn: OAuth2SignIn
  ) async throws -> IDToken? {
    guard signIn.scopes.contains("openid"), let issuer = signIn.issuer else { return nil }
    guard let text = JSONObject(result.response)?.text("id_token") else {
      throw NetworkError.invalidResponse("the response has no id_token, which the scope openid asks for")
    }
    do {
      let token = try IDToken(
        text,
        IDToken.Expectation(
          issuer: issuer, clientID: signIn.clientID, nonce: signIn.nonce, accessToken: result.token.value,
          now: client.configuration.clock.date()))
      try await checkSignature(of: token)
      return token
    } catch let problem as IDToken.Problem {
      throw NetworkError.invalidResponse("the ID token breaks a rule: \(problem.rule)")
    }
  }

  /// Checks the signature with the user's closure, if there is one.
  private func checkSignature(of token: IDToken) async throws {
    let parts = token.text.split(separator: ".")
    guard let verify, let signature = parts.last.flatMap({ Base64URL.decode($0) }) else { return }
    try await verify(
      Array(parts.dropLast().joined(separator: ".").utf8), signature, token.header.text("alg") ?? "",
      token.header.text("kid"))
  }
}
