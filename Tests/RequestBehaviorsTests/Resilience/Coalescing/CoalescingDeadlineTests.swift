import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// A shared request has the latest deadline of those who wait for it.
@Suite(.limited) struct CoalescingDeadlineTests {
  private let clock = ManualClock()
  private let events = RecordedEvents()
  private let coalescer = Coalescer()

  private func client(_ transport: any Transport, _ behaviors: any RequestBehavior...) -> NetworkClient {
    NetworkClient(
      transport, clock.requestClock, [.coalescing(coalescer), .deadline(.seconds(60)), events] + behaviors)
  }

  /// Sends a request with a deadline, and waits until it has joined another one.
  private func join(_ client: NetworkClient, deadline: Duration?) async -> Task<NetworkResponse, any Error> {
    let before = events.count("joined")
    let call = Task { try await client.send(Request<NetworkResponse>.get("x").with(\.deadline, deadline)) }
    await events.waitFor(before + 1, "joined")
    return call
  }

  @Test func `a wait beyond the first caller's deadline begins if another caller can wait longer`() async throws {
    let gate = TestGate()
    let transport = ClosureTransport(numbered: { number, request in
      if number == 1 { await gate.pass() }
      return NetworkResponse(request: request, statusCode: number == 1 ? 503 : 200, headers: ["Retry-After": "20"])
    })
    let client = client(transport, .retry())
    let first = Task { try await client.send(.get("x").with(\.deadline, .seconds(10))) }
    await gate.waitForArrivals(1)
    let second = await join(client, deadline: .seconds(60))
    gate.open()
    await clock.waitForSleepers(3)
    clock.advance(by: .seconds(10))
    let error = await #expect(throws: NetworkError.self) { try await first.value }
    #expect(error?.code == .deadlineExceeded)
    clock.advance(by: .seconds(30))
    #expect(try await second.value.statusCode == 200)
  }

  @Test func `when the one who can wait longest leaves, the deadline is that of the others`() async throws {
    let (gate, deadlines) = (TestGate(), Box<[Duration?]>([]))
    let transport = ClosureTransport { request in
      deadlines.update { $0.append(request.call.deadline) }
      await gate.pass()
      deadlines.update { $0.append(request.call.deadline) }
      return NetworkResponse(request: request, statusCode: 200)
    }
    let client = client(transport)
    let first = Task { try await client.send(.get("x").with(\.deadline, .seconds(10))) }
    await gate.waitForArrivals(1)
    let second = await join(client, deadline: .seconds(20))
    let third = await join(client, deadline: nil)
    third.cancel()
    await #expect(throws: CancellationError.self) { try await third.value }
    gate.open()
    try await first.value
    _ = try await second.value
    #expect(deadlines.value == [.seconds(10), .seconds(20)])
  }

  @Test func `an earlier deadline that a behavior further in sets stays`() async throws {
    let (gate, deadline) = (TestGate(), Box<Duration?>(nil))
    let transport = ClosureTransport { request in
      await gate.pass()
      deadline.value = request.call.deadline
      return NetworkResponse(request: request, statusCode: 200)
    }
    let earlier = ClosureBehavior("earlier", order: .retry) { request, next in
      request.call.deadline = .seconds(5)
      return try await next(request)
    }
    let client = client(transport, earlier)
    let first = Task { try await client.send(.get("x")) }
    await gate.waitForArrivals(1)
    let second = await join(client, deadline: .seconds(90))
    gate.open()
    try await first.value
    _ = try await second.value
    #expect(deadline.value == .seconds(5))
  }

  @Test func `a caller past its deadline gets the attempts and failures, and the others get the response`()
    async throws
  {
    let gate = TestGate()
    let transport = ClosureTransport(numbered: { number, request in
      if number == 2 { await gate.pass() }
      return NetworkResponse(request: request, statusCode: number == 1 ? 503 : 200)
    })
    let again = ClosureBehavior("again", order: .retry) { request, next in
      _ = try await next(request)
      return try await next(request)
    }
    let reports = ReportKeeper()
    let client = client(transport, again, reports)
    let first = Task { try await client.send(.get("x")) }
    await gate.waitForArrivals(1)
    let second = await join(client, deadline: .seconds(10))
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(10))
    let error = await #expect(throws: NetworkError.self) { try await second.value }
    #expect(error?.code == .deadlineExceeded)
    #expect(error?.attempts.count == 2)
    let cause = error?.underlyingError as? NetworkError
    #expect(cause?.statusCode == 503)
    #expect(cause?.request?.call === error?.request?.call)
    gate.open()
    try await first.value
    #expect(transport.sent.count == 2)
    #expect(reports.all.map(\.call.attempts.count) == [2, 2])
  }

  @Test func `a cancelled caller gets the attempts that were sent for it`() async throws {
    let reports = ReportKeeper()
    let transport = ClosureTransport(numbered: { number, request in
      if number == 1 { return NetworkResponse(request: request, statusCode: 503) }
      try await request.call.clock.sleep(for: .seconds(60))
      return NetworkResponse(request: request, statusCode: 200)
    })
    let again = ClosureBehavior("again", order: .retry) { request, next in
      _ = try await next(request)
      return try await next(request)
    }
    let client = client(transport, again, reports)
    let call = Task { try await client.send(.get("x").with(\.deadline, nil)) }
    await clock.waitForSleepers(1)
    call.cancel()
    await #expect(throws: CancellationError.self) { try await call.value }
    let report = try #require(reports.all.first)
    #expect(report.call.attempts.count == 2)
    #expect((report.lastFailure as? NetworkError)?.statusCode == 503)
  }

  @Test func `all whose deadlines pass at one time get a response whose save has begun`() async throws {
    let (saving, saved, journal) = (TestGate(), TestGate(), Journal())
    let save = ClosureBehavior(
      "save", order: .persistence,
      afterSuccess: { _, _ in
        await saving.pass()
        await withTaskCancellationHandler {
          await saved.pass()
        } onCancel: {
          saved.open()
        }
        journal.note("saved")
      })
    let client = client(ClosureTransport(200, "7"), save)
    let first = Task { try await client.send(Request<NetworkResponse>.get("x")) }
    await saving.waitForArrivals(1)
    var calls = [first]
    for _ in 0..<3 { calls.append(await join(client, deadline: .seconds(60))) }
    saving.open()
    await saved.waitForArrivals(1)
    await clock.waitForSleepers(4)
    clock.advance(by: .seconds(60))
    for call in calls { #expect(try await call.value.text == "7") }
    #expect(journal.entries == ["saved"])
    #expect(coalescer.flightCount == 0)
  }

  @Test func `a request does not join one that has passed its deadline`() async throws {
    let (saving, saved, cancelled) = (TestGate(), TestGate(), TestGate())
    let save = ClosureBehavior(
      "save", order: .persistence,
      afterSuccess: { _, _ in
        saving.arrive()
        await withTaskCancellationHandler {
          await saved.pass()
        } onCancel: {
          cancelled.arrive()
        }
      })
    let transport = ClosureTransport(200, "7")
    let client = client(transport, save)
    let first = Task { try await client.send(.get("x")) }
    await saving.waitForArrivals(1)
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(60))
    await cancelled.waitForArrivals(1)
    let second = Task { try await client.send(.get("x")) }
    await saving.waitForArrivals(2)
    saved.open()
    try await first.value
    try await second.value
    #expect(transport.sent.count == 2)
  }

  @Test func `the deadline of the first caller does not end the token wait of callers who joined`() async throws {
    let fixture = TokenFixture()
    let gate = TestGate()
    fixture.server.tokenGate.value = gate
    let session = try await fixture.alice()
    let client = NetworkClient(
      fixture.server.transport, fixture.clock.requestClock,
      [.tokenAuth(session), .coalescing(coalescer), .deadline(.seconds(900)), events])
    let first = Task { try await client.send(.get("x").with(\.deadline, .seconds(1))) }
    await gate.waitForArrivals(1)
    let second = await join(client, deadline: .seconds(900))
    await fixture.clock.waitForSleepers(3)
    fixture.clock.advance(by: .seconds(1))
    #expect(try await fixture.error(first).code == .deadlineExceeded)
    gate.open()
    #expect(try await second.value.statusCode == 200)
  }

  /// The processor time in which so many callers of one flight are cancelled, all of whose deadlines have passed.
  private func time(ofLeaving count: Int) async throws -> Duration {
    let (gate, clock, events) = (TestGate(), ManualClock(), RecordedEvents())
    let transport = ClosureTransport { request in
      await gate.pass()
      return NetworkResponse(request: request, statusCode: 200)
    }
    let deadline = ClosureBehavior("deadline", order: .first) { request, next in
      request.call.deadline = .seconds(5)
      return try await next(request)
    }
    let client = NetworkClient(transport, clock.requestClock, [deadline, .coalescing(), events])
    let calls = (0..<count).map { _ in Task { try await client.send(.get("x")) } }
    await gate.waitForArrivals(1)
    await events.waitFor(count - 1, "joined")
    clock.advance(by: .seconds(5))
    let start = ThreadTime.now
    for call in calls { call.cancel() }
    let time = ThreadTime.now - start
    gate.open()
    for call in calls { _ = await call.result }
    return time
  }

  @Test func `the cost of leaving a flight does not grow with the number of late callers`() async throws {
    #expect(try await Growth.isLinear(from: 100) { try await time(ofLeaving: $0) })
  }
}
