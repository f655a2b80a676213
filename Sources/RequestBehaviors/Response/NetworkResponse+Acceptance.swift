/// Whether a response counts as a success, and as the server's.
extension NetworkResponse {
  /// Whether the response counts as the server's: `false` if a verification behavior passed it on without proof.
  ///
  /// Such a response changes no state: it signs no user out, enters no cache and trips no breaker. Clients without
  /// verification treat every response as verified. Setting it to `false` makes the ``verification`` `.unverified`.
  public var isVerified: Bool {
    get { verification != .unverified }
    set { if newValue != isVerified { verification = newValue ? .none : .unverified } }
  }

  /// Whether the response is a success: verified, and with a status that the call accepts.
  ///
  /// The call accepts the request's ``RequestOptions/acceptableStatuses``, and 304 if the request was conditional.
  public var isAcceptable: Bool { isVerified && hasAcceptedStatus }

  /// Whether the call accepts the status, regardless of ``isVerified``.
  var hasAcceptedStatus: Bool {
    if request.call.acceptableStatuses.contains(statusCode) { return true }
    guard statusCode == 304 else { return false }
    return request.headers.contains("If-None-Match") || request.headers.contains("If-Modified-Since")
  }
}
