/// A response before the final one (RFC 9110 §15.2).
///
/// A 103, for example, has fields that the final response is expected to have (RFC 8297 §2).
public struct InterimResponse: Sendable, Hashable {
  /// The status code, 100 to 199.
  public let statusCode: Int

  /// The header fields.
  public let headers: HeaderFields

  /// Creates an interim response, for a transport or a test.
  ///
  /// - Parameters:
  ///   - statusCode: The status code, 100 to 199.
  ///   - headers: The header fields; none by default.
  public init(statusCode: Int, headers: HeaderFields = [:]) {
    self.statusCode = statusCode
    self.headers = headers
  }
}

private enum InterimResponses: ResponseInfoKey { typealias Value = [InterimResponse] }

extension NetworkResponse {
  /// The interim responses that came before this one, in their order; empty if the transport drops them.
  ///
  /// URLSession drops them; `CurlTransport` reports them.
  public var interimResponses: [InterimResponse] {
    get { info[InterimResponses.self] ?? [] }
    set { info[InterimResponses.self] = newValue.isEmpty ? nil : newValue }
  }
}
