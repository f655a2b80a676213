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

extension NetworkResponse: ResponseConvertible {
  /// Creates a copy of a response.
  public init(_ response: NetworkResponse) { self = response }
}
