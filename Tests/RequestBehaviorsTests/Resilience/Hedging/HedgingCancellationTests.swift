import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// A hedged call that ends early fails for that reason, whatever the server said before.
@Suite(.limited) struct HedgingCancellationTests {
  private let clock = ManualClock()

  /// The first send fails after two seconds; the second one, which goes after one second, hangs.
  private let failing = ClosureTransport(numbered: { number, request in
    try await request.call.clock.sleep(for: number == 1 ? .seconds(2) : .seconds(600))
    return NetworkResponse(request: request, statusCode: 503)
  })

  /// Runs a call until the first send has failed, and only the second one waits.
  private func begin(_ behaviors: any RequestBehavior...) async -> Task<Void, any Error> {
    let failed = TestGate()
    let seen = ClosureBehavior("seen", afterFailure: { _, _ in failed.arrive() })
    let hedging = HedgingBehavior.hedging(after: .seconds(1), budget: .unlimited)
    let client = NetworkClient(failing, clock.requestClock, [hedging, seen] + behaviors)
    let call = Task { try await client.send(.get("x")) }
    let others = behaviors.count
    for _ in 1...2 {
      await clock.waitForSleepers(2 + others)
      clock.advance(by: .seconds(1))
    }
    await failed.waitForArrivals(1)
    return call
  }

  @Test func `a call that is cancelled after the server failed is cancelled`() async throws {
    let call = await begin()
    call.cancel()
    await #expect(throws: CancellationError.self) { try await call.value }
  }

  @Test func `a call whose deadline passes after the server failed reports both`() async throws {
    let call = await begin(.deadline(.seconds(10)))
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(8))
    let error = await #expect(throws: NetworkError.self) { try await call.value }
    #expect(error?.code == .deadlineExceeded)
    #expect((error?.underlyingError as? NetworkError)?.statusCode == 503)
  }

  @Test func `a first send that fails when it is cancelled does not hide the cancellation`() async throws {
    let gate = TestGate()
    let transport = ClosureTransport { request in
      await gate.pass()
      return NetworkResponse(request: request, statusCode: 503)
    }
    let behaviors: [any RequestBehavior] = [.hedging(after: .seconds(1), budget: RetryBudget(ratio: 0))]
    let client = NetworkClient(transport, clock.requestClock, behaviors)
    let call = Task { try await client.send(.get("x")) }
    await gate.waitForArrivals(1)
    clock.advance(by: .seconds(1))
    call.cancel()
    gate.open()
    await #expect(throws: CancellationError.self) { try await call.value }
  }
}
