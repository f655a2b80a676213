public import Foundation
public import RequestBehaviors

/// A transport that sends the responses of a test, without a connection.
///
/// ```swift
/// let mock = MockTransport(baseURL: baseURL)
/// mock.on(.get, "users/*").respond(200, json: User(id: 1))
/// mock.on(.post, "repos").respond(201, json: Repo(id: 7, name: "demo"))
///
/// let client = NetworkClient(baseURL: baseURL, transport: mock)
/// let user: User = try await client.send(.get("users/1"))
/// try await client.send(.post("repos", body: .json(draft)))
///
/// #expect(try mock.sent[1].json(NewRepo.self).name == "demo")
/// try mock.verify()
/// ```
///
/// Setting it up and inspecting it needs no `await`. Instances share no state, so parallel tests do not disturb each
/// other. Like any transport it comes after the last behavior: the requests in ``sent`` are signed and final.
///
/// ## Which stub responds?
///
/// The first stub, in the order of ``on(_:_:query:headers:where:)``, that matches the request and has responses left.
/// If no stub matches, the closure of ``init(baseURL:encoder:answer:)`` responds. Without that closure the request
/// fails with a `NetworkError` of code `unmatchedRequest`, whose message gives the reason for each stub.
///
/// ## Similarities to a real transport
///
/// It validates requests, reads one-shot bodies, enforces `bodyLimit`, and returns every status unchanged. It is
/// cancelled promptly. For delayed responses it enforces `idleTimeout` and `timeout` on the call's clock, and `timeout`
/// also for the stream of a request's body. It does not enforce them while a closure waits: use
/// ``MockStub/delayed(by:)`` to test a timeout. A response to `HEAD` and a response of status 204 or 304 have no body.
/// The `source` of its responses is `.mock`.
public final class MockTransport: Transport {
  /// The URL that the paths of stubs are appended to.
  public let baseURL: URL
  /// The encoder of the values of stubs.
  public let encoder: any BodyEncoder

  private struct State {
    var stubs: [MockStub] = []
    var sent: [NetworkRequest] = []
    var unmatched: [NetworkRequest] = []
  }

  // Responds to the requests that no stub matches.
  private let answer: (@Sendable (NetworkRequest) async throws -> NetworkResponse)?
  /// Whether requests are kept for ``sent``; they hold their calls.
  private let keepsRequests: Bool
  private let state = Locked(State())
  private let open = OpenSends(endedWith: "the mock transport was shut down")
  private let watchers = LoopbackWatchers()

  /// Creates a transport without stubs.
  ///
  /// - Parameters:
  ///   - baseURL: The URL that the paths of stubs are appended to: the client's base URL. `https://example.com/` by
  ///     default.
  ///   - encoder: The encoder of the values of stubs; by default Foundation's JSON encoder.
  public init(baseURL: URL? = nil, encoder: any BodyEncoder = RequestConfiguration.jsonEncoder) {
    self.baseURL = baseURL ?? MockTransport.defaultBaseURL
    self.encoder = encoder
    self.answer = nil
    self.keepsRequests = true
  }

  /// Creates a transport that calls a closure for each request that no stub matches.
  ///
  /// ```swift
  /// let mock = MockTransport { request in
  ///   NetworkResponse(request: request, statusCode: 404)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - baseURL: The URL that the paths of stubs are appended to: the client's base URL. `https://example.com/` by
  ///     default.
  ///   - encoder: The encoder of the values of stubs; by default Foundation's JSON encoder.
  ///   - answer: Returns the response, or throws the request's error. It gets the request with its body in memory. It
  ///     may wait, and runs in a task that is cancelled with the request's.
  public init(
    baseURL: URL? = nil, encoder: any BodyEncoder = RequestConfiguration.jsonEncoder,
    answer: @escaping @Sendable (NetworkRequest) async throws -> NetworkResponse
  ) {
    self.baseURL = baseURL ?? MockTransport.defaultBaseURL
    self.encoder = encoder
    self.answer = answer
    self.keepsRequests = true
  }

  /// Creates a transport that asks a closure for each request and keeps no requests.
  init(forgetting answer: @escaping @Sendable (NetworkRequest) async throws -> NetworkResponse) {
    self.baseURL = MockTransport.defaultBaseURL
    self.encoder = RequestConfiguration.jsonEncoder
    self.answer = answer
    self.keepsRequests = false
  }

  private static let defaultBaseURL = URL(string: "https://example.com/") ?? URL(filePath: "/")

  /// Adds a stub, which responds to the requests that meet all the given conditions.
  ///
  /// ```swift
  /// // One segment, whatever it is.
  /// mock.on(.get, "users/*").respond(404)
  /// mock.on(.get, "feed", query: ["page": "2"]).fail(.timedOut)
  /// mock.on(.put, "repos/**", where: { try $0.json(Repo.self).id == 7 })
  ///   .respond(204)
  /// mock.on(.post, "https://auth.example.com/token")
  ///   .respond(200, json: Token("t"))
  /// ```
  ///
  /// - Parameters:
  ///   - method: The method; by default any.
  ///   - path: The path below the base URL, or a full URL; by default any URL. `*` matches one segment, `**` any number
  ///     of them. Segments are compared without their percent-encoding. Items after a `?` are added to `query`.
  ///   - query: Items that the request's query must have, among others; by default none.
  ///   - headers: Fields that the request must have, among others; by default none.
  ///   - condition: Returns whether the stub matches a request, whose body is in memory. If it throws, the stub does
  ///     not match.
  /// - Returns: The stub, to which responses are added.
  @discardableResult
  public func on(
    _ method: RequestMethod? = nil, _ path: String? = nil, query: Query = [:], headers: HeaderFields = [:],
    where condition: (@Sendable (NetworkRequest) throws -> Bool)? = nil
  ) -> MockStub {
    let matcher = MockMatcher(
      method: method, path: path.map { MockPath($0, baseURL: baseURL) }, query: query.items, headers: headers,
      condition: condition)
    let stub = MockStub(matcher, encoder: encoder)
    state.withLock { $0.stubs.append(stub) }
    return stub
  }

  /// The requests so far, in the order in which they came, each as it would have gone over the wire.
  ///
  /// Bodies of files and streams are in memory. The list contains requests that no stub matched, but not invalid ones.
  public var sent: [NetworkRequest] { state.withLock { $0.sent } }

  /// Waits until a number of requests have been sent, and returns all requests so far.
  ///
  /// It returns earlier, with fewer, if the task is cancelled.
  @discardableResult
  public func waitForRequests(_ count: Int) async -> [NetworkRequest] {
    await watchers.wait { [self] in sent.count >= count }
    return sent
  }

  /// Checks that every request matched a stub and that every response was sent as often as its stub requires.
  ///
  /// It also checks that every streamed body was read to its end, cancelled or dropped. Mark a stub that need not be
  /// used with ``MockStub/optional()``.
  ///
  /// - Throws: ``MockVerificationError``, which lists the problems.
  public func verify() throws {
    let (stubs, unmatched) = state.withLock { ($0.stubs, $0.unmatched) }
    let streams = openStreamRequests
    let problems = stubs.compactMap(\.problem)
    guard !problems.isEmpty || !unmatched.isEmpty || !streams.isEmpty else { return }
    throw MockVerificationError(unusedStubs: problems, unmatchedRequests: unmatched, openStreams: streams)
  }

  // MARK: - Transport

  /// Returns the response of the first stub that matches the request, or of the closure if no stub does.
  ///
  /// - Throws: The stub's error; `NetworkError` of code `unmatchedRequest` if there is no matching stub and no closure;
  ///   `CancellationError` when the task is cancelled.
  public func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    let start = request.call.clock.now()
    try request.validate()
    try Task.checkCancellation()
    try open.checkIsRunning()
    let progress = request.options.progress?.begin(sending: request.body?.length)
    let shown = try await open.withBodyInMemory(request, sentAt: start)
    if let length = shown.body?.length { progress?.sent(length, of: length) }
    if keepsRequests { state.withLock { $0.sent.append(shown) } }
    watchers.notify()
    let exchange = MockExchange(request: request, shown: shown, start: start, answer: try answer(to: shown))
    guard exchange.mayWait else { return try open.watched(try exchange.immediateResponse()).counted(by: progress) }
    return try open.watched(try await open.response { try await exchange.response() }).counted(by: progress)
  }

  /// The requests whose streamed response has not ended, in the order in which they were sent.
  var openStreamRequests: [NetworkRequest] { open.streamedRequests }

  /// Ends delayed responses and streams with the code `clientShutDown`; later sends fail with that code too.
  public func shutdown() async { open.shutdown() }

  private func answer(to request: NetworkRequest) throws -> MockResponse {
    var mismatches: [String] = []
    for stub in state.withLock({ $0.stubs }) {
      switch stub.answer(to: request) {
      case .success(let answer): return answer
      case .failure(let mismatch): mismatches.append("\(stub): \(mismatch.reason)")
      }
    }
    if let answer { return MockResponse(kind: .closure(answer)) }
    state.withLock { $0.unmatched.append(request) }
    throw NetworkError.unmatchedRequest(request, mismatches)
  }
}
