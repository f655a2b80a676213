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
/// ``NetworkError/Code-swift.struct/tokenUnavailable``. It is the end of the session if the server answered with the
/// OAuth error `invalid_grant` (RFC 6749 §5.2): a JSON object, with a status below 500, verified and not redirected. It
/// is the end too if the source throws ``NetworkError/notSignedIn(_:)``, by which a source for a server of another kind
/// says the same. After any other error, a 401 or 403 included, the session keeps its token and asks again for the next
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

/// A token source of closures.
///
/// ```swift
/// let session = TokenSession(
///   source: .closure { client in
///     try await client.send(
///       .get("xapp_token", query: ["client_id": id]))
///   })
/// ```
public struct ClosureTokenSource: TokenSource {
  /// Returns a first token.
  public typealias Fetch = @Sendable (NetworkClient) async throws -> AccessToken
  /// Returns a newer token.
  public typealias Refresh = @Sendable (AccessToken, NetworkClient) async throws -> AccessToken

  private let fetch: Fetch?
  private let refresh: Refresh?

  /// Creates a source.
  ///
  /// - Parameters:
  ///   - fetch: Returns a first token; without it, the user must sign in.
  ///   - refresh: Returns a newer token; without it, one is got like a first.
  public init(fetch: Fetch? = nil, refresh: Refresh? = nil) {
    self.fetch = fetch
    self.refresh = refresh
  }

  /// Returns what the closure returns.
  public func fetch(using client: NetworkClient) async throws -> AccessToken {
    guard let fetch else { throw NetworkError.notSignedIn() }
    return try await fetch(client)
  }

  /// Returns what the closure for newer tokens returns; without one, that for a first.
  public func refresh(_ token: AccessToken, using client: NetworkClient) async throws -> AccessToken {
    guard let refresh else { return try await fetch(using: client) }
    return try await refresh(token, client)
  }
}

extension TokenSource where Self == ClosureTokenSource {
  /// A source that gets every token with a closure.
  public static func closure(_ fetch: @escaping ClosureTokenSource.Fetch) -> ClosureTokenSource {
    ClosureTokenSource(fetch: fetch)
  }

  /// A source that refreshes with a closure the token that the user signed in with.
  public static func refreshing(_ refresh: @escaping ClosureTokenSource.Refresh) -> ClosureTokenSource {
    ClosureTokenSource(refresh: refresh)
  }
}
