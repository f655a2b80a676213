/// A type that is created from a whole response rather than decoded from the body.
///
/// ``NetworkResponse`` conforms, so that a request can return the response itself:
///
/// ```swift
/// let response: NetworkResponse = try await client.send(.get("status"))
/// ```
public protocol ResponseConvertible: Sendable {
  /// Creates a value from a response with an acceptable status.
  init(_ response: NetworkResponse) async throws
}
