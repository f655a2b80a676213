/// The number of redirects of a call that were followed, which has a limit.
private enum FollowedRedirects: RequestOption {
  static let defaultValue = 0
  static let isPortable = true
  static let affectsResponse = false
}

extension NetworkRequest {
  /// Returns the request with its count of redirects increased by one.
  ///
  /// - Throws: ``NetworkError`` of code `redirectFailed` if there were too many.
  package func counted(after response: NetworkResponse, _ policy: RedirectPolicy) throws -> NetworkRequest {
    var counted = self
    counted.options[FollowedRedirects.self] += 1
    guard counted.options[FollowedRedirects.self] <= policy.limit else {
      throw NetworkError(.redirectFailed, "more than \(policy.limit) redirects in a row", response: response)
    }
    return counted
  }
}
