/// Decides by an echoed nonce whether a response came from the server; it has no state.
public struct NonceVerification: Sendable, Hashable {
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
}
