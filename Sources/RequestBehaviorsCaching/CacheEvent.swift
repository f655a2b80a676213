public import RequestBehaviors

/// An event at a cache, for logs and counters.
///
/// The call has it among its `Call.events`, too.
public struct CacheEvent: Sendable {
  /// The kind of an event.
  public struct Kind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The name of the kind.
    public let rawValue: String

    /// Creates a kind.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The name of the kind.
    public var description: String { rawValue }

    /// A fresh response was used.
    public static let hit = Kind(rawValue: "hit")
    /// A stale response was used, as the request, the response or the policy allowed.
    public static let stale = Kind(rawValue: "stale")
    /// No stored response could be used.
    public static let miss = Kind(rawValue: "miss")
    /// The server confirmed a stored response, which was used.
    public static let revalidated = Kind(rawValue: "revalidated")
    /// A response was stored.
    public static let stored = Kind(rawValue: "stored")
    /// A response was not stored, for a ``CacheEvent/refusal``.
    public static let notStored = Kind(rawValue: "not stored")
    /// Responses were removed to make room for another.
    public static let evicted = Kind(rawValue: "evicted")
    /// The store failed; the request goes on without it.
    public static let failed = Kind(rawValue: "failed")
  }

  /// The kind of the event.
  public let kind: Kind
  /// The request that the event belongs to.
  public let request: NetworkRequest
  /// The reason for which a response was not stored.
  public var refusal: CacheRefusal?
  /// How many responses were evicted.
  public var count = 0
  /// The error of the store.
  public var error: (any Error)?
}
