import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// A batch has the latest deadline of those who wait for it.
@Suite(.limited) struct BatchDeadlineTests {
  private let clock = ManualClock()
  private let events = RecordedEvents()
  private let breaker = CircuitBreaker(
    CircuitPolicy(minimumRequests: 2, breakDuration: .seconds(5), probes: 1), random: { 0 })

  private func client(_ transport: any Transport, _ behaviors: any RequestBehavior...) -> NetworkClient {
    let batch = BatchBehavior(
      size: 2, group: { _ in "all" }, merge: { $0[0] },
      split: { response, requests in requests.map { _ in .success(response) } })
    return NetworkClient(transport, clock.requestClock, [.deadline(.seconds(10)), batch, events] + behaviors)
  }

  /// Begins a call that waits in a batch, which the second one fills.
  private func begin(_ client: NetworkClient, deadline: Duration? = .seconds(10)) async -> Task<Void, any Error> {
    let before = events.count("waits")
    let call = Task { try await client.send(.get("x").with(\.deadline, deadline)) }
    await events.waitFor(before + 1, "waits")
    return call
  }

  private let again = ClosureBehavior("again", order: .retry) { request, next in
    _ = try await next(request)
    return try await next(request)
  }

  @Test(arguments: [Duration.seconds(10), .seconds(60)])
  func `a caller past its deadline gets the attempts of the batch and their failure`(deadlineOfTheOther: Duration)
    async throws
  {
    let gate = TestGate()
    let transport = ClosureTransport(numbered: { number, request in
      if number == 1 { return NetworkResponse(request: request, statusCode: 503) }
      gate.arrive()
      try await request.call.clock.sleep(for: .seconds(3_600))
      return NetworkResponse(request: request, statusCode: 200)
    })
    let client = client(transport, again)
    let late = await begin(client)
    let other = await begin(client, deadline: deadlineOfTheOther)
    await gate.waitForArrivals(1)
    await clock.waitForSleepers(3)
    clock.advance(by: .seconds(10))
    let error = await #expect(throws: NetworkError.self) { try await late.value }
    #expect(error?.code == .deadlineExceeded)
    #expect(error?.attempts.count == 2)
    #expect((error?.underlyingError as? NetworkError)?.statusCode == 503)
    other.cancel()
    _ = await other.result
  }

  @Test func `a batch whose callers are all late counts as a failure of the server`() async throws {
    let gate = TestGate()
    let transport = ClosureTransport { request in
      gate.arrive()
      try await request.call.clock.sleep(for: .seconds(3_600))
      return NetworkResponse(request: request, statusCode: 200)
    }
    let client = client(transport, .circuitBreaker(breaker))
    for round in 1...2 {
      let calls = [await begin(client), await begin(client)]
      await gate.waitForArrivals(round)
      await clock.waitForSleepers(3)
      clock.advance(by: .seconds(10))
      for call in calls {
        let error = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(error?.code == .deadlineExceeded)
      }
    }
    let key = try #require(LimitKey.byOrigin(NetworkRequest(url: baseURL)))
    #expect(breaker.state(of: key) == .open(until: .seconds(25)))
  }

  @Test func `a retry that all callers of a batch cannot wait for is not begun`() async throws {
    let transport = ClosureTransport(503, headers: ["Retry-After": "20"])
    let client = client(transport, .retry())
    let calls = [await begin(client), await begin(client)]
    for call in calls {
      let error = await #expect(throws: NetworkError.self) { try await call.value }
      #expect(error?.statusCode == 503)
    }
    #expect(transport.sent.count == 1)
  }

  @Test func `a batch of a shared request has the deadline of one who joins later`() async throws {
    let (gate, deadline) = (TestGate(), Box<Duration?>(nil))
    let transport = ClosureTransport { request in
      await gate.pass()
      deadline.value = request.call.deadline
      return NetworkResponse(request: request, statusCode: 200)
    }
    let client = client(transport, .coalescing())
    let first = await begin(client)
    await clock.waitForSleepers(2)
    clock.advance(by: .milliseconds(10))
    await gate.waitForArrivals(1)
    let second = Task { try await client.send(.get("x").with(\.deadline, .seconds(60))) }
    await events.waitFor(1, "joined")
    gate.open()
    try await first.value
    try await second.value
    #expect(deadline.value == .milliseconds(60_010))
  }
}
