import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Behaviors and transports that compute before they first wait, on the thread of their caller.
@Suite(.limited) struct ComputingTests {
  private let begun = DispatchSemaphore(value: 0)
  private let wasCancelled = Box(false)

  /// Computes until the task is cancelled, at most for a time that only a fault takes.
  private static func compute() -> Bool {
    let end = ContinuousClock.now + .seconds(30)
    while ContinuousClock.now < end { if Task.isCancelled { return true } }
    return false
  }

  private func computing(_ order: BehaviorOrder) -> ClosureBehavior {
    ClosureBehavior("computes", order: order) { [begun, wasCancelled] request, next in
      begun.signal()
      wasCancelled.value = ComputingTests.compute()
      return try await next(request)
    }
  }

  /// Sends a request and cancels it while it computes.
  ///
  /// The thread that cancels is not one of the pool, which such computations may use up.
  private func cancelled(_ client: NetworkClient) async -> Result<Void, any Error> {
    let call = Task { try await client.send(.get("x")) }
    Thread.detachNewThread { [begun] in
      begun.wait()
      call.cancel()
    }
    return await call.result
  }

  // MARK: - Shared requests

  @Test func `the only caller of a shared request cancels it while its transport computes`() async {
    let transport = ClosureTransport()
    let result = await cancelled(NetworkClient(transport, [.coalescing(), computing(.inside(.coalescing))]))
    #expect(wasCancelled.value)
    #expect(throws: CancellationError.self) { try result.get() }
    #expect(transport.sent.isEmpty)
  }

  @Test func `a caller that is already cancelled sends no shared request`() async {
    let transport = ClosureTransport()
    let begun = Box(false)
    let inner = ClosureBehavior("inner", order: .inside(.coalescing), modify: { _ in begun.value = true })
    let client = NetworkClient(transport, [.coalescing(), inner])
    let call = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await client.send(.get("x"))
    }
    await #expect(throws: CancellationError.self) { try await call.value }
    #expect(transport.sent.isEmpty)
    #expect(!begun.value)
  }

  @Test func `a request does not join one that its only caller has left, even if it does not end`() async throws {
    let gate = TestGate()
    let coalescer = Coalescer()
    let transport = ClosureTransport { request in
      await gate.pass()
      return NetworkResponse(request: request, statusCode: 200)
    }
    let client = NetworkClient(transport, [.coalescing(coalescer)])
    let call = Task { try await client.send(.get("x")) }
    await gate.waitForArrivals(1)
    call.cancel()
    await #expect(throws: CancellationError.self) { try await call.value }
    #expect(coalescer.flightCount == 0)
    gate.open()
  }

  // MARK: - Other tasks

  @Test func `a caller cancels a hedged request while its transport computes`() async {
    let hedging = HedgingBehavior.hedging(after: .seconds(60))
    let result = await cancelled(NetworkClient(ClosureTransport(), [hedging, computing(.inside(.hedging))]))
    #expect(wasCancelled.value)
    #expect(throws: CancellationError.self) { try result.get() }
  }

  @Test func `a hedged request that ended before it waited is not sent again`() async throws {
    let clock = ManualClock()
    let transport = ClosureTransport { request in
      clock.advance(by: .seconds(2))
      return NetworkResponse(request: request, statusCode: 200)
    }
    let client = NetworkClient(
      transport, clock.requestClock, [.hedging(after: .seconds(1), budget: .unlimited)])
    let response = try await client.send(Request<NetworkResponse>.get("x"))
    #expect(response.request.call.messages(of: .hedge).isEmpty)
    #expect(transport.sent.count == 1)
  }

  @Test func `a hedged request whose response came in time leaves no timer`() async throws {
    let clock = ManualClock()
    let transport = ClosureTransport { request in
      try await request.call.clock.sleep(for: .seconds(1))
      return NetworkResponse(request: request, statusCode: 200)
    }
    let client = NetworkClient(
      transport, clock.requestClock, [.hedging(after: .seconds(60), budget: .unlimited)])
    let call = Task { try await client.send(.get("x")) }
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(1))
    try await call.value
    while clock.sleeperCount > 0 { await Task.yield() }
  }

  @Test(arguments: [false, true])
  func `a transport that computes is cancelled, also if the call has a token`(hasToken: Bool) async throws {
    let (begun, wasCancelled) = (begun, wasCancelled)
    let transport = ClosureTransport { request in
      begun.signal()
      wasCancelled.value = ComputingTests.compute()
      return NetworkResponse(request: request, statusCode: 200)
    }
    let session = TokenSession(source: .closure { _ in AccessToken("alice") })
    try await session.signIn(AccessToken("alice"))
    _ = await cancelled(NetworkClient(transport, hasToken ? [.tokenAuth(session)] : []))
    #expect(wasCancelled.value)
  }

  @Test func `requests within requests do not use up the stack`() async throws {
    let client = Box<NetworkClient?>(nil)
    let transport = ClosureTransport { request in
      let rest = Int(request.url.lastPathComponent) ?? 0
      if rest > 0 { try await client.value?.send(.get("\(rest - 1)")) }
      return NetworkResponse(request: request, statusCode: 200)
    }
    client.value = NetworkClient(
      transport, [.deadline(.seconds(1_000)), .coalescing(), .hedging(after: .seconds(1_000))])
    try await client.value?.send(.get("2000"))
    #expect(transport.sent.count == 2_001)
  }
}
