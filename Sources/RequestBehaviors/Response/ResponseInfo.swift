/// The key of a fact that a behavior attaches to a response for the caller, such as the number of saved rows.
public protocol ResponseInfoKey {
  /// The type of the fact.
  associatedtype Value: Sendable
}

/// Typed facts that behaviors attach to a response.
///
/// ```swift
/// let counts = response.info[SavedRows.self]
/// ```
public struct ResponseInfo: Sendable {
  // A list, because a response has few facts, and a dictionary costs more to make.
  @usableFromInline
  var facts: [(key: ObjectIdentifier, value: any Sendable)] = []

  /// Creates an empty set of facts.
  public init() {}

  // Inlinable, because other modules would make the type of an optional value at each call.
  /// The fact of a key; `nil` if there is no such fact.
  @inlinable
  public subscript<Key: ResponseInfoKey>(key: Key.Type) -> Key.Value? {
    get {
      // Unwrapped before the cast: a fact of an existential type would otherwise be `nil` in a box.
      guard let fact = facts.first(where: { $0.key == ObjectIdentifier(key) })?.value else { return nil }
      return fact as? Key.Value
    }
    set {
      // Most responses have no fact, from which a removal would cost more than a search.
      if let index = facts.firstIndex(where: { $0.key == ObjectIdentifier(key) }) { facts.remove(at: index) }
      if let newValue { facts.append((ObjectIdentifier(key), newValue)) }
    }
  }
}

private enum Trailers: ResponseInfoKey { typealias Value = HeaderFields }

extension NetworkResponse {
  /// The fields that came after the body (RFC 9110 §6.5); `nil` if there were no such fields, or the transport drops
  /// them.
  ///
  /// They are known only for a body in memory. The trailers of a streamed body are in its ``completion``.
  public var trailers: HeaderFields? {
    get { info[Trailers.self] }
    set { info[Trailers.self] = newValue }
  }
}
