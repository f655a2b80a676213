/// Gets tokens: a first one, and newer ones.
///
/// ```swift
/// struct AccountTokens: TokenSource {
///   func refresh(
///     _ token: AccessToken, using client: NetworkClient
///   ) async throws -> AccessToken {
///     let form: Query = ["refresh_token": token.refreshToken]
///     return try await client.send(
///       .post("token/refresh", body: .form(form)))
///   }
/// }
/// ```
///
/// The client that it is given sends to the same server without authentication, and can wait for nothing that the
/// requests hold which wait for the token. A source that uses another client with the same session is told so by an
/// error.
///
/// What a source throws fails the requests that wait, as the cause of an error of code
/// ``NetworkError/Code-swift.struct/tokenUnavailable``. It is the end of the session, if the token endpoint answered 401,
/// 403, or 400 with the error `invalid_grant` (RFC 6749 §5.2) and the response is verified, or if it is
/// ``NetworkError/notSignedIn(_:)``; after any other error the session keeps its token and asks again for the next
/// request.
public protocol TokenSource: Sendable {
  /// Returns a first token, when there is none.
  ///
  /// - Parameter client: Sends to the server without authentication.
  /// - Returns: The token.
  /// - Throws: By default ``NetworkError`` of code ``NetworkError/Code-swift.struct/notSignedIn``: the user must sign in.
  func fetch(using client: NetworkClient) async throws -> AccessToken

  /// Returns a newer token in place of one that expires or that the server does not accept any more.
  ///
  /// A refresh token and scopes that the newer one lacks are taken over from the old.
  ///
  /// - Parameters:
  ///   - token: The old token.
  ///   - client: Sends to the server without authentication.
  /// - Returns: The newer token; by default, a first token.
  /// - Throws: What fails the requests that wait.
  func refresh(_ token: AccessToken, using client: NetworkClient) async throws -> AccessToken
}

extension TokenSource {
  /// By default a first token comes from the user, by signing in.
  public func fetch(using client: NetworkClient) async throws -> AccessToken { throw NetworkError.notSignedIn() }

  /// By default a newer token is got like a first.
  public func refresh(_ token: AccessToken, using client: NetworkClient) async throws -> AccessToken {
    try await fetch(using: client)
  }
}
