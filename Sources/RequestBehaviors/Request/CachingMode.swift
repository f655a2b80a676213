/// The way in which a request uses the cache.
///
/// ```swift
/// let user: User = try await client.send(
///   .get("me").with(\.caching, .reload))
/// ```
///
/// The directives of a `Cache-Control` field on the request (RFC 9111 §5.2.1) are obeyed in every mode.
public enum CachingMode: Sendable, Hashable {
  /// A fresh response is used, a stale one is validated, and a missing one is fetched and stored.
  case standard
  /// Stored responses are ignored; the server's response is stored.
  ///
  /// The request is sent with `Cache-Control: no-cache`, so that caches on the way do the same.
  case reload
  /// A stored response is used once the server has confirmed it.
  ///
  /// A fresh one that is `immutable` is used at once (RFC 8246). The request is sent with `Cache-Control: max-age=0`.
  case revalidate
  /// Nothing is sent, whatever the method is. If no stored response may be used, the response is a 504
  /// (RFC 9111 §5.2.1.7).
  ///
  /// Without a cache in the list every such request gets a 504.
  case onlyIfCached
  /// A stored response is used however old it is, unless it forbids that; a missing one is fetched and stored.
  case preferStale
  /// No stored response is used, and none is stored.
  ///
  /// The request is sent with `Cache-Control: no-store`.
  case noStore
}

private enum Caching: RequestOption {
  static let defaultValue = CachingMode.standard
  static let isPortable = true

  static func warning(for value: CachingMode, in pipeline: Pipeline) -> String? {
    switch value {
    // The last two hold without a cache too.
    case .standard, .onlyIfCached, .noStore: nil
    case .reload, .revalidate, .preferStale: pipeline.warningOfMissingCache("caching")
    }
  }
}

private enum StaleIfError: RequestOption {
  static let defaultValue: Duration? = nil
  static let isPortable = true

  static func warning(for value: Duration?, in pipeline: Pipeline) -> String? {
    value == nil ? nil : pipeline.warningOfMissingCache("staleIfError")
  }
}

extension Pipeline {
  fileprivate func warningOfMissingCache(_ option: String) -> String? {
    hasCache ? nil : "the option \(option) is set, but nothing obeys it; list a CachingBehavior"
  }
}

extension RequestOptions {
  /// The way in which the request uses the cache; ``CachingMode/standard`` by default.
  ///
  /// Without a cache in the list (``ResponseCache``) only ``CachingMode/onlyIfCached`` has an effect.
  public var caching: CachingMode {
    get { self[Caching.self] }
    set { self[Caching.self] = newValue }
  }

  /// How long after it became stale a stored response may replace one that the server fails to give.
  ///
  /// `nil`, the default, leaves it to the policy of the cache and to the directives of response and request
  /// (RFC 5861 §4).
  public var staleIfError: Duration? {
    get { self[StaleIfError.self] }
    set { self[StaleIfError.self] = newValue }
  }
}
