/// Decides whether a response came from the server, by the nonce that it echoes: values in, value out.
public struct NonceVerification: Sendable, Hashable {
  /// What an echo proves.
  public enum Verdict: Sendable, Hashable {
    /// The server gave the response: the nonce came back unmodified.
    case verified
    /// The response lacks the echo, but is a failure of a kind that needs none.
    case unverified
    /// Something between gave the response.
    case intercepted
  }

  /// The header that carries the nonce both ways.
  public var header: String

  /// The statuses that a response may only have with the right echo.
  public var checkedStatuses: StatusCodes

  /// Creates a verification.
  ///
  /// - Parameters:
  ///   - header: The header that carries the nonce both ways; `X-API-Nonce` by default.
  ///   - checkedStatuses: The statuses that need the echo; ``defaultCheckedStatuses`` by default.
  public init(header: String = "X-API-Nonce", checkedStatuses: StatusCodes = Self.defaultCheckedStatuses) {
    self.header = header
    self.checkedStatuses = checkedStatuses
  }

  /// The statuses with which an impostor could do harm.
  ///
  /// 200 to 299 would be taken for success, 300 to 399 would lead elsewhere, 401 and 407 would sign out or ask for
  /// credentials, and 511 is a captive portal's own (RFC 6585 §6). Other failures pass as what they are: proxies and
  /// load balancers give them without knowing of the echo.
  public static let defaultCheckedStatuses = StatusCodes(200...399).union([401, 407, 511])

  /// Decides about a response.
  ///
  /// - Parameters:
  ///   - statusCode: The response's status.
  ///   - headers: The response's headers; a nonce that stands twice is not unmodified.
  ///   - nonce: The nonce that was sent.
  /// - Returns: The verdict.
  public func verdict(statusCode: Int, headers: HeaderFields, nonce: String) -> Verdict {
    if headers[header] == nonce { return .verified }
    return checkedStatuses.contains(statusCode) ? .intercepted : .unverified
  }
}
