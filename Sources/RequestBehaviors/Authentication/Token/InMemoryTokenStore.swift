/// Keeps a token for as long as the process lives.
public final class InMemoryTokenStore: TokenStore {
  private let token: Locked<AccessToken?>

  /// Creates a store.
  ///
  /// - Parameter token: The token that it holds at first; none by default.
  public init(_ token: AccessToken? = nil) { self.token = Locked(token) }

  /// Returns the token; `nil` if there is no token.
  public func load() async throws -> AccessToken? { token.withLock { $0 } }

  /// Replaces the token.
  public func save(_ token: AccessToken?) async throws { self.token.withLock { $0 = token } }

  /// Replaces the token if it is the one that is expected.
  public func replace(_ old: AccessToken?, with new: AccessToken?) async throws -> Bool {
    token.withLock { token in
      guard AccessToken.isSame(token, old) else { return false }
      token = new
      return true
    }
  }
}
