/// The decisions that the server and the user leave to the cache.
///
/// ```swift
/// var policy = CachePolicy()
/// policy.staleIfError = .seconds(86_400)
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.caching(store, policy: policy)])
/// ```
public struct CachePolicy: Sendable, Hashable {
  /// The lifetime of a response without explicit freshness, as a fraction of the time since the content last changed.
  ///
  /// RFC 9111 §4.2.2 suggests a tenth, which is the default. With 0 such a response is always validated.
  public var heuristicFraction: Double

  /// The longest lifetime that is guessed; one day by default.
  public var heuristicLimit: Duration

  /// How long after it became stale a response may replace one that the server fails to give.
  ///
  /// `nil`, the default, leaves it to the `stale-if-error` of the response and the request. A response that must not be
  /// used stale is never used for that.
  public var staleIfError: Duration?

  /// Creates a policy.
  ///
  /// - Parameters:
  ///   - heuristicFraction: The part of the time without a change; a tenth by default.
  ///   - heuristicLimit: The longest lifetime that is guessed; one day by default.
  ///   - staleIfError: How long a stale response may replace a failure; by default only as directives allow.
  public init(
    heuristicFraction: Double = 0.1, heuristicLimit: Duration = .seconds(86_400), staleIfError: Duration? = nil
  ) {
    self.heuristicFraction = heuristicFraction
    self.heuristicLimit = heuristicLimit
    self.staleIfError = staleIfError
  }
}
