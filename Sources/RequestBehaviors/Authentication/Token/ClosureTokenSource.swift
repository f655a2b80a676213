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

  /// The account that the tokens are for.
  public let account: String?
  private let fetch: Fetch?
  private let refresh: Refresh?

  /// Creates a source.
  ///
  /// - Parameters:
  ///   - account: The account that the tokens are for if no user signs in; none by default.
  ///   - fetch: Returns a first token; without it, the user must sign in.
  ///   - refresh: Returns a newer token; without it, the first closure is used.
  public init(account: String? = nil, fetch: Fetch? = nil, refresh: Refresh? = nil) {
    self.account = account
    self.fetch = fetch
    self.refresh = refresh
  }

  /// Returns the closure's token.
  public func fetch(using client: NetworkClient) async throws -> AccessToken {
    guard let fetch else { throw NetworkError.notSignedIn() }
    return try await fetch(client)
  }

  /// Returns the token of the closure for newer tokens; without that one, of the closure for a first token.
  public func refresh(_ token: AccessToken, using client: NetworkClient) async throws -> AccessToken {
    if let refresh { return try await refresh(token, client) }
    guard let fetch else {
      throw NetworkError.unrefreshable("the token is no longer good and cannot be refreshed; sign in again")
    }
    return try await fetch(client)
  }
}
