extension NonceVerification {
  /// The result of checking an echo.
  public enum Verdict: Sendable, Hashable {
    /// The response came from the server: the nonce was returned unmodified.
    case verified
    /// The response lacks the echo, but its status needs none.
    case unverified
    /// The response came from an intermediary.
    case intercepted
  }

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
