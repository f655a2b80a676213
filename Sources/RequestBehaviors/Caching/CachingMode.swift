/// How a request uses the cache.
///
/// ```swift
/// let user: User = try await client.send(
///   .get("me").with(\.caching, .reload))
/// ```
///
/// The directives of a `Cache-Control` field on the request (RFC 9111 §5.2.1) are obeyed in every mode.
public enum CachingMode: Sendable, Hashable {
  /// A fresh response is used, a stale one is validated, what is missing is fetched and stored.
  case standard
  /// Whatever is stored is passed over; the server's response is stored.
  ///
  /// The request says `Cache-Control: no-cache`, so that caches on the way do the same.
  case reload
  /// A stored response is used once the server has confirmed it.
  ///
  /// A fresh one that is `immutable` is used at once (RFC 8246). The request says `Cache-Control: max-age=0`.
  case revalidate
  /// Nothing is sent, whatever the method is: what is not stored, or may not be used, is a 504 (RFC 9111 §5.2.1.7).
  ///
  /// That holds without a cache too: every request is a 504 then.
  case onlyIfCached
  /// A stored response is used however old it is, unless it forbids that; what is missing is fetched and stored.
  case preferStale
  /// Nothing stored is used, and nothing is stored.
  ///
  /// The request says `Cache-Control: no-store`.
  case noStore
}

private enum Caching: RequestOption {
  static let defaultValue = CachingMode.standard
  static let isPortable = true
}

private enum StaleIfError: RequestOption {
  static let defaultValue: Duration? = nil
  static let isPortable = true
}

extension RequestOptions {
  /// How the request uses the cache; ``CachingMode/standard`` by default.
  ///
  /// Without a ``CachingBehavior`` in the list it has no effect, but for ``CachingMode/onlyIfCached``.
  public var caching: CachingMode {
    get { self[Caching.self] }
    set { self[Caching.self] = newValue }
  }

  /// How long after it became stale a stored response stands in for one that the server fails to give.
  ///
  /// `nil`, the default, leaves it to ``CachePolicy/staleIfError`` and to what response and request say (RFC 5861 §4).
  public var staleIfError: Duration? {
    get { self[StaleIfError.self] }
    set { self[StaleIfError.self] = newValue }
  }
}
