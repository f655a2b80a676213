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
  /// The call accepts the request's ``RequestOptions/acceptableStatuses``, and 304 if the request was conditional and
  /// changes nothing. It does not accept a part of a body that was not asked for: a 206 whose `Content-Range` leaves
  /// out bytes, to a request without `Range`.
  public var isAcceptable: Bool { isVerified && hasAcceptedStatus }

  /// Whether the call accepts the status, regardless of ``isVerified``.
  var hasAcceptedStatus: Bool {
    if request.call.acceptableStatuses.contains(statusCode) { return !isUnaskedPart }
    // To a request that changes something, a false condition means that nothing was changed. That is a failure, for
    // which the status is 412 (RFC 9110 §13.1.2).
    guard statusCode == 304, request.method.isSafe else { return false }
    return request.headers.contains("If-None-Match") || request.headers.contains("If-Modified-Since")
  }

  /// Whether the body is a part of the content where all of it was asked for (RFC 9110 §15.3.7).
  ///
  /// Some APIs use 206 for a page of a list, so only a range of bytes counts.
  var isUnaskedPart: Bool {
    guard statusCode == 206, !request.headers.contains("Range"), let range = ContentRange(headers["Content-Range"])
    else { return false }
    guard let bytes = range.bytes, let total = range.total else { return true }
    return bytes.length < total
  }
}
