import Foundation
public import RequestBehaviors

extension TokenEndpoint {
  /// Creates the endpoint of a server, for flows, refreshes and revocations.
  ///
  /// ```swift
  /// let endpoint = TokenEndpoint(server, clientID: "shop-ios")
  /// ```
  ///
  /// - Parameters:
  ///   - server: The server.
  ///   - clientID: The id of this client.
  ///   - authentication: How the client authenticates; by default it has no secret.
  ///   - dpop: The key to which tokens are bound (RFC 9449); by default tokens are bearer tokens.
  ///   - allowsBearer: Whether a bearer token is taken although there is a key; `false` by default.
  public init(
    _ server: OAuth2Server, clientID: String, authentication: ClientAuthentication = .none, dpop: DPoPKey? = nil,
    allowsBearer: Bool = false
  ) {
    let server = authentication.usesMutualTLS ? server.forMutualTLS : server
    let types: Set<String> = dpop == nil ? ["bearer"] : allowsBearer ? ["bearer", "dpop"] : ["dpop"]
    self.init(
      url: server.token, clientID: clientID,
      parts: TokenEndpointParts(
        behaviors: dpop.map { [DPoPEndpointBehavior(key: $0)] } ?? [], tokenTypes: types,
        keyThumbprint: dpop?.thumbprint, server: server,
        behaviorsToRepeat: { response in
          guard let dpop, let nonce = DPoPKey.nonce(askedForBy: response) else { return nil }
          return [DPoPEndpointBehavior(key: dpop, nonce: nonce)]
        }
      ) { fields, headers, origins, date in
        try EndpointRules.check(server.token, as: "the token endpoint")
        try await authentication.add(for: clientID, of: server, to: &fields, &headers, origins, at: date)
      })
  }

  /// The server of the endpoint.
  ///
  /// - Throws: `NetworkError` of code `oauth2InvalidServer` if the endpoint was made without a server.
  var server: OAuth2Server {
    get throws {
      guard let server = parts?.server as? OAuth2Server else {
        throw NetworkError.invalidServer("the endpoint names no server; make it with TokenEndpoint(server, clientID:)")
      }
      return server
    }
  }

  /// Returns one of the server's endpoints.
  ///
  /// - Throws: `NetworkError` of code `oauth2InvalidServer` if the server has none.
  func url(_ endpoint: KeyPath<OAuth2Server, URL?>, _ name: String) throws -> URL {
    guard let url = try server[keyPath: endpoint] else { throw NetworkError.invalidServer("the server has no \(name)") }
    try EndpointRules.check(url, as: name)
    return url
  }

  /// Revokes a token at the server (RFC 7009): its refresh token, or if it has none, the token itself.
  ///
  /// ```swift
  /// try await session.signOut { token in
  ///   try await endpoint.revoke(token, over: client)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - token: The token.
  ///   - client: The client that sends the request, without authentication of its own.
  /// - Throws: `NetworkError`, of code `oauth2Refused` if the server says why it does not revoke,
  ///   `oauth2InvalidServer` if it has no endpoint for that, `oauth2InvalidResponse` if a page came, as captive portals
  ///   send them, and that of the request, such as `cannotConnect`. The token may be valid then: try again later.
  public func revoke(_ token: AccessToken, over client: NetworkClient) async throws {
    let url = try url(\.revoke, "revocation endpoint")
    do {
      if let refreshToken = token.refreshToken {
        do {
          return try await revoke(refreshToken, "refresh_token", at: url, over: client)
        } catch let error as NetworkError where error.oauth2?.code == .unsupportedTokenType {
          // RFC 7009 §2.2.1: the server revokes access tokens only.
        }
      }
      try await revoke(token.value, "access_token", at: url, over: client)
    } catch {
      throw NetworkError.ofStep("the revocation", error)
    }
  }

  private func revoke(_ token: String, _ kind: String, at url: URL, over client: NetworkClient) async throws {
    do {
      let response = try await send(at: url, using: client.prerequisites) {
        ["token": token, "token_type_hint": kind]
      }
      // Some servers refuse with the status 200, as at the token endpoint.
      if let problem = OAuth2Problem(response) { throw NetworkError.refusal(problem, of: "the revocation", response) }
      // §2.2: any other body is ignored. But a captive portal responds with a page, and then nothing was revoked.
      guard !response.isPage else {
        throw NetworkError.invalidResponse(
          "the response to the revocation is a page, which a portal may send", response)
      }
    } catch let error as NetworkError where error.oauth2?.code == .invalidToken {
      // RFC 7009 §2.2: the purpose, that the token be of no use, is achieved.
    }
  }
}
