import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Requests that come while the same response is validated.
@Suite(.limited) struct CacheConcurrencyTests {
  /// A server that gives an entity tag, and holds what comes later at a gate.
  private struct Server {
    let gate = TestGate()
    let events = RecordedEvents()
    let clock = ManualClock()
    let transport: ClosureTransport
    let client: NetworkClient

    init(
      _ cacheControl: String, fails: Bool = false, status: Int = 304, failure: NetworkError.Code = .cannotConnect,
      store: any CacheStore = MemoryCacheStore(), session: TokenSession? = nil, deadline: Duration? = nil
    ) {
      let (gate, clock, events) = (gate, clock, events)
      let fails = fails || failure != .cannotConnect
      transport = ClosureTransport { request in
        let headers: HeaderFields = ["ETag": "\"a\"", "Cache-Control": cacheControl]
        guard request.headers.contains("If-None-Match") else {
          return NetworkResponse(request: request, statusCode: 200, headers: headers, body: .data(Data("body".utf8)))
        }
        await gate.pass()
        if fails { throw NetworkError(failure, "the test's server fails", request: request) }
        return NetworkResponse(request: request, statusCode: status, headers: headers)
      }
      let token = session.map { [.tokenAuth($0)] as [any RequestBehavior] } ?? []
      let limit = deadline.map { [.deadline($0)] as [any RequestBehavior] } ?? []
      var configuration = RequestConfiguration(
        baseURL: baseURL, behaviors: [events, .caching(store)] + token + limit)
      configuration.clock = clock.requestClock
      client = NetworkClient(configuration: configuration, transport: transport)
    }

    func send() async throws -> NetworkResponse { try await client.send(.get("a")) }

    /// Stores a response, lets it become stale, and sends so many requests until each has asked or waits.
    func crowd(_ count: Int, asking: Int) async throws -> [Task<ResponseSource, any Error>] {
      _ = try await send()
      clock.advance(by: .seconds(61))
      let tasks = (0..<count).map { _ in Task { try await send().source } }
      await gate.waitForArrivals(asking)
      await events.waitFor(count - asking, "waits")
      return tasks
    }
  }

  @Test func `concurrent requests for one stale response send one validation`() async throws {
    let server = Server("max-age=60")
    let tasks = try await server.crowd(20, asking: 1)
    server.gate.open()
    var sources: [ResponseSource: Int] = [:]
    for task in tasks { sources[try await task.value, default: 0] += 1 }
    #expect(sources == [.revalidated: 1, .cache: 19])
    #expect(server.transport.sent.count == 2)
  }

  @Test(arguments: [true, false])
  func `a request that a behavior sends while it works for the validation of the same URL validates for itself`(
    isCoalescing: Bool
  ) async throws {
    let (clock, asking) = (ManualClock(), AskingBehavior())
    let transport = ClosureTransport { request in
      NetworkResponse(
        request: request, statusCode: request.headers.contains("If-None-Match") ? 304 : 200,
        headers: ["ETag": "\"a\"", "Cache-Control": "max-age=60"])
    }
    let outer = isCoalescing ? [.coalescing()] as [any RequestBehavior] : []
    let client = NetworkClient(transport, clock.requestClock, outer + [.caching(MemoryCacheStore()), asking])
    try await client.send(.get("x"))
    clock.advance(by: .seconds(61))
    asking.client.value = client
    try await client.send(.get("x"))
    #expect(transport.sent.count == 3)
  }

  @Test func `a request whose deadline passes while another one validates gets the stale response`() async throws {
    let server = Server("max-age=60, stale-if-error=600", deadline: .seconds(60))
    _ = try await server.send()
    server.clock.advance(by: .seconds(61))
    let first = Task { try await server.send().source }
    await server.gate.waitForArrivals(1)
    let second = Task {
      try await server.client.send(Request<NetworkResponse>.get("a").with(\.deadline, .seconds(10))).source
    }
    await server.events.waitFor(1, "waits")
    await server.clock.waitForSleepers(2)
    server.clock.advance(by: .seconds(11))
    #expect(try await second.value == .stale)
    server.gate.open()
    #expect(try await first.value == .revalidated)
  }

  @Test func `a request that read the store before a validation ended does not send another one`() async throws {
    let (store, look) = (FailingStore(MemoryCacheStore()), TestGate())
    let server = Server("max-age=60", store: store)
    let late = try await sendLate(server, store, look)
    look.open()
    #expect(try await late.value == .cache)
    #expect(server.transport.sent.count == 2)
  }

  @Test func `a request does not read the store again after the validation of another response`() async throws {
    let store = FailingStore(MemoryCacheStore())
    let look = TestGate()
    let server = Server("max-age=60", store: store)
    for path: RequestPath in ["a", "b"] { try await server.client.send(.get(path)) }
    server.clock.advance(by: .seconds(61))
    server.gate.open()
    store.afterLook.value = { await look.pass() }
    let second = Task { try await server.send().source }
    await look.waitForArrivals(1)
    try await server.client.send(.get("b"))
    let again = Box(false)
    store.afterLook.value = { again.value = true }
    look.open()
    #expect(try await second.value == .revalidated)
    #expect(!again.value)
    #expect(server.transport.sent.count == 4)
  }

  /// Sends a request that reads the store before a validation, and continues when the gate opens after it.
  private func sendLate(_ server: Server, _ store: FailingStore, _ look: TestGate) async throws
    -> Task<ResponseSource, any Error>
  {
    _ = try await server.send()
    server.clock.advance(by: .seconds(61))
    let first = Task { try await server.send().source }
    await server.gate.waitForArrivals(1)
    store.afterLook.value = { await look.pass() }
    let second = Task { try await server.send().source }
    await look.waitForArrivals(1)
    server.gate.open()
    #expect(try await first.value == .revalidated)
    return second
  }

  @Test func `a request that is cancelled before it reads the store again sends nothing`() async throws {
    let (store, look) = (FailingStore(MemoryCacheStore()), TestGate())
    let server = Server("max-age=60", store: store)
    let late = try await sendLate(server, store, look)
    late.cancel()
    look.open()
    _ = await late.result
    #expect(server.transport.sent.count == 2)
  }

  @Test func `a request whose user signs out before it reads the store again gets nothing of the user`() async throws {
    let session = TokenSession(source: .closure { _ in throw NetworkError.notSignedIn("the test") })
    try await session.signIn(AccessToken("t1"))
    let (store, look) = (FailingStore(MemoryCacheStore()), TestGate())
    let server = Server("private, max-age=60", store: store, session: session)
    let late = try await sendLate(server, store, look)
    try await session.signOut()
    look.open()
    let error = await #expect(throws: NetworkError.self) { try await late.value }
    #expect(error?.code == .signedOut)
    #expect(server.transport.sent.count == 2)
  }

  @Test func `a request that read the store before many validations ended does not send another one`() async throws {
    let store = FailingStore(MemoryCacheStore(capacity: 64 << 20))
    let look = TestGate()
    let server = Server("max-age=60", store: store)
    let others = (0..<1_100).map { RequestPath("b/\($0)") }
    _ = try await server.send()
    for path in others { try await server.client.send(.get(path)) }
    server.clock.advance(by: .seconds(61))
    server.gate.open()
    store.afterLook.value = { await look.pass() }
    let second = Task { try await server.send().source }
    await look.waitForArrivals(1)
    #expect(try await server.send().source == .revalidated)
    for path in others { try await server.client.send(.get(path)) }
    look.open()
    #expect(try await second.value == .cache)
  }

  @Test func `a failed validation fails all requests that waited for it`() async throws {
    let server = Server("max-age=60", fails: true)
    let tasks = try await server.crowd(50, asking: 1)
    server.gate.open()
    for task in tasks {
      let error = await #expect(throws: NetworkError.self) { try await task.value }
      #expect(error?.code == .cannotConnect)
      #expect(error?.attempts.count == 1)
    }
    #expect(server.transport.sent.count == 2)
  }

  @Test(arguments: [500, 502, 503, 504])
  func `a validation that the server fails is sent once for all requests that waited`(status: Int) async throws {
    let server = Server("max-age=60", status: status)
    let tasks = try await server.crowd(50, asking: 1)
    server.gate.open()
    for task in tasks {
      let error = await #expect(throws: NetworkError.self) { try await task.value }
      #expect(error?.statusCode == status)
    }
    #expect(server.transport.sent.count == 2)
  }

  @Test(arguments: [nil, 503])
  func `if a stored response replaces a failed validation, it does so for all requests that waited`(status: Int?)
    async throws
  {
    let server = Server("max-age=60, stale-if-error=600", fails: status == nil, status: status ?? 304)
    let tasks = try await server.crowd(50, asking: 1)
    server.gate.open()
    for task in tasks { #expect(try await task.value == .stale) }
    #expect(server.transport.sent.count == 2)
  }

  @Test func `a request waits for a validation with the same timeout, but not for one with another timeout`()
    async throws
  {
    let server = Server("max-age=60", failure: .timedOut)
    _ = try await server.send()
    server.clock.advance(by: .seconds(61))
    let hasty = Task { try await server.client.send(Request<Void>.get("a").with(\.timeout, .seconds(1))) }
    await server.gate.waitForArrivals(1)
    let others = (0..<2).map { _ in Task { try await server.send() } }
    await server.gate.waitForArrivals(2)
    await server.events.waitFor(1, "waits")
    server.gate.open()
    for other in others { await #expect(throws: NetworkError.self) { try await other.value } }
    await #expect(throws: NetworkError.self) { try await hasty.value }
    #expect(server.transport.sent.count == 3)
  }

  @Test func `a request that bypasses a gate does not wait for a validation that is held there`() async throws {
    let clock = ManualClock()
    let gate = Gate()
    let transport = ClosureTransport(200, "body", headers: ["ETag": "\"a\"", "Cache-Control": "max-age=60"])
    let events = RecordedEvents()
    let client = NetworkClient(
      transport, clock.requestClock, [events, .caching(MemoryCacheStore()), .gate(gate)])
    try await client.send(.get("a"))
    clock.advance(by: .seconds(61))
    gate.close()
    let held = Task { try await client.send(.get("a")) }
    await events.waitFor(1, "held")
    try await client.send(Request<Void>.get("a").with(\.bypassesGate, true))
    #expect(transport.sent.count == 2)
    gate.open()
    try await held.value
  }

  /// The holder of the gate at which a request waits while it validates.
  enum Holder: CaseIterable {
    case client
    case variant
    case request
  }

  @Test(arguments: Holder.allCases)
  func `a request does not wait for a validation that is held at a gate which is not in its list`(holder: Holder)
    async throws
  {
    let clock = ManualClock()
    let gate = Gate(isOpen: false)
    let store = MemoryCacheStore()
    let transport = ClosureTransport(200, "body", headers: ["ETag": "\"a\"", "Cache-Control": "max-age=60"])
    let events = RecordedEvents()
    let client = NetworkClient(transport, clock.requestClock, [events, .caching(store)])
    try await client.send(.get("a"))
    clock.advance(by: .seconds(61))
    let other =
      switch holder {
      case .client: NetworkClient(transport, clock.requestClock, [events, .caching(store), .gate(gate)])
      case .variant: client.with { $0.behaviors.append(.gate(gate)) }
      case .request: client
      }
    let held = Task {
      var request = Request<Void>.get("a")
      if holder == .request { request.behaviors.append(.gate(gate)) }
      try await other.send(request)
    }
    await events.waitFor(1, "held")
    try await client.send(.get("a"))
    #expect(transport.sent.count == 2)
    gate.open()
    try await held.value
  }

  @Test func `a validation that one client's circuit breaker refuses does not fail for another client`()
    async throws
  {
    let clock = ManualClock()
    let gate = Gate(isOpen: false)
    let breaker = CircuitBreaker()
    let store = MemoryCacheStore()
    let transport = ClosureTransport(200, "body", headers: ["ETag": "\"a\"", "Cache-Control": "max-age=60"])
    let events = RecordedEvents()
    let client = NetworkClient(transport, clock.requestClock, [events, .caching(store)])
    let broken = NetworkClient(
      transport, clock.requestClock, [events, .caching(store), .gate(gate), .circuitBreaker(breaker)])
    try await client.send(.get("a"))
    clock.advance(by: .seconds(61))
    breaker.isolate(try #require(LimitKey.byOrigin(transport.sent[0])))
    let refused = Task { try await broken.send(.get("a")) }
    await events.waitFor(1, "held")
    let other = Task { try await client.send(.get("a")) }
    // It sends its own request, or waits for the one that will be refused.
    while transport.sent.count < 2, events.count("waits") == 0 { await Task.yield() }
    gate.open()
    try await other.value
    let error = await #expect(throws: NetworkError.self) { try await refused.value }
    #expect(error?.code == .circuitOpen)
  }

  @Test func `a waiting request takes over a cancelled validation, and the others continue to wait`() async throws {
    let server = Server("max-age=60")
    _ = try await server.send()
    server.clock.advance(by: .seconds(61))
    let first = Task { try await server.send() }
    await server.gate.waitForArrivals(1)
    let others = (0..<5).map { _ in Task { try await server.send().source } }
    await server.events.waitFor(5, "waits")
    first.cancel()
    server.gate.open()
    await #expect(throws: CancellationError.self) { try await first.value }
    var sources: [ResponseSource: Int] = [:]
    for other in others { sources[try await other.value, default: 0] += 1 }
    #expect(sources == [.revalidated: 1, .cache: 4])
    #expect(server.transport.sent.count == 3)
  }

  @Test func `a request continues after the validation that it waited for is cancelled`() async throws {
    let server = Server("max-age=60")
    let gate = server.gate
    _ = try await server.send()
    server.clock.advance(by: .seconds(61))
    let first = Task { try await server.send().source }
    await gate.waitForArrivals(1)
    let second = Task { try await server.send().source }
    await server.events.waitFor(1, "waits")
    first.cancel()
    gate.open()
    await #expect(throws: CancellationError.self) { try await first.value }
    #expect(try await second.value == .revalidated)
  }

  @Test func `a waiting request can be cancelled, and a shutdown ends the wait`() async throws {
    let server = Server("max-age=60")
    let tasks = try await server.crowd(3, asking: 1)
    for task in tasks { task.cancel() }
    server.gate.open()
    for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
  }

  @Test(arguments: ["no-cache", "max-age=0"])
  func `RFC 9111 §5.2.2.4: a response that needs a validation for each use is not shared`(cacheControl: String)
    async throws
  {
    let server = Server(cacheControl)
    let tasks = try await server.crowd(3, asking: 3)
    server.gate.open()
    for task in tasks { #expect(try await task.value == .revalidated) }
    #expect(server.transport.sent.count == 4)
  }
}
