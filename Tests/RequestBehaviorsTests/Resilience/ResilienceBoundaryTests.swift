import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Decisions exactly at a limit, and outcomes that must not count.
@Suite(.limited) struct ResilienceBoundaryTests {
  private let clock = ManualClock()

  private func client(_ transport: any Transport, _ behaviors: any RequestBehavior...) -> NetworkClient {
    NetworkClient(transport, clock.requestClock, behaviors)
  }

  @Test func `a wait that would end at the deadline itself is not begun`() async throws {
    let transport = ClosureTransport(503, headers: ["Retry-After": "10"])
    let client = client(transport, .deadline(.seconds(10)), RetryBehavior(random: { 0 }))
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    #expect(error?.statusCode == 503)
    #expect(transport.sent.count == 1)
  }

  @Test func `durations of failures do not affect the hedging delay`() async throws {
    let transport = ClosureTransport(numbered: { number, request in
      guard number > 20 else { return NetworkResponse(request: request, statusCode: 503) }
      try await request.call.clock.sleep(for: .seconds(3))
      return NetworkResponse(request: request, statusCode: 200)
    })
    let client = client(transport, .hedging())
    for _ in 0..<20 { await #expect(throws: NetworkError.self) { try await client.send(.get("x")) } }
    let slow = Task { try await client.send(.get("x")) }
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(3))
    try await slow.value
    #expect(transport.sent.count == 21)
  }

  @Test func `a call counts once for a budget that retries and hedges share`() async throws {
    let budget = RetryBudget(ratio: 1, reserve: 0)
    let transport = ClosureTransport(503)
    let behaviors: [any RequestBehavior] = [
      .hedging(budget: budget), RetryBehavior(budget: budget, random: { 0 }),
    ]
    let client = NetworkClient(transport, LeapingClock().requestClock, behaviors)
    await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    #expect(transport.sent.count == 2)
  }

  @Test func `if it is unknown whether the device is online requests are sent`() async throws {
    let (asked, lost) = (TestGate(), TestGate())
    let isFirst = Box(true)
    let updates = AsyncThrowingStream<Bool, any Error> {
      if isFirst.update({ was in
        defer { was = false }
        return was
      }) {
        return false
      }
      // It requests the next value after it has taken the first.
      await asked.pass()
      await lost.pass()
      throw CocoaError(.fileReadUnknown)
    }
    let connectivity = Connectivity(updates)
    asked.open()
    await lost.waitForArrivals(1)
    #expect(!connectivity.isOnline)
    let call = Task { [self] in
      try await client(ClosureTransport(), .offline(connectivity, rule: .wait)).send(.get("x"))
    }
    lost.open()
    try await call.value
    #expect(connectivity.isOnline)
  }
}
