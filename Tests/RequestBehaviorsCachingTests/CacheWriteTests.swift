import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Writes whose outcome is unknown, and what comes at the same time as a write.
@Suite(.limited) struct CacheWriteTests {
  private let store = MemoryCacheStore()
  private let clock = ManualClock()

  /// A server whose GET is fresh for a minute, and whose writes do what a closure says.
  private func server(
    _ write: @escaping @Sendable (NetworkRequest) async throws -> NetworkResponse
  ) -> ClosureTransport {
    ClosureTransport { request in
      guard request.method == .get else { return try await write(request) }
      return NetworkResponse(
        request: request, statusCode: 200, headers: ["Cache-Control": "max-age=60"], body: .data(Data("text".utf8)))
    }
  }

  private func client(_ transport: any Transport, _ behaviors: any RequestBehavior...) -> NetworkClient {
    NetworkClient(transport, clock.requestClock, [.caching(store)] + behaviors)
  }

  private func sent(_ transport: ClosureTransport) -> [String] {
    transport.sent.map { "\($0.method) \($0.url.lastPathComponent)" }
  }

  // MARK: Writes without a response

  @Test func `a cancelled write makes its URL invalid if the server may have carried it out`() async throws {
    let gate = TestGate()
    let transport = server { request in
      await gate.pass()
      return NetworkResponse(request: request, statusCode: 200)
    }
    let client = client(transport)
    try await client.send(.get("a"))
    let put = Task { try await client.send(.put("a")) }
    await gate.waitForArrivals(1)
    put.cancel()
    gate.open()
    await #expect(throws: CancellationError.self) { try await put.value }
    try await client.send(.get("a"))
    #expect(sent(transport) == ["GET a", "PUT a", "GET a"])
  }

  @Test(arguments: [NetworkError.Code.truncatedBody, .timedOut, .connectionLost, .badResponse])
  func `a write whose response is lost makes its URL invalid`(code: NetworkError.Code) async throws {
    let transport = server { _ in throw NetworkError(code, "the test's server fails") }
    let client = client(transport)
    for path in ["a", "b"] { try await client.send(.get("\(path)")) }
    await #expect(throws: NetworkError.self) { try await client.send(.put("a")) }
    for path in ["a", "b"] { try await client.send(.get("\(path)")) }
    #expect(sent(transport) == ["GET a", "GET b", "PUT a", "GET a"])
  }

  @Test func `a write that succeeded makes its URL invalid although a hook refuses its response`() async throws {
    let transport = server { NetworkResponse(request: $0, statusCode: 200) }
    let client = client(
      transport,
      ClosureBehavior("refuses", afterSuccess: { _, request in if request.method == .put { throw Failure("no") } }))
    try await client.send(.get("a"))
    await #expect(throws: Failure("no")) { try await client.send(.put("a")) }
    try await client.send(.get("a"))
    #expect(sent(transport) == ["GET a", "PUT a", "GET a"])
  }

  @Test(arguments: [404, 500])
  func `a write that was lost makes its URL invalid although its repeat is refused`(status: Int) async throws {
    let count = Box(0)
    let transport = server { request in
      count.update { $0 += 1 }
      if count.value == 1 { throw NetworkError(.connectionLost, "the test's server fails") }
      return NetworkResponse(request: request, statusCode: status)
    }
    let repeats = ClosureBehavior("repeats", order: .retry) { request, next in
      do { return try await next(request) } catch is NetworkError { return try await next(request) }
    }
    let client = client(transport, repeats)
    try await client.send(.get("a"))
    await #expect(throws: NetworkError.self) { try await client.send(Request<Void>(.delete, "a")) }
    try await client.send(.get("a"))
    #expect(sent(transport) == ["GET a", "DELETE a", "DELETE a", "GET a"])
  }

  @Test(arguments: ["https://api.example.com/v1/b", "https://cdn.example.com/b"])
  func `a write that is lost after a redirect makes the redirect's target invalid too`(location: String) async throws {
    let transport = server { request in
      guard request.url.lastPathComponent == "a" else { throw NetworkError(.timedOut, "the test's server fails") }
      return NetworkResponse(request: request, statusCode: 307, headers: ["Location": location])
    }
    let client = client(transport)
    for path in ["a", "c"] { try await client.send(.get("\(path)")) }
    try await client.send(Request<Void>.get(url: try #require(URL(string: location))))
    await #expect(throws: NetworkError.self) { try await client.send(.post("a")) }
    #expect(await store.entries(limit: 9).map { $0.key.url.suffix(2) } == ["/c"])
  }

  @Test func `a response that is under way while a write is lost is not stored`() async throws {
    let gate = TestGate()
    let transport = ClosureTransport { request in
      guard request.method == .get else { throw NetworkError(.timedOut, "the test's server fails") }
      await gate.pass()
      return NetworkResponse(request: request, statusCode: 200, headers: ["Cache-Control": "max-age=60"])
    }
    let client = client(transport)
    let get = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    await #expect(throws: NetworkError.self) { try await client.send(.put("a")) }
    gate.open()
    try await get.value
    #expect(store.count == 0)
  }

  @Test(arguments: [NetworkError.Code.cannotConnect, .dnsFailed, .tlsFailed, .intercepted])
  func `a write that did not reach the server does not make a URL invalid`(code: NetworkError.Code) async throws {
    let transport = server { _ in throw NetworkError(code, "the test's server fails") }
    let client = client(transport)
    try await client.send(.get("a"))
    await #expect(throws: NetworkError.self) { try await client.send(.put("a")) }
    #expect(store.count == 1)
  }

  @Test func `a write that timed out before it had a connection does not make a URL invalid`() async throws {
    let transport = server { _ in
      var error = NetworkError(.timedOut, "the test's server fails")
      error.progress = NetworkError.Progress(.notSent)
      throw error
    }
    let client = client(transport)
    try await client.send(.get("a"))
    await #expect(throws: NetworkError.self) { try await client.send(.put("a")) }
    #expect(store.count == 1)
  }

  @Test func `a write that a behavior refuses before it is sent does not make a URL invalid`() async throws {
    let transport = server { NetworkResponse(request: $0, statusCode: 200) }
    let client = client(
      transport, ClosureBehavior("refuses", modify: { if $0.method == .put { throw Failure("no") } }))
    try await client.send(.get("a"))
    await #expect(throws: Failure("no")) { try await client.send(.put("a")) }
    #expect(store.count == 1)
  }

  @Test func `a write whose successful response is not verified does not make a URL invalid`() async throws {
    let transport = server { NetworkResponse(request: $0, statusCode: 200, isVerified: false) }
    let client = client(transport)
    try await client.send(.get("a"))
    let error = await #expect(throws: NetworkError.self) { try await client.send(.put("a")) }
    #expect(error?.code == .intercepted)
    #expect(store.count == 1)
  }

  @Test func `responses that the store cannot remove after a lost write are not used`() async throws {
    let failing = FailingStore(store)
    let transport = server { _ in throw NetworkError(.timedOut, "the test's server fails") }
    let client = NetworkClient(transport, clock.requestClock, [.caching(failing)])
    try await client.send(.get("a"))
    failing.fails.value = true
    await #expect(throws: NetworkError.self) { try await client.send(.put("a")) }
    try await client.send(.get("a"))
    #expect(sent(transport) == ["GET a", "PUT a", "GET a"])
  }

  // MARK: POST

  /// A server that holds a POST of `a`, whose response is what a GET would get.
  private func holdingServer(_ gate: TestGate) -> ClosureTransport {
    server { request in
      guard request.method == .post else { return NetworkResponse(request: request, statusCode: 204) }
      await gate.pass()
      return NetworkResponse(
        request: request, statusCode: 200, headers: ["Cache-Control": "max-age=60", "Content-Location": "/v1/a"],
        body: .data(Data("old".utf8)))
    }
  }

  @Test func `the response to a POST is not stored if its URL was changed while it was under way`() async throws {
    let gate = TestGate()
    let client = client(holdingServer(gate))
    let post = Task { try await client.send(.post("a")) }
    await gate.waitForArrivals(1)
    try await client.send(.put("a"))
    gate.open()
    try await post.value
    #expect(store.count == 0)
    #expect(try await client.send(Request<NetworkResponse>.get("a")).source == .network)
  }

  @Test func `the response to a POST is stored although its own change makes its URL invalid`() async throws {
    let gate = TestGate()
    gate.open()
    let client = client(holdingServer(gate))
    try await client.send(.get("a"))
    try await client.send(.post("a"))
    #expect(try await client.send(Request<String>.get("a")) == "old")
  }

  @Test func `the response to a POST is not stored if everything was removed while it was under way`() async throws {
    let gate = TestGate()
    let client = client(holdingServer(gate))
    let post = Task { try await client.send(.post("a")) }
    await gate.waitForArrivals(1)
    await client.reset()
    gate.open()
    try await post.value
    #expect(store.count == 0)
  }
}
