import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

@Suite(.limited) struct RateLimitBehaviorTests {
  private let clock = LeapingClock()

  private func client(_ transport: any Transport, _ behaviors: any RequestBehavior...) -> NetworkClient {
    NetworkClient(transport, clock.requestClock, behaviors)
  }

  @Test func `requests beyond the burst wait for the rate`() async throws {
    let transport = ClosureTransport()
    let client = client(transport, .rateLimit(2, burst: 2))
    for _ in 0..<6 { try await client.send(.get("x")) }
    #expect(transport.sent.count == 6)
    #expect(clock.now >= .seconds(2))
    #expect(clock.now < .milliseconds(2_001))
  }

  @Test func `a wait that would outlast the deadline is refused at once with the date of the next permit`()
    async throws
  {
    let transport = ClosureTransport()
    let manual = ManualClock()
    let client = NetworkClient(
      transport, manual.requestClock, [.rateLimit(0.1, burst: 1), .deadline(.seconds(5))])
    try await client.send(.get("x"))
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    #expect(error?.code == .rateLimited)
    #expect(transport.sent.count == 1)
    let wait = try #require(error?.availableAt).timeIntervalSince(manual.date)
    #expect(wait > 9.9)
    #expect(wait < 10.1)
  }

  @Test func `a 429 pauses its key, also for other requests`() async throws {
    let transport = ClosureTransport(numbered: { number, request in
      NetworkResponse(request: request, statusCode: number == 1 ? 429 : 200, headers: ["Retry-After": "30"])
    })
    let client = client(transport, .rateLimit(10, burst: 10))
    await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    let response: NetworkResponse = try await client.send(.get("y"))
    #expect(clock.now == .seconds(30))
    #expect(response.request.call.messages(of: .limit) == ["waits 30 s for the rate of https://api.example.com"])
    try await client.send(.get(url: try #require(URL(string: "https://other.example"))))
    #expect(clock.now == .seconds(30))
  }

  @Test func `an exhausted limit pauses its key, and a limit with requests left does not`() async throws {
    let transport = ClosureTransport(numbered: { number, request in
      NetworkResponse(
        request: request, statusCode: 200, headers: ["RateLimit": "\"default\";r=\(number == 1 ? 1 : 0);t=20"])
    })
    let client = client(transport, .rateLimit(10, burst: 10))
    for now in [0, 0, 20] {
      try await client.send(.get("x"))
      #expect(clock.now == .seconds(now))
    }
  }

  @Test func `a response that may not come from the server does not pause, and a pause lasts two minutes at most`()
    async throws
  {
    let forged = ClosureTransport {
      NetworkResponse(request: $0, statusCode: 503, headers: ["Retry-After": "60"], isVerified: false)
    }
    let limiter = RateLimiter(rate: 10, burst: 10)
    for _ in 0..<2 { try? await client(forged, .rateLimit(limiter)).send(.get("x")) }
    #expect(clock.now == .zero)
    let patient = ClosureTransport(503, headers: ["Retry-After": "86400"])
    for _ in 0..<2 { try? await client(patient, .rateLimit(limiter)).send(.get("x")) }
    #expect(clock.now == .seconds(120))
  }

  @Test func `a request can bypass limits, and a key of the user's groups requests`() async throws {
    let limiter = RateLimiter(rate: 1, burst: 1) { request in
      request.url.path().hasSuffix("search") ? "search" : nil
    }
    let client = client(ClosureTransport(), .rateLimit(limiter))
    for _ in 0..<5 { try await client.send(.get("x")) }
    for _ in 0..<5 { try await client.send(.get("search").with(\.bypassesLimits, true)) }
    #expect(clock.now == .zero)
    for _ in 0..<3 { try await client.send(.get("search")) }
    #expect(clock.now >= .seconds(2))
  }

  @Test func `urgent requests are sent first, then in order of arrival, and cancelled ones take no permit`()
    async throws
  {
    let manual = ManualClock()
    let order = Box<[String]>([])
    let (arrived, events) = (TestGate(), RecordedEvents())
    arrived.open()
    let transport = ClosureTransport { request in
      order.update { $0.append(request.url.lastPathComponent) }
      await arrived.pass()
      return NetworkResponse(request: request, statusCode: 200)
    }
    let limiter = RateLimiter(rate: 1, burst: 1)
    let client = NetworkClient(transport, manual.requestClock, [events, .rateLimit(limiter)])
    try await client.send(.get("0"))
    var calls: [String: Task<Void, any Error>] = [:]
    for (index, (name, priority)) in [
      ("a", RequestPriority.normal), ("b", .low), ("c", .high), ("d", .normal), ("e", .high),
    ].enumerated() {
      calls[name] = Task { try await client.send(.get("\(name)").with(\.priority, priority)) }
      await events.waitFor(index + 1, "waits")
    }
    calls["c"]?.cancel()
    await #expect(throws: CancellationError.self) { try await calls["c"]?.value }
    // Whoever is first sleeps: "e" now, and still "a", which was it before the urgent came.
    await manual.waitForSleepers(2)
    for sent in 2...5 {
      await manual.waitForSleepers(1)
      manual.advance(by: .milliseconds(1_001))
      await arrived.waitForArrivals(sent)
      #expect(order.value.count == sent)
    }
    for name in ["a", "b", "d", "e"] { try await calls[name]?.value }
    #expect(order.value == ["0", "e", "a", "d", "b"])
  }

  @Test func `a request that is cancelled before it asks takes no permit`() async throws {
    let cancelling = ClosureBehavior { request, next in
      if request.url.path().contains("cancelled") { withUnsafeCurrentTask { $0?.cancel() } }
      return try await next(request)
    }
    let transport = ClosureTransport()
    let client = client(transport, cancelling, .rateLimit(1))
    let cancelled = Task { try await client.send(.get("cancelled")) }
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    try await client.send(.get("next"))
    // The next request did not have to wait for the only permit.
    #expect(clock.now == .zero)
  }

  @Test func `if too many wait a request is refused at once`() async throws {
    let manual = ManualClock()
    let limiter = RateLimiter(rate: 1, burst: 1, queueLimit: 1)
    let client = NetworkClient(ClosureTransport(), manual.requestClock, [.rateLimit(limiter)])
    try await client.send(.get("x"))
    let waiting = Task { try await client.send(.get("x")) }
    await manual.waitForSleepers(1)
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    #expect(error?.code == .rateLimited)
    #expect(error?.availableAt != nil)
    manual.advance(by: .seconds(2))
    try await waiting.value
  }

  @Test func `after a reset requests that wait do not hold up others, and are sent`() async throws {
    let manual = ManualClock()
    let transport = ClosureTransport(numbered: { number, request in
      NetworkResponse(request: request, statusCode: number == 1 ? 429 : 200, headers: ["Retry-After": "100"])
    })
    let client = NetworkClient(transport, manual.requestClock, [.rateLimit(1, burst: 2)])
    await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    let waiting = Task { try await client.send(.get("y")) }
    await manual.waitForSleepers(1)
    await client.reset()
    try await waiting.value
    try await client.send(.get("z"))
    #expect(manual.now == .zero)
  }

  @Test func `shutdown ends the wait for a permit`() async throws {
    let manual = ManualClock()
    let client = NetworkClient(ClosureTransport(), manual.requestClock, [.rateLimit(0.001, burst: 1)])
    try await client.send(.get("x"))
    let call = Task { try await client.send(.get("x")) }
    await manual.waitForSleepers(1)
    await client.shutdown()
    let error = await #expect(throws: NetworkError.self) { try await call.value }
    #expect(error?.code == .clientShutDown)
  }
}
