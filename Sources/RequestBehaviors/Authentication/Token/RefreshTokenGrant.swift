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
  let endpoint: TokenEndpoint
  private let finalErrors: Set<String>

  /// Creates a source.
  ///
  /// - Parameters:
  ///   - endpoint: The token endpoint.
  ///   - finalErrors: The error codes of the endpoint that end the session besides `invalid_grant`, such as those of a
  ///     server that has its own; none by default.
  public init(_ endpoint: TokenEndpoint, endsSessionOn finalErrors: Set<String> = []) {
    self.endpoint = endpoint
    self.finalErrors = finalErrors
  }

  /// Returns a newer token, with a request of grant type `refresh_token`.
  ///
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/notSignedIn`` if the token came without a
  ///   refresh token.
  public func refresh(_ token: AccessToken, using client: NetworkClient) async throws -> AccessToken {
    guard let refreshToken = token.refreshToken, !refreshToken.isEmpty else {
      throw NetworkError.unrefreshable("the token is no longer good and came without a refresh token; sign in again")
    }
    if let problem = problem(of: token) { throw problem }
    // The server's own final errors end the session as `invalid_grant` does.
    do {
      return try await endpoint.requestToken(
        ["grant_type": "refresh_token", "refresh_token": refreshToken], using: client)
    } catch let error as NetworkError {
      guard let code = RefreshFailure.oauthError(of: error), finalErrors.contains(code) else { throw error }
      throw NetworkError(
        .notSignedIn, "the token endpoint refused with the error \(RefreshFailure.shown(code)); sign in again",
        response: error.response, underlyingError: error)
    }
  }
}
