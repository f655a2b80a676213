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
