/// A moment in the life of a ``CacheStore``: the number of removals that it had counted.
///
/// The cache takes a mark before it sends a request. It stores the response only if neither the URL nor an owner of the
/// response was removed since; see ``CacheStore/mark()``.
public struct CacheMark: Sendable, Hashable, Codable {
  /// The number of the latest removal.
  public let number: Int

  /// Creates a mark, for a store that counts removals.
  public init(_ number: Int) { self.number = number }
}
