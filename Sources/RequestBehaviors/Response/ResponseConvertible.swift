/// A type that makes itself of a whole response, where a decoder of the body does not do.
///
/// ``NetworkResponse`` is one, so that a request can ask for the response as it is:
///
/// ```swift
/// let response: NetworkResponse = try await client.send(.get("status"))
/// ```
public protocol ResponseConvertible: Sendable {
  /// Creates a value of a response with an acceptable status.
  init(_ response: NetworkResponse) async throws
}

extension NetworkResponse: ResponseConvertible {
  /// Creates a copy of a response.
  public init(_ response: NetworkResponse) { self = response }
}
