/// A decoded value together with the answer that it came from.
///
/// ```swift
/// let response = try await client.response(
///   for: .get("users/\(login)").returning(User.self))
/// print(response.value.name)
/// print(response.network.headers["ETag"] ?? "no validator")
/// ```
public struct Response<Value> {
  /// The decoded value.
  public var value: Value

  /// The answer that it came from.
  public var network: NetworkResponse

  /// How long decoding took.
  public var decoding: Duration

  /// Creates a response.
  public init(value: Value, network: NetworkResponse, decoding: Duration = .zero) {
    self.value = value
    self.network = network
    self.decoding = decoding
  }
}

extension Response: Sendable where Value: Sendable {}
