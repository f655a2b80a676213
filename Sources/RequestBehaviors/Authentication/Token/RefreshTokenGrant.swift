/// Refreshes the token that the user signed in with, by its refresh token (RFC 6749 §6).
///
/// ```swift
/// let endpoint = TokenEndpoint("oauth/token", clientID: "shop-ios")
/// let session = TokenSession(
///   source: .refreshToken(endpoint), store: store)
/// ```
///
/// There is no first token: the user signs in.
public struct RefreshTokenGrant: TokenSource {
  private let endpoint: TokenEndpoint

  /// Creates a source.
  public init(_ endpoint: TokenEndpoint) { self.endpoint = endpoint }

  /// Returns a newer token, with a request of grant type `refresh_token`.
  ///
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/notSignedIn`` if the token came without a
  ///   refresh token.
  public func refresh(_ token: AccessToken, using client: NetworkClient) async throws -> AccessToken {
    guard let refreshToken = token.refreshToken else {
      throw NetworkError.notSignedIn("the token is no longer good and came without a refresh token; sign in again")
    }
    return try await endpoint.requestToken(
      ["grant_type": "refresh_token", "refresh_token": refreshToken], using: client)
  }
}

extension TokenSource where Self == RefreshTokenGrant {
  /// Refreshes the token that the user signed in with; see ``RefreshTokenGrant``.
  public static func refreshToken(_ endpoint: TokenEndpoint) -> RefreshTokenGrant { RefreshTokenGrant(endpoint) }
}
