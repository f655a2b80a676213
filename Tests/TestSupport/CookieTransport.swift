package import RequestBehaviors

/// A transport that keeps the cookies that come with a response.
package struct CookieTransport: Transport {
  private let cookies = Box(false)

  /// Whether it has cookies of a user.
  package var hasCookies: Bool { cookies.value }

  package init() {}

  package func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    cookies.value = true
    return NetworkResponse(request: request, statusCode: 200)
  }

  package func shutdown() async {}
  package func forgetUser() { cookies.value = false }
}
