import RequestBehaviorsTesting
import TestSupport
import Testing

@testable import RequestBehaviors

/// Permits and places in a queue after a request leaves, and after a reset.
@Suite(.limited) struct LimitStateTests {
  private let key: LimitKey = "k"

  @Test func `a request does not overtake waiting ones, though a permit is free`() {
    var queue = PermitQueue()
    let isFirst = queue.take(upTo: 1)
    queue.wait(WaitingPlace(priority: .normal, number: 1))
    queue.giveBack()
    let hasOvertaken = queue.take(upTo: 1)
    #expect(isFirst)
    #expect(!hasOvertaken)
    #expect(queue.grant(upTo: 1) == 1)
  }

  /// Asks for permits, and returns the one that was given and what the others wait for.
  private func enter(
    _ limiter: ConcurrencyLimiter, _ count: Int
  ) -> (permits: [ConcurrencyLimiter.Permit], turns: [ConcurrencyLimiter.Turn]) {
    var permits: [ConcurrencyLimiter.Permit] = []
    var turns: [ConcurrencyLimiter.Turn] = []
    for _ in 0..<count {
      switch limiter.enter(key, .normal) {
      case .go(let permit): permits.append(permit)
      case .wait(let turn): turns.append(turn)
      case .refused: break
      }
    }
    return (permits, turns)
  }

  @Test func `a permit that is granted to a leaving request is returned`() throws {
    let limiter = ConcurrencyLimiter(1)
    let (permits, turns) = enter(limiter, 2)
    let turn = try #require(turns.first)
    limiter.release(permits[0])
    #expect(turn.waiter.settledValue != nil)
    #expect(limiter.inUse(of: key) == 1)
    limiter.leave(turn)
    #expect(limiter.inUse(of: key) == 0)
  }

  @Test func `after a reset waiting requests get the free permits, and old permits return nothing`() {
    let limiter = ConcurrencyLimiter(2)
    let (permits, turns) = enter(limiter, 5)
    limiter.reset()
    #expect(turns.map { $0.waiter.settledValue != nil } == [true, true, false])
    #expect(limiter.inUse(of: key) == 2)
    #expect(limiter.waiting(for: key) == 1)
    for permit in permits { limiter.release(permit) }
    #expect(limiter.inUse(of: key) == 2)
    #expect(limiter.waiting(for: key) == 1)
  }

  @Test func `a request that is refused for its deadline keeps no place in the queue`() async throws {
    let clock = ManualClock()
    let transport = ClosureTransport()
    let behaviors: [any RequestBehavior] = [.rateLimit(0.1, burst: 1), .deadline(.seconds(5))]
    let client = NetworkClient(transport, clock.requestClock, behaviors)
    try await client.send(.get("x"))
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    #expect(error?.code == .rateLimited)
    clock.advance(by: .milliseconds(10_001))
    try await client.send(.get("x"))
    #expect(transport.sent.count == 2)
  }

  @Test func `a pause is not shortened by a later one that ends earlier`() {
    var bucket = TokenBucket(rate: 10, burst: 5)
    bucket.pause(until: .seconds(60), at: .zero)
    bucket.pause(until: .seconds(30), at: .seconds(1))
    #expect(bucket.delay(for: 1, at: .seconds(30)) == .seconds(30))
  }

  @Test(arguments: [(429, 30), (503, 30), (500, 0), (301, 0)])
  func `a Retry-After pauses its key with 429 and 503 only`(status: Int, seconds: Int) async throws {
    let clock = LeapingClock()
    let transport = ClosureTransport(numbered: { number, request in
      NetworkResponse(request: request, statusCode: number == 1 ? status : 200, headers: ["Retry-After": "30"])
    })
    let client = NetworkClient(transport, clock.requestClock, [.rateLimit(10, burst: 10)])
    await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    try await client.send(.get("x"))
    #expect(clock.now == .seconds(seconds))
  }
}
