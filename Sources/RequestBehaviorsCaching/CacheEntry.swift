public import Foundation
import RequestBehaviors

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

  func line(at date: Date) -> String {
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
