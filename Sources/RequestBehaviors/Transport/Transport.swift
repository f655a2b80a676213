/// A type that sends requests, at the end of the list of behaviors.
///
/// ## Should it be a transport or a behavior?
///
/// A transport only sends requests, for example over URLSession, a mock, or another HTTP library. A type that changes
/// requests, inspects responses or repeats requests is a ``RequestBehavior``. A transport follows no redirects, and
/// neither retries nor caches. It keeps cookies only if its user wants that; then it implements
/// ``addsCredentials(to:)`` and ``forgetUser()``.
///
/// ## Using one
///
/// ``URLSessionTransport`` is the default. `RequestBehaviorsCurl` has `CurlTransport`, over the system's libcurl, and
/// `RequestBehaviorsTesting` has `MockTransport` for tests; <doc:ChoosingATransport> compares them.
///
/// ## Implementing one
///
/// ```swift
/// struct EchoTransport: Transport {
///   func send(_ request: NetworkRequest) async throws -> NetworkResponse {
///     try request.validate()
///     let body = request.body?.data ?? Data()
///     return NetworkResponse(
///       request: request, statusCode: 200, body: .data(body))
///   }
///
///   func shutdown() async {}
/// }
/// ```
///
/// A transport calls ``NetworkRequest/validate()`` first, sends exactly once, and returns every status as a response.
/// It enforces ``RequestOptions/idleTimeout``, ``RequestOptions/timeout`` and ``RequestOptions/bodyLimit``. It refuses
/// responses that are cut off or whose lengths contradict each other. It throws `CancellationError` promptly when its
/// task is cancelled, and reports other failures by ``NetworkError`` codes. It returns a body as
/// ``RequestOptions/delivery`` says; a transport without streams returns it in memory. <doc:WritingATransport> has the
/// rules one by one, and the code of each failure. `TransportConformance` in `RequestBehaviorsTesting` checks all this.
///
/// A sign-out of a ``TokenSession`` waits for the hand-overs to ``send(_:)`` that are under way. A hand-over ends where
/// `send` first suspends. For an actor that is before its code begins, so a transport that is an actor may begin a send
/// after the sign-out.
public protocol Transport: Sendable {
  /// Sends a request.
  ///
  /// - Parameter request: The request, with everything in it that goes over the wire.
  /// - Returns: The response, with any status.
  /// - Throws: ``NetworkError``, or `CancellationError` when the task is cancelled.
  func send(_ request: NetworkRequest) async throws -> NetworkResponse

  /// Whether the transport itself adds a credential to a request, such as a cookie that it keeps.
  ///
  /// The owner of the response is then unknown, so it is neither stored nor shared (``Next/knowsOwner(of:)``). The
  /// function is called before a request is sent, and once more when its response has arrived. The default is false.
  func addsCredentials(to request: NetworkRequest) -> Bool

  /// Ends all requests in flight with ``NetworkError/Code-swift.struct/clientShutDown``; further sends fail with it
  /// too.
  func shutdown() async

  /// Forgets what belongs to a user, such as cookies; by default nothing.
  ///
  /// ``NetworkClient/reset()`` calls it, and so does the end of a scope (``ScopeEndings/end(_:)``), such as a sign-out,
  /// before the next user's requests can be sent. It must return at once, and must not ask a session anything.
  func forgetUser()
}

extension Transport {
  /// By default a transport remembers nothing of users.
  public func forgetUser() {}
}

extension Transport {
  /// Returns false: by default a transport adds no credentials.
  public func addsCredentials(to request: NetworkRequest) -> Bool { false }
}
