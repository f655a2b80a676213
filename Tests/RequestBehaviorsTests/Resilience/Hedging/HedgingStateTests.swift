import Foundation
import RequestBehaviorsTesting
import TestSupport
import Testing

@testable import RequestBehaviors

/// The state of hedging, and the end of the response that is not the outcome.
@Suite(.limited) struct HedgingStateTests {
  @Test func `of more than a hundred requests the latest hundred count`() {
    var samples = LatencySamples()
    for _ in 0..<100 { samples.add(.seconds(1)) }
    for _ in 0..<99 { samples.add(.seconds(3)) }
    #expect(samples.percentile(0) == .seconds(1))
    samples.add(.seconds(3))
    #expect(samples.percentile(0) == .seconds(3))
    samples.add(.seconds(5))
    #expect(samples.percentile(1) == .seconds(5))
  }

  @Test func `a reset clears the durations of requests and the counts of the budget`() async throws {
    let (history, budget) = (LatencyHistory(), RetryBudget(ratio: 0, reserve: 1))
    let key = try #require(LimitKey.byOrigin(NetworkRequest(url: baseURL)))
    for _ in 0..<20 { history.add(.seconds(1), of: key) }
    #expect(history.percentile(0.95, of: key) == .seconds(1))
    #expect(budget.takeRetry(to: Origin(baseURL), at: .zero))
    await NetworkClient(ClosureTransport(), [HedgingBehavior(budget: budget, history: history)]).reset()
    #expect(history.percentile(0.95, of: key) == nil)
    #expect(budget.takeRetry(to: Origin(baseURL), at: .zero))
  }

  @Test func `the body of a first response that is not acceptable is cancelled when the second send wins`() async throws
  {
    let clock = ManualClock()
    let cancelled = Box(0)
    // A released stream is cancelled without a call of `cancel`.
    let stream = ByteStream(ByteStream(chunks: [Data("x".utf8)]), onCancel: { cancelled.update { $0 += 1 } })
    let transport = ClosureTransport(numbered: { number, request in
      try await request.call.clock.sleep(for: .seconds(2))
      guard number == 1 else { return NetworkResponse(request: request, statusCode: 200) }
      return NetworkResponse(request: request, statusCode: 503, body: .stream(stream))
    })
    let client = NetworkClient(transport, clock.requestClock, [.hedging(after: .seconds(1), budget: .unlimited)])
    let call = Task { try await client.send(Request<NetworkResponse>.get("x")) }
    for _ in 1...2 {
      await clock.waitForSleepers(2)
      clock.advance(by: .seconds(1))
    }
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(1))
    #expect(try await call.value.statusCode == 200)
    #expect(cancelled.value == 1)
  }
}
