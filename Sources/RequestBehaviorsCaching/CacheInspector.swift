public import Foundation
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

/// A response in a store, as a ``CacheInspector`` lists it.
public struct CacheEntry: Sendable {
  /// The key of the response.
  public let key: CacheKey
  /// The response; its body is empty.
  public let response: StoredResponse
  /// How many bytes the body has.
  public let bodySize: Int

  /// Creates an entry, for ``CacheStore/entries(limit:)``.
  public init(key: CacheKey, response: StoredResponse, bodySize: Int) {
    self.key = key
    self.response = response
    self.bodySize = bodySize
  }

  /// Returns how long the response will stay fresh; if it is stale, the negative time since it became so.
  public func freshnessLeft(at date: Date) -> Duration {
    Duration(clamping: response.terms.freshnessLeft(at: date))
  }

  fileprivate func line(at date: Date) -> String {
    let left = freshnessLeft(at: date)
    let freshness = left > .zero ? "fresh for \(CacheEntry.text(left))" : "stale for \(CacheEntry.text(.zero - left))"
    let url = URL(string: key.url).map { Redactor.standard.redact($0) } ?? key.url
    return [
      "\(response.statusCode)", CacheEntry.padded(freshness, to: 16),
      CacheEntry.padded(CacheEntry.text(bodySize), to: 6), url,
    ].joined(separator: "  ")
  }

  private static func text(_ duration: Duration) -> String {
    let seconds = Int(duration.inSeconds)
    switch seconds {
    case ..<120: return "\(seconds) s"
    case ..<7_200: return "\(seconds / 60) min"
    case ..<172_800: return "\(seconds / 3_600) h"
    default: return "\(seconds / 86_400) d"
    }
  }

  private static func text(_ bytes: Int) -> String {
    switch bytes {
    case ..<1_000: "\(bytes) B"
    case ..<1_000_000: "\(bytes / 1_000).\(bytes % 1_000 / 100) kB"
    default: "\(bytes / 1_000_000).\(bytes % 1_000_000 / 100_000) MB"
    }
  }

  private static func padded(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}
