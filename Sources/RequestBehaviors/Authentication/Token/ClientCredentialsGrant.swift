/// Gets tokens for the app itself, by the client credentials grant (RFC 6749 §4.4).
///
/// ```swift
/// let endpoint = TokenEndpoint(
///   "oauth/token", clientID: id, clientSecret: secret)
/// let app = TokenSession(
///   name: "app", source: .clientCredentials(endpoint))
/// ```
///
/// Its account is the id of the client at the endpoint. Sessions that ask for other scopes have the same owner, and do
/// not share responses.
public struct ClientCredentialsGrant: TokenSource {
  let endpoint: TokenEndpoint
  private let scopes: [String]

  /// Creates a source.
  ///
  /// - Parameters:
  ///   - endpoint: The token endpoint.
  ///   - scopes: The OAuth scopes to ask for; by default the server chooses.
  public init(_ endpoint: TokenEndpoint, scopes: [String] = []) {
    self.endpoint = endpoint
    self.scopes = scopes
  }

  /// The id of the client, and the endpoint.
  public var account: String? { endpoint.account }

  /// Returns a token, with a request of grant type `client_credentials`.
  public func fetch(using client: NetworkClient) async throws -> AccessToken {
    try await endpoint.requestToken(["grant_type": "client_credentials", "scope": rights], using: client)
  }
}

extension ClientCredentialsGrant: RightsAskingTokenSource {
  /// The scopes.
  package var rights: String? { scopes.isEmpty ? nil : scopes.joined(separator: " ") }
}
