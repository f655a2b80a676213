public import RequestBehaviors

/// Lists the responses in a cache, for debugging.
///
/// ```swift
/// for line in try await CacheInspector(cache).lines() {
///   print(line)
/// }
/// // 200  fresh for 41 s    2.1 kB  https://api.example.com/feed
/// // 404  stale for 3 min   112 B   https://api.example.com/old
/// ```
///
/// The lines show URLs without secrets. Listing does not count as a use, so it does not change which responses are
/// removed next.
public struct CacheInspector: Sendable {
  private let store: any CacheStore
  private let clock: RequestClock

  /// Creates an inspector.
  ///
  /// - Parameters:
  ///   - store: The store of the cache.
  ///   - clock: The clock by which responses are fresh or stale; the system's by default.
  public init(_ store: any CacheStore, clock: RequestClock = .system) {
    self.store = store
    self.clock = clock
  }

  /// Returns the stored responses, the latest used first.
  ///
  /// - Parameter limit: The most entries to return; 100 by default.
  /// - Returns: The entries, without bodies.
  /// - Throws: The error of the store.
  public func entries(limit: Int = 100) async throws -> [CacheEntry] { try await store.entries(limit: limit) }

  /// Returns a line for each entry: status, freshness, size, URL.
  ///
  /// - Parameter limit: The most lines to return; 100 by default.
  /// - Returns: The lines, the latest used first.
  /// - Throws: The error of the store.
  public func lines(limit: Int = 100) async throws -> [String] {
    let now = clock.date()
    return try await entries(limit: limit).map { $0.line(at: now) }
  }
}
