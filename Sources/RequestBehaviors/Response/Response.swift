/// A decoded value together with the response that it came from.
///
/// ```swift
/// let response = try await client.response(
///   for: .get("users/\(login)").returning(User.self))
/// print(response.value.name)
/// print(response.http.headers["ETag"] ?? "no validator")
/// ```
public struct Response<Value> {
  /// The decoded value.
  public var value: Value

  /// The response that it came from.
  public var http: NetworkResponse

  /// How long decoding took.
  public var decoding: Duration

  /// Creates a response.
  public init(value: Value, http: NetworkResponse, decoding: Duration = .zero) {
    self.value = value
    self.http = http
    self.decoding = decoding
  }
}

extension Response: Sendable where Value: Sendable {}

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

extension NetworkResponse: ResponseConvertible {
  /// Creates a copy of a response.
  public init(_ response: NetworkResponse) { self = response }
}
