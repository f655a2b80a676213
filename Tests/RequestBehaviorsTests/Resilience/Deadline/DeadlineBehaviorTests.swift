import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

@Suite(.limited) struct DeadlineBehaviorTests {
  private let clock = ManualClock()

  private func client(_ transport: any Transport, _ behaviors: any RequestBehavior...) -> NetworkClient {
    NetworkClient(transport, clock.requestClock, behaviors)
  }

  /// A transport that answers after a time.
  private func slow(_ duration: Duration) -> ClosureTransport {
    ClosureTransport { request in
      try await request.call.clock.sleep(for: duration)
      return NetworkResponse(request: request, statusCode: 200)
    }
  }

  @Test func `a call that takes longer than its deadline is cancelled inward and fails`() async throws {
    let journal = Journal()
    let inner = JournalBehavior(name: "in", journal: journal)
    let client = client(slow(.seconds(60)), .deadline(.seconds(10)), inner)
    let call = Task { try await client.send(.get("x")) }
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(10))
    let error = await #expect(throws: NetworkError.self) { try await call.value }
    #expect(error?.code == .deadlineExceeded)
    #expect(error?.isTransient == true)
    #expect(error?.mayHaveArrived == true)
    #expect(journal.count(of: "in.afterFailure") == 1)
    #expect(error?.request?.call.messages(of: .deadline) == ["the deadline of 10 s has passed"])
    #expect(clock.sleeperCount == 0)
  }

  @Test func `a call within its deadline is unchanged, and leaves no timer`() async throws {
    let response: NetworkResponse = try await client(ClosureTransport(), .deadline(.seconds(10))).send(.get("x"))
    #expect(response.request.call.deadline == .seconds(10))
    #expect(clock.sleeperCount == 0)
  }

  @Test func `a second pass within the deadline of the first one names that deadline`() async throws {
    let again = ClosureBehavior("again", order: .first) { request, next in
      do { return try await next(request) } catch { return try await next(request) }
    }
    let client = client(slow(.seconds(60)), again, .deadline(.seconds(10)))
    let call = Task { try await client.send(.get("x")) }
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(10))
    let error = await #expect(throws: NetworkError.self) { try await call.value }
    #expect(error?.message.contains("10 s") == true)
  }

  @Test func `an earlier deadline of a behavior further out ends the call`() async throws {
    let earlier = ClosureBehavior("earlier", order: .first) { request, next in
      request.call.deadline = request.call.clock.now() + .seconds(3)
      return try await next(request)
    }
    let client = client(slow(.seconds(60)), earlier, .deadline(.seconds(10)))
    let call = Task { try await client.send(.get("x")) }
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(3))
    let error = await #expect(throws: NetworkError.self) { try await call.value }
    #expect(error?.code == .deadlineExceeded)
  }

  /// A list without shared requests, and one with them.
  private static let lists: [[any RequestBehavior]] = [[], [.coalescing()]]

  @Test(arguments: lists)
  func `the error of a deadline has the latest failure as its cause`(behaviors: [any RequestBehavior]) async throws {
    let transport = ClosureTransport(numbered: { number, request in
      if number == 1 { return NetworkResponse(request: request, statusCode: 503) }
      try await request.call.clock.sleep(for: .seconds(60))
      return NetworkResponse(request: request, statusCode: 200)
    })
    let again = ClosureBehavior("again", order: .retry) { request, next in
      _ = try await next(request)
      return try await next(request)
    }
    let client = NetworkClient(transport, clock.requestClock, [.deadline(.seconds(10)), again] + behaviors)
    let call = Task { try await client.send(.get("x")) }
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(10))
    let error = await #expect(throws: NetworkError.self) { try await call.value }
    #expect(error?.code == .deadlineExceeded)
    #expect(error?.statusCode == 503)
    #expect((error?.underlyingError as? NetworkError)?.statusCode == 503)
    #expect(error?.attempts.count == 2)
  }

  @Test(arguments: lists)
  func `a response that is being saved when the deadline passes is returned`(behaviors: [any RequestBehavior])
    async throws
  {
    let (saving, saved) = (TestGate(), TestGate())
    let save = ClosureBehavior(
      "save", order: .persistence,
      afterSuccess: { _, _ in
        saving.open()
        await withTaskCancellationHandler {
          await saved.pass()
        } onCancel: {
          saved.open()
        }
      })
    let client = NetworkClient(
      ClosureTransport(200, "7"), clock.requestClock, [.deadline(.seconds(10)), save] + behaviors)
    let call = Task { try await client.send(.get("x").returning(Int.self)) }
    await saving.pass()
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(10))
    #expect(try await call.value == 7)
  }

  @Test func `cancelling a call with a deadline throws a CancellationError`() async throws {
    let client = client(slow(.seconds(60)), .deadline(.seconds(10)))
    let call = Task { try await client.send(.get("x")) }
    await clock.waitForSleepers(2)
    call.cancel()
    await #expect(throws: CancellationError.self) { try await call.value }
  }

  @Test func `a call that was cancelled before its deadline passed ends as cancelled`() async throws {
    let gate = TestGate()
    let transport = ClosureTransport { request in
      await gate.pass()
      return NetworkResponse(request: request, statusCode: 200)
    }
    let client = client(transport, .deadline(.seconds(10)))
    let call = Task { try await client.send(.get("x")) }
    await gate.waitForArrivals(1)
    call.cancel()
    clock.advance(by: .seconds(10))
    gate.open()
    await #expect(throws: CancellationError.self) { try await call.value }
  }

  @Test func `a request's own deadline replaces the behavior's, even nil`() async throws {
    let client = client(ClosureTransport(), .deadline(.seconds(10)))
    let own: NetworkResponse = try await client.send(.get("x").with(\.deadline, .seconds(3)))
    #expect(own.request.call.deadline == .seconds(3))
    let none: NetworkResponse = try await client.send(.get("x").with(\.deadline, nil))
    #expect(none.request.call.deadline == nil)
  }

  @Test func `a deadline of zero fails before anything is sent`() async throws {
    let transport = ClosureTransport()
    let error = await #expect(throws: NetworkError.self) {
      try await client(transport, .deadline(.zero)).send(.get("x"))
    }
    #expect(error?.code == .deadlineExceeded)
    #expect(transport.sent.isEmpty)
  }

  @Test(arguments: lists)
  func `a retry that would outlast the deadline is not begun`(behaviors: [any RequestBehavior]) async throws {
    let transport = ClosureTransport(503, headers: ["Retry-After": "20"])
    let client = NetworkClient(transport, clock.requestClock, [.deadline(.seconds(10)), .retry()] + behaviors)
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    #expect(error?.statusCode == 503)
    #expect(transport.sent.count == 1)
    #expect(error?.availableAt == clock.date.addingTimeInterval(20))
  }

  @Test func `a prerequisite has its own deadline`() async throws {
    let deadlines = Box<[Duration?]>([])
    let transport = ClosureTransport { request in
      deadlines.update { $0.append(request.call.deadline) }
      return NetworkResponse(request: request, statusCode: 200)
    }
    let needy = ClosureBehavior("needy", order: .authentication) { request, next in
      clock.advance(by: .seconds(4))
      try await next.client().send(.get("token"))
      return try await next(request)
    }
    try await client(transport, .deadline(.seconds(10)), needy).send(.get("x"))
    #expect(deadlines.value == [.seconds(14), .seconds(10)])
  }
}
