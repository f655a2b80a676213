public import Foundation

/// A token endpoint (RFC 6749 §3.2), and how this client authenticates to it.
///
/// ```swift
/// let endpoint = TokenEndpoint(
///   "oauth/token", clientID: "shop-ios", clientSecret: secret)
/// ```
public struct TokenEndpoint: Sendable {
  /// The places of the client's id and secret in a request (RFC 6749 §2.3.1).
  public enum SecretPlace: Sendable, Hashable {
    /// Id and secret in the `Authorization` field (`client_secret_basic`).
    case basic
    /// Id and secret in the body (`client_secret_post`).
    case post
  }

  private enum Place: Sendable {
    case path(RequestPath)
    case url(URL)

    var scope: OriginScope {
      switch self {
      case .path: .baseURL
      case .url(let url): .only(Set([Origin(url)].compactMap(\.self)))
      }
    }
  }

  private let place: Place
  package let clientID: String
  private let clientSecret: String?
  private let authentication: SecretPlace
  /// The parts that another module adds; `nil` if there are no such parts.
  package let parts: TokenEndpointParts?

  /// Creates an endpoint below the base URL of the client with which the session is first used.
  ///
  /// Other clients of the session get their tokens there too, whatever their server. To name the server, use
  /// ``init(url:clientID:clientSecret:authentication:)``.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - clientID: The id of this client.
  ///   - clientSecret: Its secret; without one, the id is sent in the body.
  ///   - authentication: The place of both; by default the `Authorization` field.
  public init(
    _ path: RequestPath, clientID: String, clientSecret: String? = nil, authentication: SecretPlace = .basic
  ) {
    self.place = .path(path)
    self.clientID = clientID
    self.clientSecret = clientSecret
    self.authentication = authentication
    self.parts = nil
  }

  /// Creates an endpoint on any server.
  ///
  /// - Parameters:
  ///   - url: The full URL.
  ///   - clientID: The id of this client.
  ///   - clientSecret: Its secret; without one, the id is sent in the body.
  ///   - authentication: The place of both; by default the `Authorization` field.
  public init(
    url: URL, clientID: String, clientSecret: String? = nil, authentication: SecretPlace = .basic
  ) {
    self.place = .url(url)
    self.clientID = clientID
    self.clientSecret = clientSecret
    self.authentication = authentication
    self.parts = nil
  }

  /// Creates an endpoint whose client authenticates as the parts say.
  package init(url: URL, clientID: String, parts: TokenEndpointParts) {
    self.place = .url(url)
    self.clientID = clientID
    self.clientSecret = nil
    self.authentication = .post
    self.parts = parts
  }

  /// Returns the token that the endpoint gives for a grant.
  ///
  /// The response must be a JSON object (RFC 6749 §5.1) with a token of type Bearer. A response with an `error` is a
  /// refusal, whatever its status. A redirect is not followed, and a request that may have arrived is not sent again:
  /// the grant may be valid for one use only.
  ///
  /// - Parameters:
  ///   - grant: The fields of the grant, `grant_type` first; `nil` values are left out.
  ///   - client: The client that sends the request, without authentication of its own.
  /// - Returns: The token.
  /// - Throws: ``NetworkError``; of code ``NetworkError/Code-swift.struct/tokenUnavailable`` if the response is no
  ///   token.
  public func requestToken(_ grant: Query, using client: NetworkClient) async throws -> AccessToken {
    try await exchange(using: client) { grant }.token
  }

  /// Returns the token that the endpoint gives for a grant, and the response with its other members.
  ///
  /// - Parameters:
  ///   - url: The URL of the endpoint; its own by default.
  ///   - client: The client that sends the request.
  ///   - makeGrant: Returns the fields of the grant; called for each send, as for ``send(at:using:_:)``.
  /// - Returns: The token and the response.
  /// - Throws: As ``requestToken(_:using:)``.
  package func exchange(
    at url: URL? = nil, using client: NetworkClient, _ makeGrant: () async throws -> Query
  ) async throws -> (token: AccessToken, response: NetworkResponse) {
    let response = try await send(at: url, using: client, makeGrant)
    guard let answer = TokenEndpointResponse(response, type: parts?.tokenTypes ?? ["bearer"]) else {
      throw notToken(response, "it is not a JSON object")
    }
    if let code = answer.error {
      throw NetworkError(
        .tokenUnavailable,
        "the token endpoint refused with the error \(RefreshFailure.shown(code)) and the status \(response.statusCode)",
        response: response)
    }
    do {
      var token = try answer.token.get()
      if token.type != "Bearer" { token.keyThumbprint = parts?.keyThumbprint }
      return (token, response)
    } catch {
      throw notToken(response, error.text)
    }
  }

  /// Sends fields with the client's authentication, once more if the server asks for that, and returns its response.
  ///
  /// A server that asks for a nonce (RFC 9449 §8) gets another request, and not the same one again: it may have noted
  /// the `jti` of an assertion.
  ///
  /// - Parameters:
  ///   - url: The URL, such as that of revocations; the endpoint's own by default.
  ///   - client: The client that sends the request.
  ///   - makeFields: Returns the fields of the form; called for each send.
  /// - Returns: The response, with its body in memory.
  /// - Throws: The error of a closure that signs, or ``NetworkError``; every status but 2xx is one.
  package func send(
    at url: URL? = nil, using client: NetworkClient, _ makeFields: () async throws -> Query
  ) async throws -> NetworkResponse {
    do {
      return try await sendOnce(makeFields(), url, client, parts?.behaviors ?? [])
    } catch let error as NetworkError {
      guard let response = error.response, let behaviors = parts?.behaviorsToRepeat(response) else { throw error }
      return try await sendOnce(makeFields(), url, client, behaviors)
    }
  }

  private func sendOnce(
    _ fields: Query, _ url: URL?, _ client: NetworkClient, _ behaviors: [any RequestBehavior]
  ) async throws -> NetworkResponse {
    var request = try await request(fields, at: url, on: client.configuration.clock)
    for behavior in behaviors { request = request.with(behavior) }
    return try await client.send(request.with(\.acceptableStatuses, .success)).buffered()
  }

  /// Returns a request of the client with its authentication, which is sent to one server only and once.
  ///
  /// - Parameters:
  ///   - fields: The fields of the form.
  ///   - url: The URL, such as that of revocations; the endpoint's own by default.
  ///   - clock: The clock for the times of assertions.
  /// - Returns: The request.
  /// - Throws: The error of a closure that signs.
  private func request(
    _ fields: Query, at url: URL?, on clock: RequestClock
  ) async throws -> Request<NetworkResponse> {
    let place = url.map { Place.url($0) } ?? place
    var (fields, headers) = (fields, HeaderFields())
    headers[.accept] = "application/json"
    if let parts {
      try await parts.authenticate(&fields, &headers, place.scope, clock.date())
    } else if let clientSecret, authentication == .basic {
      headers.set("Authorization", TokenEndpoint.basic(clientID, clientSecret), sensitive: place.scope)
    } else {
      fields.append("client_id", clientID)
      if let clientSecret { fields.append("client_secret", clientSecret) }
    }
    var request: Request<NetworkResponse> =
      switch place {
      case .path(let path): .post(path, body: .form(fields), headers: headers)
      case .url(let url): .post(url: url, body: .form(fields), headers: headers)
      }
    // The body holds the secrets. Whatever the client allows its requests, this one goes to this server only, and once.
    request.options.redirects = .none
    request.options.idempotencyKey = nil
    request.options.hedging = nil
    request.options.isSentOnce = fields.items.contains { TokenEndpoint.fieldsForOneUse.contains($0.name) }
    return request
  }

  /// The fields whose value a server may take once.
  private static let fieldsForOneUse: Set<String> = [
    "code", "device_code", "refresh_token", "assertion", "client_assertion",
  ]

  /// Returns the `Authorization` of a client.
  ///
  /// Both are form-encoded before they are joined (RFC 6749 §2.3.1), so that a colon in the id does no harm.
  package static func basic(_ clientID: String, _ secret: String) -> String {
    let joined = "\(PercentEncoding.escape(clientID)):\(PercentEncoding.escape(secret))"
    return "Basic " + Data(joined.utf8).base64EncodedString()
  }

  /// The message tells only the form of the response, because there may be a token in it.
  private func notToken(_ answer: NetworkResponse, _ reason: String) -> NetworkError {
    let type = answer.headers[.contentType] ?? "without a type"
    return NetworkError(
      .tokenUnavailable,
      "the token endpoint answered \(answer.statusCode) with no token (\(type)): \(reason); is the URL right?",
      response: answer)
  }
}

extension TokenEndpoint {
  /// The account that this client is at the endpoint: its secret may change, and the id does not.
  package var account: String {
    switch place {
    case .path(let path): "\(clientID) at \(path.encoded)"
    case .url(let url): "\(clientID) at \(url.absoluteString)"
    }
  }
}

extension TokenEndpoint: CustomStringConvertible, CustomReflectable {
  /// The endpoint's URL and the id of the client, without its secret.
  public var description: String {
    switch place {
    case .path(let path): "\(path.template) for \(clientID)"
    case .url(let url): "\(Redactor.standard.redact(url)) for \(clientID)"
    }
  }

  /// Only the description.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension TokenSource where Self == RefreshTokenGrant {
  /// Refreshes the token that the user signed in with; see ``RefreshTokenGrant``.
  public static func refreshToken(
    _ endpoint: TokenEndpoint, endsSessionOn finalErrors: Set<String> = []
  ) -> RefreshTokenGrant {
    RefreshTokenGrant(endpoint, endsSessionOn: finalErrors)
  }
}

extension TokenSource where Self == ClientCredentialsGrant {
  /// Gets tokens for the app itself; see ``ClientCredentialsGrant``.
  ///
  /// - Parameters:
  ///   - endpoint: The token endpoint.
  ///   - scopes: The OAuth scopes to ask for; by default the server chooses.
  ///   - parameters: Further fields of the token request, such as `audience`; none by default.
  /// - Returns: The source.
  public static func clientCredentials(
    _ endpoint: TokenEndpoint, scopes: [String] = [], parameters: Query = [:]
  ) -> ClientCredentialsGrant {
    ClientCredentialsGrant(endpoint, scopes: scopes, parameters: parameters)
  }
}
