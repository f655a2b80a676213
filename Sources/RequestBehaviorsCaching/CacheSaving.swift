/// The result of saving a response in a ``CacheStore``.
public struct CacheSaving: Sendable, Hashable {
  /// The reason for which the response is not stored; `nil` if it is stored.
  public let refusal: CacheRefusal?
  /// How many other responses were removed to make room.
  public let evicted: Int

  /// Returns the result for a response that is stored.
  ///
  /// - Parameter evicted: How many other responses were removed to make room; 0 by default.
  /// - Returns: The result.
  public static func stored(evicting evicted: Int = 0) -> CacheSaving {
    CacheSaving(refusal: nil, evicted: evicted)
  }

  /// Returns the result for a response that is not stored.
  ///
  /// - Parameter refusal: The reason: ``CacheRefusal/changedMeanwhile``, ``CacheRefusal/tooLarge`` or a reason of the
  ///   store's own.
  /// - Returns: The result.
  public static func refused(_ refusal: CacheRefusal) -> CacheSaving { CacheSaving(refusal: refusal, evicted: 0) }
}
