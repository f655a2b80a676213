public import Foundation
public import RequestBehaviors

/// A cache in memory, limited by a number of bytes; the least recently used response is removed first.
///
/// ```swift
/// let cache = MemoryCacheStore(capacity: 16 << 20)
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.caching(cache)])
/// ```
///
/// Its contents end with the process. Clients that share it share its responses; those of different users, and of
/// different credentials, are kept apart all the same.
public final class MemoryCacheStore: CacheStore, ReleasedCacheStore {
  /// The most bytes that are stored, bodies and fields.
  public let capacity: Int

  /// The most bytes of a body that the store accepts.
  public let maximumBodySize: Int

  /// Random bytes that are made with the store.
  public let digestKey: Data

  package let place = ""
  package let isClosed = false
  package let reopener: @Sendable () async throws -> (any CacheStore)? = { nil }
  private let contents: Locked<CacheContents>

  /// Creates an empty store.
  ///
  /// - Parameters:
  ///   - capacity: The most bytes to store; 32 MiB by default.
  ///   - maximumBodySize: The most bytes of a body, at most the capacity; by default a quarter of it.
  public init(capacity: Int = 32 << 20, maximumBodySize: Int? = nil) {
    let contents = CacheContents(capacity: capacity)
    self.capacity = contents.capacity
    self.maximumBodySize = min(maximumBodySize ?? contents.capacity / 4, contents.capacity)
    digestKey = contents.digestKey
    self.contents = Locked(contents)
  }

  /// How many bytes are stored.
  public var size: Int { contents.withLock { $0.size } }

  /// How many responses are stored.
  public var count: Int { contents.withLock { $0.count } }

  /// Returns the most recent response that a request matches, and makes it the latest used.
  public func response(for key: CacheKey, matching request: HeaderFields) async -> StoredResponse? {
    contents.withLock { $0.response(for: key, matching: request) }
  }

  /// Returns a mark of the removals so far.
  public func mark() async -> CacheMark { contents.withLock { $0.mark } }

  /// Stores a response in place of those that the same request matches, unless it was removed meanwhile.
  public func save(
    _ response: StoredResponse, for key: CacheKey, matching request: HeaderFields, since mark: CacheMark
  ) async -> CacheSaving {
    contents.withLock { $0.save(response, for: key, matching: request, since: mark) }
  }

  /// Stores a response in place of those that the same request matches, unless it is larger than the whole store.
  ///
  /// - Returns: How many others were removed to make room.
  public func save(_ response: StoredResponse, for key: CacheKey, matching request: HeaderFields) async -> Int {
    contents.withLock { $0.save(response, for: key, matching: request).evicted }
  }

  /// Replaces everything but the body of a response.
  public func update(_ old: StoredResponse, to new: StoredResponse, for key: CacheKey) async {
    contents.withLock { $0.update(old, to: new, for: key) }
  }

  /// Removes a response.
  public func remove(_ response: StoredResponse, for key: CacheKey) async {
    contents.withLock { $0.remove(response, for: key) }
  }

  /// Removes all responses of a URL, and counts the removal.
  public func removeAll(url: String) async { contents.withLock { $0.removeAll(url: url) } }

  /// Removes all responses of an owner, and counts the removal.
  public func removeAll(scope: String) async { contents.withLock { $0.removeAll(scope: scope) } }

  /// Removes everything, and counts the removal.
  public func removeAll() async { contents.withLock { $0.removeAll() } }

  /// Returns the stored responses without their bodies, the latest used first.
  public func entries(limit: Int) async -> [CacheEntry] { contents.withLock { $0.entries(limit: limit) } }
}
