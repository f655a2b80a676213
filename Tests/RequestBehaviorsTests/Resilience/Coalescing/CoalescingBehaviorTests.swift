import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

@Suite(.limited) struct CoalescingBehaviorTests {
  private let gate = TestGate()
  private let coalescer = Coalescer()

  /// A transport that answers when the gate is open.
  private func held(_ status: Int = 200, _ body: String = "7") -> ClosureTransport {
    ClosureTransport { [gate] request in
      await gate.pass()
      return NetworkResponse(request: request, statusCode: status, body: .data(Data(body.utf8)))
    }
  }

  private func client(_ transport: any Transport, _ behaviors: any RequestBehavior...) -> NetworkClient {
    NetworkClient(transport, [.coalescing(coalescer)] + behaviors)
  }

  /// Calls of which so many have reached the server, and the others have joined them, before a response comes.
  private func joined<Value: Sendable>(
    _ count: Int, sends: Int = 1, _ call: @escaping @Sendable (Int) async throws -> Value
  ) async -> [Result<Value, any Error>] {
    let tasks = (0..<count).map { index in Task { try await call(index) } }
    await gate.waitForArrivals(sends)
    await events.waitFor(count - sends, "joined")
    gate.open()
    var results: [Result<Value, any Error>] = []
    for task in tasks { results.append(await task.result) }
    return results
  }

  private let events = RecordedEvents()

  @Test func `identical requests in flight are sent once, and each gets the response`() async throws {
    let transport = held()
    let client = client(transport, events)
    let results = await joined(20) { _ in
      try await client.response(for: Request<Int>.get("x"))
    }
    let responses = try results.map { try $0.get() }
    #expect(responses.map(\.value) == Array(repeating: 7, count: 20))
    #expect(transport.sent.count == 1)
    #expect(coalescer.flightCount == 0)
    #expect(responses.count { $0.http.source == .coalesced } == 19)
    #expect(responses.allSatisfy { $0.http.attempts.count == 1 })
    #expect(Set(responses.map { $0.http.request.call.id }).count == 20)
  }

  @Test func `observers and logs get each caller's call once, and the send once`() async throws {
    let (reports, lines) = (ReportKeeper(), Box<[LogRecord]>([]))
    let log = LoggingBehavior.logging(ClosureLogSink { record in lines.update { $0.append(record) } }, level: .debug)
    let client = client(held(), events, reports, log)
    _ = await joined(6) { _ in try await client.send(Request<Int>.get("x")) }
    #expect(reports.all.count == 6)
    #expect(reports.all.allSatisfy { $0.call.parent == nil })
    #expect(lines.value.count { $0.kind == .call } == 6)
    #expect(lines.value.count { $0.kind == .attempt } == 1)
    #expect(lines.value.filter { $0.kind == .call }.allSatisfy { $0.sends == 1 })
  }

  @Test func `a failure is shared like a success`() async throws {
    let transport = held(500)
    let client = client(transport, events)
    let results = await joined(5) { _ in try await client.send(.get("x")) }
    for result in results {
      let error = #expect(throws: NetworkError.self) { try result.get() }
      #expect(error?.statusCode == 500)
      #expect(error?.attempts.count == 1)
    }
    #expect(transport.sent.count == 1)
  }

  @Test func `each caller judges the response for itself`() async throws {
    let client = client(held(404), events)
    let results = await joined(6) { index in
      let request = Request<Int?>.get("x")
      return try await client.send(index.isMultiple(of: 2) ? request.nilWhenNotFound() : request)
    }
    for (index, result) in results.enumerated() {
      if index.isMultiple(of: 2) {
        #expect(try result.get() == nil)
      } else {
        #expect(throws: NetworkError.self) { try result.get() }
      }
    }
  }

  @Test func `a cancelled caller does not affect the response of the others`() async throws {
    let transport = held()
    let client = client(transport, events)
    let tasks = (0..<3).map { _ in Task { try await client.send(.get("x")) } }
    await gate.waitForArrivals(1)
    await events.waitFor(2, "joined")
    tasks[0].cancel()
    await #expect(throws: CancellationError.self) { try await tasks[0].value }
    gate.open()
    try await tasks[1].value
    try await tasks[2].value
    #expect(transport.sent.count == 1)
  }

  @Test func `when the last caller has left the request is cancelled, and a new caller starts another`() async throws {
    let cancelled = TestGate()
    cancelled.open()
    let clock = ManualClock()
    let transport = ClosureTransport(numbered: { number, request in
      if number == 1 {
        do {
          try await clock.requestClock.sleep(for: .seconds(1))
        } catch {
          await cancelled.pass()
          throw error
        }
      }
      return NetworkResponse(request: request, statusCode: 200)
    })
    let client = client(transport)
    let call = Task { try await client.send(.get("x")) }
    await clock.waitForSleepers(1)
    call.cancel()
    await #expect(throws: CancellationError.self) { try await call.value }
    try await client.send(.get("x"))
    await cancelled.waitForArrivals(1)
    #expect(transport.sent.count == 2)
    #expect(coalescer.flightCount == 0)
  }

  @Test func `the deadline of the first caller does not end the request for callers who joined`() async throws {
    let clock = ManualClock()
    let transport = held()
    let client = NetworkClient(
      transport, clock.requestClock, [.coalescing(coalescer), .deadline(.seconds(60)), events])
    let first = Task { try await client.send(.get("x").with(\.deadline, .seconds(1))) }
    await gate.waitForArrivals(1)
    let second = Task { try await client.send(.get("x")) }
    await events.waitFor(1, "joined")
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(1))
    let error = await #expect(throws: NetworkError.self) { try await first.value }
    #expect(error?.code == .deadlineExceeded)
    gate.open()
    try await second.value
    #expect(transport.sent.count == 1)
  }

  @Test func `requests of other users, fields and options are sent separately`() async throws {
    let transport = held()
    let client = client(transport, events)
    let requests: [Request<Void>] = [
      .get("x"), .get("x", headers: ["Authorization": "Bearer alice"]),
      .get("x", headers: ["Authorization": "Bearer bob"]), .get("x", headers: ["Accept-Language": "de"]),
      .head("x"), .get("x").with(EmptyBehavior()), .get("x").with(\.coalescing, .never), .post("x"), .post("x"),
    ]
    let results = await joined(requests.count, sends: requests.count) { index in try await client.send(requests[index])
    }
    for result in results { try result.get() }
    #expect(transport.sent.count == requests.count)
  }

  @Test func `a request with behaviors of its own joins under a name`() async throws {
    let transport = held()
    let client = client(transport, events)
    let results = await joined(3) { index in
      try await client.send(.get("x\(index)").with(EmptyBehavior()).with(\.coalescing, .named("feed")))
    }
    for result in results { try result.get() }
    #expect(transport.sent.count == 1)
  }

  @Test func `a streamed body goes to one caller, and the others send their own requests`() async throws {
    let transport = ClosureTransport { [gate] request in
      await gate.pass()
      return NetworkResponse(
        request: request, statusCode: 200, body: .stream(ByteStream(chunks: [Data("ab".utf8), Data("c".utf8)])))
    }
    let client = client(transport, events)
    let results = await joined(3) { _ in try await client.send(Request<String>.get("x")) }
    #expect(try results.map { try $0.get() } == ["abc", "abc", "abc"])
    #expect(transport.sent.count == 3)
  }

  @Test(arguments: [CoalescingRule.automatic, .named("x")])
  func `after a request that may have changed data no request joins an earlier flight`(rule: CoalescingRule)
    async throws
  {
    let transport = ClosureTransport { [gate] request in
      if request.method == .get { await gate.pass() }
      return NetworkResponse(request: request, statusCode: 200)
    }
    let client = client(transport)
    let before = Task { try await client.send(.get("x").with(\.coalescing, rule)) }
    await gate.waitForArrivals(1)
    try await client.send(.put("x"))
    let after = Task { try await client.send(.get("x").with(\.coalescing, rule)) }
    await gate.waitForArrivals(2)
    gate.open()
    try await before.value
    try await after.value
    #expect(transport.sent.count == 3)
  }

  @Test func `after a reset or the end of a scope requests start a new flight, and earlier calls do not fail`()
    async throws
  {
    for isReset in [true, false] {
      let gate = TestGate()
      let transport = ClosureTransport { request in
        await gate.pass()
        return NetworkResponse(request: request, statusCode: 200)
      }
      let client = NetworkClient(transport, [.coalescing(), .basicAuth(user: "u", password: "p4ssword")])
      let behavior = try client.pipeline(for: Request<Void>.get("x")).entries[0].behavior
      let before = Task { try await client.send(.get("x")) }
      await gate.waitForArrivals(1)
      if isReset { await client.reset() } else { await behavior.scopeEnded("basic:u") }
      let after = Task { try await client.send(.get("x")) }
      await gate.waitForArrivals(2)
      gate.open()
      try await before.value
      try await after.value
      #expect(transport.sent.count == 2)
    }
  }

  @Test func `a sign-out during a flight fails the waiting calls, and the next user's calls do not join`() async throws
  {
    let fixture = TokenFixture()
    let session = try await fixture.alice()
    let holding = Box(true)
    let gate = gate
    fixture.server.tokenGate.value = gate
    let client = fixture.client(session, .coalescing(coalescer))
    let before = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    try await session.signOut()
    let error = await #expect(throws: NetworkError.self) { try await before.value }
    #expect(error?.code == .signedOut)
    holding.value = false
    gate.open()
    try await session.signIn(AccessToken("bob", lifetime: .seconds(60)))
    fixture.server.state.update { $0.valid = "bob" }
    try await client.send(.get("a"))
    #expect(fixture.sentTokens.last == "Bearer bob")
  }

  @Test func `retries run once for all who wait`() async throws {
    let count = Box(0)
    let transport = ClosureTransport { [gate] request in
      await gate.pass()
      let number = count.update {
        $0 += 1
        return $0
      }
      return NetworkResponse(request: request, statusCode: number < 3 ? 503 : 200)
    }
    let client = NetworkClient(
      transport, .immediate, [.coalescing(coalescer), events, RetryBehavior(budget: .unlimited, random: { 0 })])
    let results = await joined(10) { _ in try await client.send(Request<NetworkResponse>.get("x")) }
    #expect(try results.map { try $0.get().attempts.count } == Array(repeating: 3, count: 10))
    #expect(transport.sent.count == 3)
  }

  @Test func `a shutdown ends waiting calls`() async throws {
    let clock = ManualClock()
    let patient = ClosureBehavior("patient", order: .retry) { request, next in
      try await request.call.clock.sleep(for: .seconds(60))
      return try await next(request)
    }
    let client = NetworkClient(ClosureTransport(), clock.requestClock, [.coalescing(coalescer), patient])
    let calls = (0..<3).map { _ in Task { try await client.send(.get("x")) } }
    await clock.waitForSleepers(1)
    await client.shutdown()
    for call in calls {
      let error = await #expect(throws: NetworkError.self) { try await call.value }
      #expect(error?.code == .clientShutDown)
    }
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `over random schedules every call ends once, and calls are successes, failures or cancellations`(
    seed: UInt64
  ) async throws {
    let transport = ClosureTransport(numbered: { number, request in
      var random = SeededGenerator(seed: seed, task: number)
      await random.yield(upTo: 30)
      if Int.random(in: 0..<4, using: &random) == 0 { throw NetworkError(.connectionLost, "") }
      return NetworkResponse(request: request, statusCode: 200, body: .data(Data(request.url.path().utf8)))
    })
    let client = client(transport)
    let outcomes = Box((successes: 0, failures: 0, cancellations: 0))
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<300 {
        group.addTask {
          var random = SeededGenerator(seed: seed, task: -number)
          let path = "\(Int.random(in: 0..<4, using: &random))"
          await random.yield(upTo: 40)
          let call = Task { try await client.send(Request<String>.get("p/\(path)")) }
          if Int.random(in: 0..<3, using: &random) == 0 {
            await random.yield(upTo: 30)
            call.cancel()
          }
          switch await call.result {
          case .success(let text):
            #expect(text == "/v1/p/\(path)")
            outcomes.update { $0.successes += 1 }
          case .failure(is CancellationError): outcomes.update { $0.cancellations += 1 }
          case .failure: outcomes.update { $0.failures += 1 }
          }
        }
      }
    }
    let counts = outcomes.value
    #expect(counts.successes + counts.failures + counts.cancellations == 300)
    #expect(coalescer.flightCount == 0)
    #expect(transport.sent.count < 300)
  }
}
