/// How one of many requests ended; see ``Responses``.
public struct RequestOutcome<Value: Sendable>: Sendable {
  /// The place of the request in the list, from 0.
  public let index: Int
  /// The request.
  public let request: Request<Value>
  /// The response, or the error that `response(for:)` throws.
  public let result: Result<Response<Value>, any Error>

  /// The decoded value of the response.
  ///
  /// - Throws: The error of the request.
  public var value: Value {
    get throws { try result.get().value }
  }
}
