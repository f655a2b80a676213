import Foundation

/// Gets tokens for the app itself, by the client credentials grant (RFC 6749 §4.4).
///
/// ```swift
/// let endpoint = TokenEndpoint(
///   "oauth/token", clientID: id, clientSecret: secret)
/// let app = TokenSession(
///   name: "app", source: .clientCredentials(endpoint))
/// ```
///
/// Its account is the id of the client at the endpoint. Sessions that ask for other scopes, or with other parameters,
/// have the same owner, and do not share responses.
public struct ClientCredentialsGrant: TokenSource {
  let endpoint: TokenEndpoint
  private let scopes: [String]
  private let parameters: Query

  /// Creates a source.
  ///
  /// - Parameters:
  ///   - endpoint: The token endpoint.
  ///   - scopes: The OAuth scopes to ask for; by default the server chooses.
  ///   - parameters: Further fields of the token request, such as `audience`, or `resource` (RFC 8707 §2); none by
  ///     default. Those of the grant and of the client's authentication cannot be given.
  public init(_ endpoint: TokenEndpoint, scopes: [String] = [], parameters: Query = [:]) {
    self.endpoint = endpoint
    self.scopes = scopes
    self.parameters = parameters
  }

  /// The id of the client, and the endpoint.
  public var account: String? { endpoint.account }

  /// Returns a token, with a request of grant type `client_credentials`.
  ///
  /// - Throws: ``NetworkError``; of code ``NetworkError/Code-swift.struct/invalidRequest`` for a parameter that cannot
  ///   be given.
  public func fetch(using client: NetworkClient) async throws -> AccessToken {
    var grant: Query = ["grant_type": "client_credentials", "scope": scope]
    for item in parameters.items {
      // A parameter must not come twice (RFC 6749 §3.2).
      guard !Self.own.contains(item.name) else {
        throw NetworkError(.invalidRequest, "the parameter \(item.name) is set by the token source and cannot be given")
      }
      grant.append(item.name, item.value)
    }
    return try await endpoint.requestToken(grant, using: client)
  }

  /// The fields that the source and the client's authentication set.
  private static let own: Set<String> = [
    "grant_type", "scope", "client_id", "client_secret", "client_assertion", "client_assertion_type",
  ]

  private var scope: String? { scopes.isEmpty ? nil : scopes.joined(separator: " ") }
}

extension ClientCredentialsGrant: RightsAskingTokenSource {
  /// The scopes, and a digest of the parameters, which may be secret.
  package var rights: String? {
    guard !parameters.items.isEmpty else { return scope }
    let digest = Digest.sha256(of: Data(parameters.percentEncoded.utf8)).base64
    return [scope, "with \(digest)"].compactMap(\.self).joined(separator: " ")
  }
}
