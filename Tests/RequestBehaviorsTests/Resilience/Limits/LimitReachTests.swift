import Foundation
import RequestBehaviorsTesting
import TestSupport
import Testing

@testable import RequestBehaviors

/// Which requests a limit holds, of which keys, and which options travel with them.
@Suite(.limited) struct LimitReachTests {
  /// A transport that holds what it is sent at a gate.
  private func held(_ gate: TestGate) -> ClosureTransport {
    ClosureTransport { request in
      await gate.pass()
      return NetworkResponse(request: request, statusCode: 200)
    }
  }

  /// A behavior that sends a request for a token before each request to a path.
  private func tokenRequest(before path: String) -> ClosureBehavior {
    ClosureBehavior("token", order: .authentication) { request, next in
      if request.url.lastPathComponent == path {
        try await next.client(omitting: ClosureBehavior.self).send(.post("token"))
      }
      return try await next(request)
    }
  }

  @Test func `a request that bypasses limits takes no permit of a concurrency limit`() async throws {
    let gate = TestGate()
    let limiter = ConcurrencyLimiter(1)
    let client = NetworkClient(held(gate), [.concurrencyLimit(limiter)])
    let first = Task { try await client.send(.get("x")) }
    await gate.waitForArrivals(1)
    let second = Task { try await client.send(.get("y").with(\.bypassesLimits, true)) }
    await gate.waitForArrivals(2)
    #expect(limiter.inUse(of: try #require(LimitKey.byOrigin(NetworkRequest(url: baseURL)))) == 1)
    gate.open()
    try await first.value
    try await second.value
  }

  @Test func `if more keys are used than remembered, those with a request under way keep their limit`() async throws {
    let (gate, events) = (TestGate(), RecordedEvents())
    let limiter = ConcurrencyLimiter(1) { .named($0.url.lastPathComponent) }
    let transport = held(gate)
    let client = NetworkClient(transport, [events, .concurrencyLimit(limiter)])
    var calls = (0..<300).map { number in Task { try await client.send(.get("\(number)")) } }
    await gate.waitForArrivals(300)
    calls += (0..<300).map { number in Task { try await client.send(.get("\(number)")) } }
    await events.waitFor(300, "waits")
    #expect(transport.sent.count == 300)
    gate.open()
    for call in calls { try await call.value }
    #expect(transport.sent.count == 600)
  }

  @Test func `a prerequisite request takes a permit of the rate`() async throws {
    let clock = LeapingClock()
    let client = NetworkClient(
      ClosureTransport(), clock.requestClock, [.rateLimit(1, burst: 1), tokenRequest(before: "x")])
    try await client.send(.get("x"))
    #expect(clock.now == .seconds(1))
  }

  @Test(arguments: [false, true])
  func `a token request goes before the requests that wait for a permit`(isRate: Bool) async throws {
    let (clock, server, early) = (ManualClock(), TokenServer(), Box(0))
    let transport = ClosureTransport { request in
      try await clock.requestClock.sleep(for: .seconds(1))
      if request.headers["Authorization"] == "Bearer old",
        early.update({
          $0 += 1
          return $0
        }) <= 5
      {
        return NetworkResponse(request: request, statusCode: 200)
      }
      return try await server.transport.send(request)
    }
    let session = TokenSession(source: .refreshToken(.test))
    try await session.signIn(AccessToken("old", refreshToken: "r"))
    let limit: any RequestBehavior = isRate ? .rateLimit(1, burst: 1) : .concurrencyLimit(1)
    let client = NetworkClient(transport, clock.requestClock, [.tokenAuth(session), limit])
    let succeeded = try await clock.run {
      await withTaskGroup(of: Bool.self) { group in
        for number in 0..<100 { group.addTask { (try? await client.send(.get("\(number)"))) != nil } }
        return await group.reduce(0) { $1 ? $0 + 1 : $0 }
      }
    }
    #expect(succeeded == 100)
    #expect(server.tokenRequests.count == 1)
    #expect(server.apiRequests.count { $0.headers["Authorization"] == "Bearer old" } < 5)
  }

  @Test func `a full queue lets a token request in`() async throws {
    let (clock, server) = (ManualClock(), TokenServer())
    let session = TokenSession(source: .refreshToken(.test))
    try await session.signIn(AccessToken("old", refreshToken: "r"))
    let client = NetworkClient(
      server.transport, clock.requestClock, [.tokenAuth(session), .rateLimit(1, burst: 1, queueLimit: 2)])
    // The first is refused at once, while the other two fill the queue. Its repeat may find the queue full.
    let succeeded = try await clock.run {
      await withTaskGroup(of: Bool.self) { group in
        for number in 0..<3 { group.addTask { (try? await client.send(.get("\(number)"))) != nil } }
        return await group.reduce(0) { $1 ? $0 + 1 : $0 }
      }
    }
    #expect(succeeded >= 2)
    #expect(server.tokenRequests.count == 1)
  }

  @Test func `a full queue of a concurrency limit lets a prerequisite request in`() async throws {
    let (gate, events) = (TestGate(), RecordedEvents())
    let transport = held(gate)
    let client = NetworkClient(
      transport, [events, tokenRequest(before: "c"), .concurrencyLimit(1, queueLimit: 1)])
    let first = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    let second = Task { try await client.send(.get("b")) }
    await events.waitFor(1, "waits")
    let third = Task {
      // If its token request is refused, the gate stays closed.
      defer { gate.open() }
      try await client.send(.get("c"))
    }
    let opening = Task {
      await events.waitFor(2, "waits")
      gate.open()
    }
    defer { opening.cancel() }
    for call in [first, second, third] { try await call.value }
    #expect(transport.sent.map(\.url.lastPathComponent).prefix(2) == ["a", "token"])
  }

  @Test func `a request's urgency, limits and caching follow a redirect to another origin, its key does not`() {
    var options = RequestOptions()
    options.priority = .high
    options.bypassesLimits = true
    options.bypassesGate = true
    options.bypassesCircuitBreaker = true
    options.offlineRule = .wait
    options.deadline = .seconds(3)
    options.retryPolicy = RetryPolicy(maximumRetries: 7)
    options.hedging = HedgingPolicy(delay: .fixed(.seconds(1)))
    options.redirects = .none
    options.caching = .reload
    options.staleIfError = .seconds(9)
    options.idempotencyKey = .generated
    let kept = options.portable()
    #expect(kept.priority == .high)
    #expect(kept.bypassesLimits)
    #expect(kept.bypassesGate)
    #expect(kept.bypassesCircuitBreaker)
    #expect(kept.offlineRule == .wait)
    #expect(kept.deadline == .seconds(3))
    #expect(kept.retryPolicy?.maximumRetries == 7)
    #expect(kept.hedging == HedgingPolicy(delay: .fixed(.seconds(1))))
    #expect(kept.redirects == .none)
    #expect(kept.caching == .reload)
    #expect(kept.staleIfError == .seconds(9))
    #expect(kept.idempotencyKey == nil)
  }
}
