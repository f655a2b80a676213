/// A behavior that uses stored responses in place of the server's, such as the one of `RequestBehaviorsCaching`.
///
/// A request that may not use the network (``CachingMode/onlyIfCached``) ends behind the innermost cache of the list.
///
/// A cache is further out than ``RedirectsBehavior`` and sees only the last response of a redirected request, although
/// each hop is cacheable by itself (RFC 9111 §3, RFC 9110 §15.4). So that behavior asks the cache for each hop.
public protocol ResponseCache: RequestBehavior {
  /// The name of the stored responses among ``ScopeLeftovers``.
  var leftoverID: String { get }

  /// Removes the stored responses that a redirect makes invalid (RFC 9111 §4.4).
  ///
  /// The redirect of an unsafe request says that the request succeeded, whatever becomes of the hops after it.
  ///
  /// - Parameters:
  ///   - redirect: The server's response, with a status of 300 to 399.
  ///   - request: The request, with any method.
  func invalidate(after redirect: NetworkResponse, to request: NetworkRequest) async

  /// Stores the first redirect of a call under its own URL, if it may be stored.
  ///
  /// - Parameters:
  ///   - redirect: The server's response.
  ///   - request: The request, with any method.
  ///   - next: Everything further in than the behavior that follows redirects.
  func keep(_ redirect: NetworkResponse, to request: NetworkRequest, next: Next) async

  /// Returns a stored response to a hop, or the server's response, which is stored if it may be.
  ///
  /// - Parameters:
  ///   - hop: The request to which a redirect led.
  ///   - request: The first request.
  ///   - next: Everything further in than the behavior that follows redirects.
  /// - Returns: The response.
  /// - Throws: The error that prevented a response.
  func respond(to hop: NetworkRequest, after request: NetworkRequest, next: Next) async throws -> NetworkResponse
}

extension Pipeline {
  /// Whether the list has a cache.
  var hasCache: Bool { entries.contains { $0.behavior is any ResponseCache } }
}

extension NetworkResponse {
  /// Returns the response to a request that may not use the network and for which nothing is stored
  /// (RFC 9111 §5.2.1.7): a 504 without a body.
  ///
  /// - Parameter request: The request.
  /// - Returns: The response, of the source ``ResponseSource/cache``.
  public static func gatewayTimeout(to request: NetworkRequest) -> NetworkResponse {
    NetworkResponse(request: request, statusCode: 504, source: .cache)
  }
}
