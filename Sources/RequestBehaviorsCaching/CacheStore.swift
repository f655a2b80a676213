public import Foundation
public import RequestBehaviors

/// Keeps the responses of a ``CachingBehavior``: in memory (``MemoryCacheStore``), in a file, or in a place of your
/// choice.
///
/// A store knows nothing of freshness. It finds the response that a request matches, keeps responses for as long as it
/// has room, and removes them when it is told to. Its errors never fail a request: the cache then goes on as if nothing
/// were stored.
///
/// A session holds a store of your own until its users sign out, also when no client has it any more, so that their
/// responses are removed then. It does not hold a ``MemoryCacheStore`` or the store in a SQLite file.
///
/// Several tasks call a store at the same time. A store that several behaviors or processes share gets the calls of
/// all.
///
/// A response may be under way while its URL is changed or its user signs out. A store counts such removals (see
/// ``CacheRemovals``), returns the count as a ``mark()``, and refuses a response that was requested before the removal
/// of its URL or of one of its owners. It compares in the transaction that saves, so that no removal of another task or
/// process comes between. A store without ``mark()`` and ``save(_:for:matching:since:)`` sees only the removals of its
/// own process, and misses one that comes in the middle of a save.
public protocol CacheStore: Sendable {
  /// The key for digests of secrets in a ``CacheKey``: random bytes, the same for as long as the responses last.
  var digestKey: Data { get }

  /// The most bytes of a body that the store accepts.
  var maximumBodySize: Int { get }

  /// Returns the most recent response that is stored under a key and that a request matches.
  ///
  /// - Parameters:
  ///   - key: The key of the request.
  ///   - request: The header fields of the request, for ``CacheVariant/matches(_:)``.
  /// - Returns: The response with its whole body; `nil` if there is no such response.
  /// - Throws: The error of the store; the cache goes on without it.
  func response(for key: CacheKey, matching request: HeaderFields) async throws -> StoredResponse?

  /// Returns a mark of the removals so far; the cache takes one before it sends a request.
  ///
  /// - Throws: The error of the store; the response is then not stored.
  func mark() async throws -> CacheMark

  /// Stores a response in place of those under its key that the same request matches, unless it was removed meanwhile.
  ///
  /// - Parameters:
  ///   - response: The response.
  ///   - key: The key of its request.
  ///   - request: The header fields of its request.
  ///   - mark: The mark that was taken before the request was sent.
  /// - Returns: Whether the response is stored. A response that is larger than the whole store is refused as
  ///   ``CacheRefusal/tooLarge``; the responses that it would replace are removed all the same, and no others.
  /// - Throws: The error of the store; the cache goes on without it.
  func save(
    _ response: StoredResponse, for key: CacheKey, matching request: HeaderFields, since mark: CacheMark
  ) async throws -> CacheSaving

  /// Stores a response in place of those under its key that the same request matches, whatever was removed before.
  ///
  /// - Parameters:
  ///   - response: The response.
  ///   - key: The key of its request.
  ///   - request: The header fields of its request.
  /// - Returns: How many other responses were removed to make room.
  /// - Throws: The error of the store; the cache goes on without it.
  func save(_ response: StoredResponse, for key: CacheKey, matching request: HeaderFields) async throws -> Int

  /// Replaces everything but the body of a response, unless the response was replaced or removed meanwhile.
  ///
  /// - Parameters:
  ///   - old: The response as it was found.
  ///   - new: The same response as the server updated it; its variant and its body are those of `old`.
  ///   - key: Its key.
  /// - Throws: The error of the store; the cache goes on without it.
  func update(_ old: StoredResponse, to new: StoredResponse, for key: CacheKey) async throws

  /// Removes a response, unless it was replaced meanwhile.
  ///
  /// - Parameters:
  ///   - response: The response as it was found.
  ///   - key: Its key.
  /// - Throws: The error of the store; the cache goes on without it.
  func remove(_ response: StoredResponse, for key: CacheKey) async throws

  /// Removes all responses of a URL, of every owner, and counts the removal.
  ///
  /// - Parameter url: The URL, in the form of ``CacheKey/url``.
  /// - Throws: The error of the store; the cache goes on without it.
  func removeAll(url: String) async throws

  /// Removes all responses of an owner, such as a user who signed out, and counts the removal.
  ///
  /// - Parameter scope: The owner, in the form of ``CacheKey/scopes``.
  /// - Throws: The error of the store; the cache goes on without it.
  func removeAll(scope: String) async throws

  /// Removes everything, and counts the removal.
  func removeAll() async throws

  /// Returns the stored responses without their bodies, the latest used first.
  ///
  /// - Parameter limit: The most entries to return.
  /// - Returns: The entries.
  /// - Throws: The error of the store; the cache goes on without it.
  func entries(limit: Int) async throws -> [CacheEntry]
}

extension CacheStore {
  /// Returns always the same mark, for a store that does not count removals.
  public func mark() async throws -> CacheMark { CacheMark(0) }

  /// Stores a response whatever was removed before, for a store that does not count removals.
  public func save(
    _ response: StoredResponse, for key: CacheKey, matching request: HeaderFields, since mark: CacheMark
  ) async throws -> CacheSaving {
    .stored(evicting: try await save(response, for: key, matching: request))
  }
}
