import Foundation
import RequestBehaviors
import TestSupport
import Testing

/// Outcomes without a retry, and waits and errors at the edge.
@Suite(.limited) struct RetryEdgeTests {
  private let clock = LeapingClock()

  private func failure(
    _ request: Request<Void>, _ transport: any Transport, _ behaviors: any RequestBehavior...
  ) async throws -> NetworkError {
    try await #require(throws: NetworkError.self) {
      try await NetworkClient(transport, clock.requestClock, behaviors).send(request)
    }
  }

  @Test(arguments: [(false, 1), (true, 2)])
  func `only a verified response gives a call credit in the budget`(isVerified: Bool, sends: Int) async throws {
    let transport = ClosureTransport { NetworkResponse(request: $0, statusCode: 503, isVerified: isVerified) }
    let budget = RetryBudget(ratio: 1, reserve: 0)
    #expect(try await failure(.get("x"), transport, RetryBehavior(budget: budget, random: { 0 })).statusCode == 503)
    #expect(transport.sent.count == sends)
  }

  @Test(arguments: [RequestMethod.get, .post])
  func `a 421 that may not come from the server does not count as a misdirected request`(method: RequestMethod)
    async throws
  {
    let transport = ClosureTransport { NetworkResponse(request: $0, statusCode: 421, isVerified: false) }
    #expect(try await failure(Request<Void>(method, "x"), transport, RetryBehavior()).statusCode == 421)
    #expect(transport.sent.count == 1)
  }

  @Test func `a server that asks for less than the backoff does not shorten it`() async throws {
    let transport = ClosureTransport(numbered: { number, request in
      NetworkResponse(request: request, statusCode: number == 1 ? 503 : 200, headers: ["Retry-After": "1"])
    })
    let policy = RetryPolicy(backoff: Backoff(base: .seconds(15), jitter: .none))
    let client = NetworkClient(transport, clock.requestClock, [RetryBehavior(policy, random: { 0 })])
    try await client.send(.get("x"))
    #expect(clock.sleeps == [.seconds(15)])
  }

  @Test func `an error before a refusal by the client has the time at which the refusal ends`() async throws {
    let end = Date(timeIntervalSince1970: 2_000_000_000)
    let count = Box(0)
    let breaker = ClosureBehavior("breaker", order: .circuitBreaker) { request, next in
      count.update { $0 += 1 }
      guard count.value > 1 else { return try await next(request) }
      var refusal = NetworkError(.circuitOpen, "open")
      refusal.availableAt = end
      throw refusal
    }
    let transport = ClosureTransport { _ in throw NetworkError(.connectionLost, "lost") }
    let error = try await failure(.get("x"), transport, RetryBehavior(random: { 0 }), breaker)
    #expect(error.code == .connectionLost)
    #expect(transport.sent.count == 1)
    #expect(error.availableAt == end)
  }
}
