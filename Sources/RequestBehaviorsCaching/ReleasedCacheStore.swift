/// A store that may be released before its users sign out: its responses end with it, or are found without it.
///
/// A session holds every other store until its users sign out.
package protocol ReleasedCacheStore: AnyObject, CacheStore {
  /// The path of the responses; empty if they end with the store.
  var place: String { get }

  /// Whether nothing can be removed through this store any more.
  var isClosed: Bool { get }

  /// A closure that opens the responses again when the store is gone or closed. It returns `nil` if they are gone, too,
  /// and throws if they cannot be opened.
  var reopener: @Sendable () async throws -> (any CacheStore)? { get }
}
