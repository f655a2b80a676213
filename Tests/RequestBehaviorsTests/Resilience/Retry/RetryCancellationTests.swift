import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// The end of a retry whose call is cancelled, and its error when the deadline leaves no time.
@Suite(.limited) struct RetryCancellationTests {
  private let clock = LeapingClock()

  @Test func `after a cancellation there is no send, no decision and no use of the budget`() async throws {
    let (gate, asked) = (TestGate(), Box(0))
    let transport = ClosureTransport(numbered: { number, request in
      if number == 1 { await gate.pass() }
      return NetworkResponse(request: request, statusCode: 503)
    })
    let budget = RetryBudget(ratio: 0, reserve: 1)
    let decider: RetryDecider = { _ in
      asked.update { $0 += 1 }
      return .retry(after: .zero)
    }
    let retry = RetryBehavior(budget: budget, decider: decider)
    let client = NetworkClient(transport, clock.requestClock, [retry])
    let call = Task { try await client.send(.get("x")) }
    await gate.waitForArrivals(1)
    call.cancel()
    gate.open()
    await #expect(throws: CancellationError.self) { try await call.value }
    #expect(transport.sent.count == 1)
    #expect(asked.value == 0)
    #expect(budget.takeRetry(to: Origin(baseURL), at: clock.now))
  }

  @Test func `a response that comes after the cancellation has its body cancelled`() async throws {
    let (gate, cancelled) = (TestGate(), Box(0))
    let stream = ByteStream(ByteStream(chunks: [Data("x".utf8)]), onCancel: { cancelled.update { $0 += 1 } })
    let transport = ClosureTransport { request in
      await gate.pass()
      return NetworkResponse(request: request, statusCode: 503, body: .stream(stream))
    }
    let client = NetworkClient(transport, clock.requestClock, [.retry()])
    let call = Task { try await client.send(.get("x")) }
    await gate.waitForArrivals(1)
    call.cancel()
    gate.open()
    await #expect(throws: CancellationError.self) { try await call.value }
    #expect(cancelled.value == 1)
  }

  @Test func `a call that is cancelled while this side refuses its retry is cancelled`() async throws {
    let (count, gate) = (Box(0), TestGate())
    let breaker = ClosureBehavior("breaker", order: .circuitBreaker) { request, next in
      count.update { $0 += 1 }
      guard count.value > 1 else { return try await next(request) }
      await gate.pass()
      throw NetworkError(.circuitOpen, "open")
    }
    let client = NetworkClient(ClosureTransport(503), clock.requestClock, [.retry(), breaker])
    let call = Task { try await client.send(.get("x")) }
    await gate.waitForArrivals(1)
    call.cancel()
    gate.open()
    await #expect(throws: CancellationError.self) { try await call.value }
  }

  @Test func `a retry that the deadline forbids leaves a later date of the error's own`() async throws {
    let deadline = ClosureBehavior("deadline", order: .deadline) { request, next in
      request.call.deadline = request.call.clock.now() + .seconds(1)
      return try await next(request)
    }
    let later = clock.date.addingTimeInterval(3_600)
    let transport = ClosureTransport { _ in
      var error = NetworkError(.connectionLost, "lost")
      error.availableAt = later
      throw error
    }
    let policy = RetryPolicy(backoff: Backoff(base: .seconds(15), jitter: .none))
    let client = NetworkClient(transport, clock.requestClock, [RetryBehavior(policy), deadline])
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    #expect(error?.availableAt == later)
  }

  @Test(arguments: [(200, 2), (404, 2), (503, 1)])
  func `a retry that gets a response returns the reserve`(status: Int, sends: Int) async throws {
    let budget = RetryBudget(ratio: 0, reserve: 1, window: .seconds(1))
    let transport = ClosureTransport(numbered: { number, request in
      NetworkResponse(request: request, statusCode: number == 2 ? status : 503)
    })
    let client = NetworkClient(transport, clock.requestClock, [RetryBehavior(budget: budget)])
    try? await client.send(.get("x"))
    #expect(transport.sent.count == 2)
    clock.advance(by: .seconds(60))
    try? await client.send(.get("x"))
    #expect(transport.sent.count == 2 + sends)
  }
}
