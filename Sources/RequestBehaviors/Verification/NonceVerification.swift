/// Decides by an echoed nonce whether a response came from the server; it has no state.
public struct NonceVerification: Sendable, Hashable {
  /// The result of checking an echo.
  public enum Verdict: Sendable, Hashable {
    /// The response came from the server: the nonce was returned unmodified.
    case verified
    /// The response lacks the echo, but its status needs none.
    case unverified
    /// The response came from an intermediary.
    case intercepted
  }

  /// The header that carries the nonce in both directions.
  public var header: String

  /// The statuses for which a response must have the correct echo.
  public var checkedStatuses: StatusCodes

  /// Creates a verification.
  ///
  /// - Parameters:
  ///   - header: The header that carries the nonce in both directions; `X-API-Nonce` by default.
  ///   - checkedStatuses: The statuses that need the echo; ``defaultCheckedStatuses`` by default.
  public init(header: String = "X-API-Nonce", checkedStatuses: StatusCodes = Self.defaultCheckedStatuses) {
    self.header = header
    self.checkedStatuses = checkedStatuses
  }

  /// The statuses with which an impostor could do harm.
  ///
  /// 200 to 299 would count as success. 300 to 399 would lead elsewhere. 401 and 407 would sign the user out or ask for
  /// credentials. 511 is the status of captive portals (RFC 6585 §6). Other failures are passed on unverified: proxies
  /// and load balancers send them without knowledge of the echo.
  public static let defaultCheckedStatuses = StatusCodes(200...399).union([401, 407, 511])

  /// Returns the verdict on a response.
  ///
  /// - Parameters:
  ///   - statusCode: The response's status.
  ///   - headers: The response's headers; a nonce that occurs twice counts as modified.
  ///   - nonce: The nonce that was sent.
  /// - Returns: The verdict.
  public func verdict(statusCode: Int, headers: HeaderFields, nonce: String) -> Verdict {
    if headers[header] == nonce { return .verified }
    return checkedStatuses.contains(statusCode) ? .intercepted : .unverified
  }
}
