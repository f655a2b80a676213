public import Foundation
public import RequestBehaviors

/// The facts that the cache knows of a response, for its caller and for behaviors further out.
///
/// ```swift
/// let response: NetworkResponse = try await client.send(.get("feed"))
/// if let facts = response.info[CacheFacts.self] {
///   print("stored \(facts.storedAt), \(facts.age) old")
/// }
/// ```
///
/// A response has no facts if it neither came from the cache nor was stored. `NetworkResponse.source` names the place
/// where a response came from.
public struct CacheFacts: ResponseInfoKey, Sendable, Hashable {
  /// The facts are the value itself.
  public typealias Value = CacheFacts

  /// When the content was stored.
  public let storedAt: Date
  /// When the content was received, or last validated by the server.
  public let validatedAt: Date
  /// How old the response is.
  public let age: Duration
  /// How long the response will stay fresh; if it is stale, the negative time since it became so.
  public let freshnessLeft: Duration
  /// Whether the content is new to the cache; `false` for a stored response, even if the server has just confirmed it.
  public let isChanged: Bool

  init(_ stored: StoredResponse, at now: Date, isChanged: Bool) {
    storedAt = stored.storedAt
    validatedAt = stored.receivedAt
    age = Duration(clamping: stored.terms.age(at: now))
    freshnessLeft = Duration(clamping: stored.terms.freshnessLeft(at: now))
    self.isChanged = isChanged
  }
}

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
