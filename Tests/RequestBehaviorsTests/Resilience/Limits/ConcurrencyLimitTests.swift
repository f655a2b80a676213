import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

@Suite(.limited) struct ConcurrencyLimitTests {
  private let limiter = ConcurrencyLimiter(2, queueLimit: 100)
  private var key: LimitKey { LimitKey.byOrigin(NetworkRequest(url: baseURL)) ?? "none" }

  @Test func `no more requests than the limit are under way, and all are sent in the end`() async throws {
    let (underWay, events) = (Box((now: 0, most: 0)), RecordedEvents())
    let (begun, gates) = (TestGate(), (0..<50).map { _ in TestGate() })
    let transport = ClosureTransport(numbered: { number, request in
      underWay.update { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
      defer { underWay.update { $0.now -= 1 } }
      begun.arrive()
      await gates[number - 1].pass()
      return NetworkResponse(request: request, statusCode: 200)
    })
    let client = NetworkClient(transport, [events, .concurrencyLimit(limiter)])
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<50 { group.addTask { try await client.send(.get("x")) } }
      // Most of the others wait by then; not all, so that one too many that is sent fails the test and does not hang it.
      await events.waitFor(40, "waits")
      for (index, gate) in gates.enumerated() {
        await begun.waitForArrivals(min(index + 2, 50))
        gate.open()
      }
      try await group.waitForAll()
    }
    #expect(underWay.value.most == 2)
    #expect(transport.sent.count == 50)
    #expect(limiter.inUse(of: key) == 0)
    #expect(limiter.waiting(for: key) == 0)
  }

  @Test func `urgent requests are sent first, then in order of arrival`() async throws {
    let gate = TestGate()
    let order = Box<[String]>([])
    let transport = ClosureTransport { request in
      order.update { $0.append(request.url.lastPathComponent) }
      await gate.pass()
      return NetworkResponse(request: request, statusCode: 200)
    }
    let limiter = ConcurrencyLimiter(1)
    let events = RecordedEvents()
    let client = NetworkClient(transport, [events, .concurrencyLimit(limiter)])
    var calls = [Task { try await client.send(.get("0")) }]
    await gate.waitForArrivals(1)
    for (index, (name, priority)) in [
      ("a", RequestPriority.normal), ("b", .low), ("c", .high), ("d", .normal),
    ].enumerated() {
      calls.append(Task { try await client.send(.get("\(name)").with(\.priority, priority)) })
      await events.waitFor(index + 1, "waits")
      #expect(limiter.waiting(for: key) == index + 1)
    }
    gate.open()
    for call in calls { try await call.value }
    #expect(order.value == ["0", "c", "a", "d", "b"])
  }

  @Test func `if too many wait a request is refused at once`() async throws {
    let gate = TestGate()
    let transport = ClosureTransport { request in
      await gate.pass()
      return NetworkResponse(request: request, statusCode: 200)
    }
    let limiter = ConcurrencyLimiter(1, queueLimit: 0)
    let client = NetworkClient(transport, [.concurrencyLimit(limiter)])
    let call = Task { try await client.send(.get("x")) }
    await gate.waitForArrivals(1)
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("y")) }
    #expect(error?.code == .concurrencyLimited)
    #expect(error?.mayHaveArrived == false)
    gate.open()
    try await call.value
  }

  @Test func `a permit comes back after a failure, a cancellation and a throw further in`() async throws {
    let failing = ClosureBehavior("failing", order: .signing) { request, next in
      if request.url.lastPathComponent == "throw" { throw Failure("x") }
      return try await next(request)
    }
    let gate = TestGate()
    let transport = ClosureTransport { request in
      if request.url.lastPathComponent == "held" { await gate.pass() }
      return NetworkResponse(request: request, statusCode: 500)
    }
    let client = NetworkClient(transport, [.concurrencyLimit(limiter), failing])
    try? await client.send(.get("throw"))
    try? await client.send(.get("fail"))
    let held = Task { try await client.send(.get("held")) }
    await gate.waitForArrivals(1)
    #expect(limiter.inUse(of: key) == 1)
    held.cancel()
    gate.open()
    _ = await held.result
    #expect(limiter.inUse(of: key) == 0)
  }

  @Test func `after a reset permits from before it count no more`() async throws {
    let gate = TestGate()
    let transport = ClosureTransport { request in
      await gate.pass()
      return NetworkResponse(request: request, statusCode: 200)
    }
    let limiter = ConcurrencyLimiter(1)
    let events = RecordedEvents()
    let client = NetworkClient(transport, [events, .concurrencyLimit(limiter)])
    let first = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    let second = Task { try await client.send(.get("b")) }
    await events.waitFor(1, "waits")
    #expect(limiter.waiting(for: key) == 1)
    await client.reset()
    await gate.waitForArrivals(2)
    #expect(limiter.inUse(of: key) == 1)
    gate.open()
    try await first.value
    try await second.value
    #expect(limiter.inUse(of: key) == 0)
  }

  @Test func `a request that waits for the rate limit holds no concurrency permit, in any order of the list`()
    async throws
  {
    let clock = ManualClock()
    let lists: [[any RequestBehavior]] = [
      [.concurrencyLimit(limiter), .rateLimit(1, burst: 1)], [.rateLimit(1, burst: 1), .concurrencyLimit(limiter)],
    ]
    for list in lists {
      let client = NetworkClient(ClosureTransport(), clock.requestClock, list)
      try await client.send(.get("x"))
      let waiting = Task { try await client.send(.get("x")) }
      await clock.waitForSleepers(1)
      #expect(limiter.inUse(of: key) == 0)
      clock.advance(by: .seconds(2))
      try await waiting.value
    }
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `over random schedules with cancellations permits taken are permits returned`(seed: UInt64) async throws {
    let client = NetworkClient(
      ClosureTransport(numbered: { number, request in
        var random = SeededGenerator(seed: seed, task: number)
        await random.yield(upTo: 20)
        if Int.random(in: 0..<4, using: &random) == 0 { throw NetworkError(.connectionLost, "") }
        return NetworkResponse(request: request, statusCode: 200)
      }), [.concurrencyLimit(limiter)])
    let outcomes = Box((successes: 0, failures: 0, cancellations: 0))
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<300 {
        group.addTask {
          var random = SeededGenerator(seed: seed, task: -number)
          let call = Task { try await client.send(.get("x")) }
          if Int.random(in: 0..<3, using: &random) == 0 {
            await random.yield(upTo: 30)
            call.cancel()
          }
          switch await call.result {
          case .success: outcomes.update { $0.successes += 1 }
          case .failure(is CancellationError): outcomes.update { $0.cancellations += 1 }
          case .failure: outcomes.update { $0.failures += 1 }
          }
        }
      }
    }
    let counts = outcomes.value
    #expect(counts.successes + counts.failures + counts.cancellations == 300)
    #expect(limiter.inUse(of: key) == 0)
    #expect(limiter.waiting(for: key) == 0)
  }
}
