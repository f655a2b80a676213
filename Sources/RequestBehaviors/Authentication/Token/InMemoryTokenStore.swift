import Foundation

/// Keeps a token for as long as the process lives.
public final class InMemoryTokenStore: TokenStore {
  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var token: AccessToken?

  /// Creates a store.
  ///
  /// - Parameter token: The token that it holds at first; none by default.
  public init(_ token: AccessToken? = nil) { self.token = token }

  /// Returns the token; `nil` if there is none.
  public func load() async throws -> AccessToken? { lock.withLock { token } }

  /// Replaces the token.
  public func save(_ token: AccessToken?) async throws { lock.withLock { self.token = token } }
}
