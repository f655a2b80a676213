public import RequestBehaviors

extension NetworkError.Code {
  /// No stub of a ``MockTransport`` matches the request; the message tells of each why.
  public static let unmatchedRequest = Self(rawValue: "unmatchedRequest")
}

extension NetworkError {
  static func unmatchedRequest(_ request: NetworkRequest, _ mismatches: [String]) -> NetworkError {
    guard !mismatches.isEmpty else {
      return NetworkError(.unmatchedRequest, "the mock transport has no stubs; add one with on(…)", request: request)
    }
    let list = mismatches.enumerated().map { "\n  \($0 + 1). \($1)" }.joined()
    return NetworkError(
      .unmatchedRequest,
      "no stub of the mock transport matches \(request):\(list)\nadd one with on(…), or change one of these",
      request: request)
  }
}
