public import Foundation

/// What the cache knows of a response, for its caller and for behaviors further out.
///
/// ```swift
/// let response: NetworkResponse = try await client.send(.get("feed"))
/// if let facts = response.info[CacheFacts.self] {
///   print("stored \(facts.storedAt), \(facts.age) old")
/// }
/// ```
///
/// A response that neither comes from the cache nor went into it has none. ``NetworkResponse/source`` tells in a word
/// where a response came from.
public struct CacheFacts: ResponseInfoKey, Sendable, Hashable {
  /// The fact is the value itself.
  public typealias Value = CacheFacts

  /// When the content was stored.
  public let storedAt: Date
  /// When the server last said that the content is good: when it was received or validated.
  public let validatedAt: Date
  /// How old the response is.
  public let age: Duration
  /// How long the response will be fresh; negative is how long it has been stale.
  public let freshnessLeft: Duration
  /// Whether the content is new to the cache; false for what was stored already, though the server confirmed it.
  public let isChanged: Bool

  init(_ stored: StoredResponse, at now: Date, isChanged: Bool) {
    storedAt = stored.storedAt
    validatedAt = stored.receivedAt
    age = Duration(clamping: stored.terms.age(at: now))
    freshnessLeft = Duration(clamping: stored.terms.freshnessLeft(at: now))
    self.isChanged = isChanged
  }
}

/// Something that a cache did, for logs and counters.
///
/// The call has a note of it, too, among its ``Call/events``.
public struct CacheEvent: Sendable {
  /// What a cache does.
  public struct Kind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The name of the kind.
    public let rawValue: String

    /// Creates a kind.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The name of the kind.
    public var description: String { rawValue }

    /// A fresh response was used.
    public static let hit = Kind(rawValue: "hit")
    /// A stale response was used, as somebody allowed.
    public static let stale = Kind(rawValue: "stale")
    /// Nothing stored could be used.
    public static let miss = Kind(rawValue: "miss")
    /// The server confirmed a stored response, which was used.
    public static let revalidated = Kind(rawValue: "revalidated")
    /// A response was stored.
    public static let stored = Kind(rawValue: "stored")
    /// A response was not stored, for a ``CacheEvent/refusal``.
    public static let notStored = Kind(rawValue: "not stored")
    /// Responses went to make room for another, or because they are not valid any more.
    public static let evicted = Kind(rawValue: "evicted")
    /// The store failed; the request goes on without it.
    public static let failed = Kind(rawValue: "failed")
  }

  /// What was done.
  public let kind: Kind
  /// The request that it was done for.
  public let request: NetworkRequest
  /// Why a response was not stored.
  public var refusal: CacheRefusal?
  /// How many responses were evicted.
  public var count = 0
  /// Why the store failed.
  public var error: (any Error)?
}
