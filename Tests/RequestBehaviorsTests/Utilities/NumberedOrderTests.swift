import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Concurrent events happen in the order of arrival, not in that of a dictionary.
@Suite(.limited) struct NumberedOrderTests {
  private let order = Box<[Int]>([])
  private let all = Array(0..<20)

  private func note(_ number: Int) { order.update { $0.append(number) } }

  @Test func `a shutdown ends waits in the order in which they began`() async throws {
    let gate = TestGate()
    let own = ClosureBehavior("own") { [order] request, next in
      let number = Int(request.url.lastPathComponent) ?? -1
      try await request.call.wait {
        let never = Waiter<Void>()
        try await withTaskCancellationHandler {
          gate.arrive()
          try await never.value()
        } onCancel: {
          order.update { $0.append(number) }
        }
      }
      return try await next(request)
    }
    let client = NetworkClient(ClosureTransport(200), [own])
    var calls: [Task<Void, any Error>] = []
    for number in all {
      calls.append(Task { try await client.send(.get("\(number)")) })
      await gate.waitForArrivals(number + 1)
    }
    await client.shutdown()
    for call in calls { await #expect(throws: NetworkError.self) { try await call.value } }
    #expect(order.value == all)
  }

  @Test func `closures of one time are called in the order in which they were added`() async {
    let clock = ManualClock()
    let actions = TimedActions(clock.requestClock)
    let (called, continuation) = AsyncStream.makeStream(of: Int.self)
    for number in all { _ = actions.add(after: .seconds(1)) { continuation.yield(number) } }
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(1))
    var iterator = called.makeAsyncIterator()
    for number in all { #expect(await iterator.next() == number) }
  }

  @Test @MainActor func `calls are notified of an expiry in the order in which they began`() {
    var expire: SharedActivity.Expiration?
    let activity = SharedActivity { _, expired in
      expire = expired
      return {}
    }
    for number in all { _ = activity.begin("GET a") { [order] in order.update { $0.append(number) } } }
    expire?()
    #expect(order.value == all)
  }

  @Test func `a clock that shares its timer has one wait for all that is scheduled on it`() async {
    let manual = ManualClock()
    let clock = manual.requestClock.sharingTimer()
    let (called, continuation) = AsyncStream.makeStream(of: Int.self)
    let timers = (1...3).map { number in
      clock.schedule(after: .seconds(number)) { continuation.yield(number) }
    }
    timers[1].cancel()
    var iterator = called.makeAsyncIterator()
    for number in [1, 3] {
      await manual.waitForSleepers(1)
      #expect(manual.sleeperCount == 1)
      manual.advance(by: .seconds(2))
      #expect(await iterator.next() == number)
    }
  }

  @Test(arguments: [false, true])
  func `a clock with another sleep keeps the wait of what is scheduled on it`(sharesTimer: Bool) async {
    let manual = ManualClock()
    let original = sharesTimer ? manual.requestClock.sharingTimer() : manual.requestClock
    let clock = original.sleeping { _ in throw CancellationError() }
    let (called, continuation) = AsyncStream.makeStream(of: Void.self)
    let timer = clock.schedule(after: .seconds(1)) { continuation.finish() }
    await manual.waitForSleepers(1)
    manual.advance(by: .seconds(1))
    for await _ in called {}
    timer.cancel()
  }

  /// A client over a transport that answers when its gate is open, by a clock with a timer for each or with one for all.
  private func client(_ clock: ManualClock, _ sharesTimer: Bool, _ behavior: any RequestBehavior, _ gate: TestGate)
    -> NetworkClient
  {
    let transport = ClosureTransport { request in
      await withTaskCancellationHandler {
        await gate.pass()
      } onCancel: {
        gate.open()
      }
      return NetworkResponse(request: request, statusCode: 200)
    }
    var configuration = RequestConfiguration(baseURL: baseURL, behaviors: [behavior])
    configuration.clock = sharesTimer ? clock.requestClock.sharingTimer() : clock.requestClock
    return NetworkClient(configuration: configuration, transport: transport)
  }

  @Test(arguments: [false, true])
  func `a hedge is sent at its time`(sharesTimer: Bool) async throws {
    let (clock, gate) = (ManualClock(), TestGate())
    let client = client(clock, sharesTimer, .hedging(after: .seconds(4), budget: .unlimited), gate)
    let call = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(4))
    await gate.waitForArrivals(2)
    gate.open()
    try await call.value
  }

  @Test(arguments: [false, true])
  func `a deadline ends a call at its time`(sharesTimer: Bool) async throws {
    let (clock, gate) = (ManualClock(), TestGate())
    let client = client(clock, sharesTimer, .deadline(.seconds(10)), gate)
    let call = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(10))
    #expect(try await #require(throws: NetworkError.self) { try await call.value }.code == .deadlineExceeded)
  }
}
