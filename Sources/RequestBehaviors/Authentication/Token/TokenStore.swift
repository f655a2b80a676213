import Foundation

/// Keeps the token of a session between launches.
///
/// A session reads it before the first request and around every refresh, and writes it whenever the token changes. All
/// sessions over one store share one state, so that a token is refreshed once for all of them. They also see the
/// changes of another process that uses the same place. Keep the whole token, as its `Codable` does.
///
/// Two processes that refresh one token at the same time spend its refresh token twice, and many servers then end the
/// session. ``FileTokenStore`` and `SQLiteTokenStore` let one process at a time refresh. Your own store that several
/// processes share implements ``withRefreshLock(_:)`` and ``replace(_:with:)`` too; ``FileLock`` helps.
///
/// The session waits for its store, so the methods of a store must not use the session, nor a client that needs its
/// token. They fail with ``NetworkError/Code-swift.struct/invalidBehavior`` there.
///
/// `KeychainTokenStore` on Apple platforms and ``FileTokenStore`` are ready to use. Your own store has two methods:
///
/// ```swift
/// final class VaultTokenStore: TokenStore {
///   private let vault = Vault(service: "com.example.shop")
///
///   func load() async throws -> AccessToken? {
///     try vault.read("token")
///       .map { try JSONDecoder().decode(AccessToken.self, from: $0) }
///   }
///
///   func save(_ token: AccessToken?) async throws {
///     try vault.write("token", token.map(JSONEncoder().encode))
///   }
/// }
/// ```
public protocol TokenStore: AnyObject, Sendable {
  /// The place that the store writes to, such as a path; two stores of one type and place are the same store.
  ///
  /// By default `nil`: each object is a store of its own.
  var location: String? { get }

  /// Returns the token; `nil` if the store holds no token.
  ///
  /// - Throws: The reason, such as that the device is locked; it must not contain the token. The requests that wait for
  ///   a token fail with ``NetworkError/Code-swift.struct/tokenStoreFailed``, and the session is not signed out.
  func load() async throws -> AccessToken?

  /// Replaces the token, wholly or not at all.
  ///
  /// - Parameter token: The new token; `nil` to remove it.
  /// - Throws: The reason. The session goes on with the token in memory, publishes ``TokenEvent/storeFailed(_:)``, and
  ///   tries again after 1, 2, 4 seconds and so on, at most 60.
  func save(_ token: AccessToken?) async throws

  /// Runs the work while no other process runs such work for the same place.
  ///
  /// The work of a session is one refresh: it reads the store, asks for a token and stores it. A sign-in and a sign-out
  /// do not wait for it. If one of them ends the refresh, the work waits until that is stored, so ``save(_:)`` must not
  /// take this lock. By default the work runs at once, which is enough for a store that only one process uses.
  ///
  /// - Parameter work: The work, to be run once.
  /// - Throws: `CancellationError` when the task is cancelled while it waits, or the reason why there is no lock. The
  ///   session then sends nothing, and the requests that wait fail with
  ///   ``NetworkError/Code-swift.struct/tokenStoreFailed``; but a session whose last token could not be saved refreshes
  ///   without the lock. Requests that have waited for
  ///   ``TokenRefreshPolicy/timeout`` fail with ``NetworkError/Code-swift.struct/tokenUnavailable``.
  func withRefreshLock(_ work: RefreshWork) async throws

  /// Replaces the token if the store still holds the one that is expected.
  ///
  /// A refresh stores its token this way, so that it does not undo a change of another process. By default it loads,
  /// compares and saves; another process can write in between.
  ///
  /// - Parameters:
  ///   - old: The token that the store is expected to hold; `nil` for none.
  ///   - new: The new token; `nil` to remove it.
  /// - Returns: Whether the store held the old token, and holds the new one now.
  /// - Throws: The reason; the store then holds the same token as before.
  func replace(_ old: AccessToken?, with new: AccessToken?) async throws -> Bool
}

extension TokenStore {
  /// By default each object is a store of its own.
  public var location: String? { nil }

  /// Runs the work at once by default.
  public func withRefreshLock(_ work: RefreshWork) async throws { await work() }

  /// Reads, compares and writes the store by default.
  public func replace(_ old: AccessToken?, with new: AccessToken?) async throws -> Bool {
    guard AccessToken.isSame(try await load(), old) else { return false }
    try await save(new)
    return true
  }
}

/// A token store that can be closed, and whose place another object can take then.
package protocol ClosableTokenStore: TokenStore {
  /// Whether nothing can be read or written any more.
  var isClosed: Bool { get }
}
