import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite(.limited) struct CircuitBreakerBehaviorTests {
  private let clock = LeapingClock()
  private let breaker = CircuitBreaker(
    CircuitPolicy(minimumRequests: 2, breakDuration: .seconds(5), probes: 1, probeInterval: .seconds(30)),
    random: { 0 })
  private var key: LimitKey { LimitKey.byOrigin(NetworkRequest(url: baseURL)) ?? "none" }

  private func client(_ transport: any Transport, _ behaviors: any RequestBehavior...) -> NetworkClient {
    NetworkClient(transport, clock.requestClock, [.circuitBreaker(breaker)] + behaviors)
  }

  private func failure(_ client: NetworkClient, _ request: Request<Void> = .get("x")) async throws -> NetworkError {
    try await #require(throws: NetworkError.self) { try await client.send(request) }
  }

  @Test func `an open circuit refuses requests at once, and the error has the end of the break`() async throws {
    let transport = ClosureTransport(503)
    let client = client(transport)
    for _ in 0..<2 { _ = try await failure(client) }
    let error = try await failure(client)
    #expect(error.code == .circuitOpen)
    #expect(transport.sent.count == 2)
    #expect(error.availableAt == clock.date.addingTimeInterval(5))
    #expect(error.isTransient)
    #expect(error.isRefusedLocally)
    #expect(!error.mayHaveArrived)
    #expect(error.request?.call.messages(of: .circuitBreaker) == ["refused: https://api.example.com is open for 5 s"])
  }

  @Test(arguments: [408, 429, 500, 502, 503, 504, 520])
  func `a status of a server in trouble counts as a failure`(status: Int) async throws {
    let client = client(ClosureTransport(status))
    for _ in 0..<2 { _ = try await failure(client) }
    #expect(try await failure(client).code == .circuitOpen)
  }

  @Test(arguments: [400, 401, 403, 404, 409, 422, 501, 505])
  func `a status of a server that works counts as a success`(status: Int) async throws {
    let client = client(ClosureTransport(status))
    for _ in 0..<5 { #expect(try await failure(client).statusCode == status) }
    #expect(breaker.state(of: key) == .closed)
  }

  @Test(arguments: [
    NetworkError.Code.intercepted, .rateLimited, .concurrencyLimited, .invalidRequest, .tlsFailed, .clientShutDown,
  ])
  func `an outcome that does not depend on the server does not count`(code: NetworkError.Code) async throws {
    let client = client(ClosureTransport { _ in throw NetworkError(code, "") })
    for _ in 0..<5 { #expect(try await failure(client).code == code) }
    #expect(breaker.state(of: key) == .closed)
  }

  @Test(arguments: [NetworkError.Code.cannotConnect, .dnsFailed, .connectionLost, .truncatedBody, .timedOut])
  func `a failure of the network counts as one of the server's`(code: NetworkError.Code) async throws {
    let client = client(ClosureTransport { _ in throw NetworkError(code, "") })
    for _ in 0..<2 { #expect(try await failure(client).code == code) }
    #expect(try await failure(client).code == .circuitOpen)
  }

  @Test(arguments: [URLError.Code.notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff])
  func `unverified responses and a device without network do not count`(code: URLError.Code) async throws {
    let unverified = client(ClosureTransport { NetworkResponse(request: $0, statusCode: 500, isVerified: false) })
    let offline = client(
      ClosureTransport { _ in throw NetworkError(.cannotConnect, "", underlyingError: URLError(code)) })
    for _ in 0..<5 {
      _ = try await failure(unverified)
      _ = try await failure(offline)
    }
    #expect(breaker.state(of: key) == .closed)
  }

  @Test(arguments: [[], [.coalescing()]] as [[any RequestBehavior]])
  func `a request cancelled by its deadline counts as a failure, one cancelled by its user does not`(
    behaviors: [any RequestBehavior]
  ) async throws {
    let manual = ManualClock()
    let never = ClosureTransport { request in
      try await request.call.clock.sleep(for: .seconds(3_600))
      return NetworkResponse(request: request, statusCode: 200)
    }
    let client = NetworkClient(
      never, manual.requestClock, [.circuitBreaker(breaker), .deadline(.seconds(5))] + behaviors)
    for _ in 0..<3 {
      let call = Task { try await client.send(.get("x")) }
      await manual.waitForSleepers(2)
      call.cancel()
      await #expect(throws: CancellationError.self) { try await call.value }
    }
    #expect(breaker.state(of: key) == .closed)
    for _ in 0..<2 {
      let call = Task { try await client.send(.get("x")) }
      await manual.waitForSleepers(2)
      manual.advance(by: .seconds(5))
      await #expect(throws: NetworkError.self) { try await call.value }
    }
    #expect(breaker.state(of: key) == .open(until: .seconds(15)))
  }

  @Test func `a probe loses its place when the timeout of its request is over`() async throws {
    let gate = TestGate()
    let transport = ClosureTransport(numbered: { number, request in
      if number == 3 { await gate.pass() }
      return NetworkResponse(request: request, statusCode: number < 3 ? 503 : 200)
    })
    let client = client(transport)
    for _ in 0..<2 { _ = try await failure(client) }
    clock.advance(by: .seconds(5))
    let probe = Task { try await client.send(.get("x").with(\.timeout, .seconds(3))) }
    await gate.waitForArrivals(1)
    #expect(try await failure(client).availableAt == clock.date.addingTimeInterval(3))
    clock.advance(by: .seconds(3))
    try await client.send(.get("x"))
    gate.open()
    try await probe.value
  }

  @Test func `each origin has a circuit of its own, and a request can bypass it`() async throws {
    let transport = ClosureTransport { request in
      NetworkResponse(request: request, statusCode: request.url.host() == "api.example.com" ? 503 : 200)
    }
    let client = client(transport)
    for _ in 0..<2 { _ = try await failure(client) }
    try await client.send(.get(url: try #require(URL(string: "https://other.example/x"))))
    let bypassing = try await failure(client, .get("x").with(\.bypassesCircuitBreaker, true))
    #expect(bypassing.statusCode == 503)
  }

  @Test func `subscribers see every change in order, and the user can isolate and close`() async throws {
    var changes = breaker.changes.makeAsyncIterator()
    let transport = ClosureTransport(statuses: [503, 503, 200])
    let client = client(transport)
    for _ in 0..<2 { _ = try await failure(client) }
    clock.advance(by: .seconds(5))
    for _ in 0..<2 { try await client.send(.get("x")) }
    breaker.isolate(key)
    #expect(try await failure(client).availableAt == nil)
    breaker.close(key)
    try await client.send(.get("x"))
    var states: [CircuitState] = []
    while states.count < 5, let change = await changes.next() { states.append(change.state) }
    #expect(states == [.open(until: .seconds(5)), .halfOpen, .closed, .isolated, .closed])
  }

  @Test func `a reset closes all circuits`() async throws {
    let transport = ClosureTransport(statuses: [503, 503, 200])
    let client = client(transport)
    for _ in 0..<2 { _ = try await failure(client) }
    await client.reset()
    try await client.send(.get("x"))
    #expect(transport.sent.count == 3)
  }

  @Test func `retries end at an open circuit with the server's last response`() async throws {
    let transport = ClosureTransport(503, "why")
    let error = try await failure(client(transport, RetryBehavior(random: { 0 })))
    #expect(error.statusCode == 503)
    #expect(transport.sent.count == 2)
    #expect(error.attempts.count == 2)
  }

  @Test func `a break may be of any length`() async throws {
    let breaker = CircuitBreaker(
      CircuitPolicy(minimumRequests: 2, breakDuration: .seconds(Int64.max)), random: { 1 })
    let client = NetworkClient(ClosureTransport(503), clock.requestClock, [.circuitBreaker(breaker)])
    for _ in 0..<2 { _ = try await failure(client) }
    let error = try await failure(client)
    #expect(error.code == .circuitOpen)
    #expect(error.message.contains("is sent for \(Int64.max) s"))
  }

  @Test func `the circuit of a dead server without further requests is closed and forgotten`() async throws {
    let code = Box(NetworkError.Code.cannotConnect)
    let broken = client(ClosureTransport { _ in throw NetworkError(code.value, "") })
    let working = client(ClosureTransport(200))
    func urls(_ name: String, _ count: Int) -> [URL] {
      (0..<count).compactMap { URL(string: "https://\(name)\($0).example/") }
    }
    let dead = urls("dead", 300)
    func openCount() -> Int {
      dead.compactMap { LimitKey.byOrigin(NetworkRequest(url: $0)) }.count { breaker.state(of: $0) != .closed }
    }
    for url in dead { for _ in 0..<2 { _ = try await failure(broken, .get(url: url)) } }
    // Some are half open, and no probe is under way.
    clock.advance(by: .seconds(6))
    code.value = .intercepted
    for url in dead.prefix(150) { _ = try await failure(broken, .get(url: url)) }
    let changes = breaker.changes
    for (name, openCountThen) in [("early", 300), ("late", 0)] {
      for url in urls(name, 700) { try await working.send(.get(url: url)) }
      #expect(openCount() == openCountThen)
      clock.advance(by: .seconds(3_600))
    }
    #expect(await changes.first { _ in true }?.state == .closed)
  }
}
