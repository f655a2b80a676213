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
  public var age: Duration { Duration(clamping: secondsOld) }
  /// How long the response will stay fresh; if it is stale, the negative time since it became so.
  public var freshnessLeft: Duration { Duration(clamping: secondsLeft) }
  /// Whether the content is new to the cache; `false` for a stored response, even if the server has just confirmed it.
  public let isChanged: Bool

  // Most callers never ask for the durations.
  private let secondsOld: TimeInterval
  private let secondsLeft: TimeInterval

  init(_ stored: StoredResponse, at now: Date, isChanged: Bool) {
    storedAt = stored.storedAt
    validatedAt = stored.receivedAt
    self.isChanged = isChanged
    secondsOld = stored.terms.age(at: now)
    secondsLeft = stored.terms.freshnessLeft(at: now)
  }
}
