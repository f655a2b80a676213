/// Gets first and newer tokens.
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
/// The client that a source is given sends to the same server without authentication. It does not wait for a resource
/// that the waiting requests hold. A source that uses another client with the same session gets an error that says so.
///
/// The error of a source fails the requests that wait, as the cause of an error of code
/// ``NetworkError/Code-swift.struct/tokenUnavailable``. It ends the session if the server sent the OAuth error
/// `invalid_grant` (RFC 6749 §5.2): a JSON object, with a status below 500, verified and not redirected.
/// From `JWTBearerGrant` of `RequestBehaviorsOAuth2` it is about one assertion, and does not end the session.
/// ``NetworkError/notSignedIn(_:)`` ends it too; a source for a server of another kind throws it to say the same. After
/// any other error, even a 401 or 403, the session keeps its token and asks again for the next request.
public protocol TokenSource: Sendable {
  /// The account that the tokens are for if no user signs in, such as the client id of a service; `nil`, the default,
  /// if users sign in.
  ///
  /// It is the owner of what the session's requests leave behind: the same one after each launch, and without a first
  /// token. A queue such as the outbox of `RequestBehaviorsSQLite` keeps requests for it. Only a hash of it is kept. A
  /// user who signs in to the session all the same is another owner.
  var account: String? { get }

  /// Returns a first token.
  ///
  /// - Parameter client: The client to send with; it sends to the server without authentication.
  /// - Returns: The token.
  /// - Throws: By default ``NetworkError`` of code ``NetworkError/Code-swift.struct/notSignedIn``: the user must sign
  ///   in.
  func fetch(using client: NetworkClient) async throws -> AccessToken

  /// Returns a newer token in place of one that is about to expire or that the server does not accept any more.
  ///
  /// If the newer token lacks a refresh token or scopes, the session keeps the old ones.
  ///
  /// - Parameters:
  ///   - token: The old token.
  ///   - client: The client to send with; it sends to the server without authentication.
  /// - Returns: The newer token; by default, a first token.
  /// - Throws: The error for the requests that wait.
  func refresh(_ token: AccessToken, using client: NetworkClient) async throws -> AccessToken
}

extension TokenSource {
  /// No account by default.
  public var account: String? { nil }

  /// Throws by default, because a first token comes from the user, by signing in.
  public func fetch(using client: NetworkClient) async throws -> AccessToken { throw NetworkError.notSignedIn() }

  /// Gets a newer token like a first one by default.
  public func refresh(_ token: AccessToken, using client: NetworkClient) async throws -> AccessToken {
    try await fetch(using: client)
  }
}

extension TokenSource where Self == ClosureTokenSource {
  /// A source without tokens, for an API whose login gives one token that cannot be refreshed.
  ///
  /// The token comes from ``TokenSession/signIn(_:)``. When it has expired or is refused, requests fail with
  /// ``NetworkError/Code-swift.struct/notSignedIn`` until the user signs in again.
  public static var signInOnly: ClosureTokenSource { ClosureTokenSource() }

  /// A source that gets every token with a closure.
  ///
  /// - Parameters:
  ///   - account: The account that the tokens are for if no user signs in (``TokenSource/account``); none by default.
  ///   - fetch: Returns a token.
  /// - Returns: The source.
  public static func closure(
    account: String? = nil, _ fetch: @escaping ClosureTokenSource.Fetch
  ) -> ClosureTokenSource {
    ClosureTokenSource(account: account, fetch: fetch)
  }

  /// A source that refreshes with a closure the token that the user signed in with.
  public static func refreshing(_ refresh: @escaping ClosureTokenSource.Refresh) -> ClosureTokenSource {
    ClosureTokenSource(refresh: refresh)
  }
}
