import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

@Suite(.limited) struct HedgingBehaviorTests {
  private let clock = ManualClock()

  private func client(_ transport: any Transport, _ behaviors: any RequestBehavior...) -> NetworkClient {
    NetworkClient(transport, clock.requestClock, behaviors)
  }

  /// A transport that takes a time for each send and answers with a status.
  private func sends(_ plan: (Duration, Int)...) -> ClosureTransport {
    ClosureTransport(numbered: { number, request in
      let (time, status) = plan[min(number, plan.count) - 1]
      try await request.call.clock.sleep(for: time)
      return NetworkResponse(
        request: request, statusCode: status, headers: ["X-Send": "\(number)"], body: .data(Data("\(number)".utf8)))
    })
  }

  private func hedged(_ transport: any Transport) -> NetworkClient {
    client(transport, .hedging(after: .seconds(1), budget: .unlimited))
  }

  /// Sends a request and moves the clock, each time when so many waits are under way.
  private func run(
    _ client: NetworkClient, _ request: Request<NetworkResponse>, _ steps: (sleepers: Int, advance: Duration)...
  ) async throws -> NetworkResponse {
    let call = Task { try await client.send(request) }
    for step in steps {
      await clock.waitForSleepers(step.sleepers)
      clock.advance(by: step.advance)
    }
    return try await call.value
  }

  @Test func `a request whose response comes in time is sent once`() async throws {
    let transport = sends((.milliseconds(100), 200))
    let response = try await run(hedged(transport), .get("x"), (2, .milliseconds(100)))
    #expect(transport.sent.count == 1)
    #expect(response.headers["X-Send"] == "1")
  }

  @Test func `a slow request is sent a second time, and the first acceptable response wins`() async throws {
    let transport = sends((.seconds(60), 200), (.milliseconds(100), 200))
    let response = try await run(hedged(transport), .get("x"), (2, .seconds(1)), (2, .milliseconds(100)))
    #expect(response.headers["X-Send"] == "2")
    #expect(transport.sent.count == 2)
    #expect(clock.now < .seconds(5))
    #expect(
      response.request.call.messages(of: .hedge) == ["sent a second time after 1 s", "the second send won"])
    #expect(clock.sleeperCount == 0)
  }

  @Test func `both sends have the same part of a file`() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "hedged-\(UUID().uuidString)")
    try Data("0123456789".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let bodies = Box<[Data]>([])
    let transport = ClosureTransport(numbered: { number, request in
      let body = try await request.bodyData()
      bodies.update { $0.append(body) }
      try await request.call.clock.sleep(for: .seconds(number == 1 ? 60 : 1))
      return NetworkResponse(request: request, statusCode: 200)
    })
    let request = Request<NetworkResponse>.post("x", body: .file(file, range: 3..<7)).with(\.idempotencyKey, .generated)
    // The retries send the key, which a POST needs to be hedged.
    let client = client(transport, .hedging(after: .seconds(1)), .retry(budget: .unlimited))
    _ = try await run(client, request, (2, .seconds(1)), (2, .seconds(1)))
    #expect(bodies.value == [Data("3456".utf8), Data("3456".utf8)])
  }

  @Test func `an unacceptable second response does not win over an acceptable first`() async throws {
    let transport = sends((.seconds(3), 200), (.milliseconds(100), 500))
    let response = try await run(
      hedged(transport), .get("x"), (2, .seconds(1)), (2, .milliseconds(100)), (1, .seconds(2)))
    #expect(response.headers["X-Send"] == "1")
  }

  @Test func `if neither response is acceptable the outcome is the first`() async throws {
    let transport = sends((.seconds(3), 503), (.milliseconds(100), 500))
    let request = Request<NetworkResponse>.get("x").with(\.acceptableStatuses, [200])
    let client = client(transport, .hedging(after: .seconds(1), budget: .unlimited))
    let error = await #expect(throws: NetworkError.self) {
      try await run(client, request, (2, .seconds(1)), (2, .milliseconds(100)), (1, .seconds(2)))
    }
    #expect(error?.statusCode == 503)
  }

  @Test func `the loser is cancelled and waited for, and its body ended`() async throws {
    let (ended, gate) = (Box(0), TestGate())
    let transport = ClosureTransport(numbered: { number, request in
      do {
        if number < 3 { try await request.call.clock.sleep(for: number == 1 ? .seconds(60) : .milliseconds(100)) }
      } catch {
        await gate.pass()
        ended.update { $0 += 1 }
        throw error
      }
      return NetworkResponse(request: request, statusCode: 200)
    })
    let client = hedged(transport)
    let call = Task {
      _ = try await run(client, .get("x"), (2, .seconds(1)), (2, .milliseconds(100)))
      return ended.value
    }
    await gate.waitForArrivals(1)
    // A whole other call goes through meanwhile, which takes more steps than the first has left if it does not wait.
    _ = try await client.send(Request<NetworkResponse>.get("x"))
    gate.open()
    #expect(try await call.value == 1)
  }

  @Test func `a response that a behavior makes of the loser's cancellation does not replace the winner's`() async throws
  {
    let fallback = ClosureBehavior("Fallback") { request, next in
      do {
        return try await next(request)
      } catch {
        return NetworkResponse(request: request, statusCode: 200, headers: ["X-Send": "none"])
      }
    }
    let client = client(
      sends((.seconds(60), 200), (.milliseconds(100), 200)), .hedging(after: .seconds(1), budget: .unlimited), fallback)
    let response = try await run(client, .get("x"), (2, .seconds(1)), (2, .milliseconds(100)))
    #expect(response.headers["X-Send"] == "2")
  }

  @Test func `only a request that is safe to send twice is hedged`() async throws {
    for request in [
      Request<NetworkResponse>.post("x"), .put("x", body: .text("b")), .delete("x"),
      .init(.query, "x", body: .body(.oneShot(ByteStream(chunks: [])))),
      .get("x").with(\.hedging, nil),
    ] {
      let transport = sends((.seconds(3), 200))
      _ = try await run(client(transport, .hedging(after: .seconds(1), budget: .unlimited)), request, (1, .seconds(3)))
      #expect(transport.sent.count == 1, "\(request.method)")
    }
    let keyed = sends((.seconds(3), 200))
    let post = Request<NetworkResponse>.post("x").with(\.idempotencyKey, .generated)
    let client = client(keyed, .hedging(after: .seconds(1)), .retry(budget: .unlimited))
    _ = try await run(client, post, (2, .seconds(1)), (2, .seconds(2)))
    #expect(keyed.sent.count == 2)
    #expect(keyed.sent[0].headers["Idempotency-Key"] == keyed.sent[1].headers["Idempotency-Key"])
  }

  @Test func `a redirect that removes the key is followed once, however often the request was sent`() async throws {
    let elsewhere = "https://elsewhere.example/x"
    let transport = ClosureTransport(numbered: { number, request in
      let isElsewhere = request.url.host() == "elsewhere.example"
      try await request.call.clock.sleep(for: .seconds(isElsewhere ? 5 : number == 1 ? 3 : 1))
      return NetworkResponse(
        request: request, statusCode: isElsewhere ? 200 : 307, headers: ["Location": elsewhere])
    })
    let post = Request<NetworkResponse>.post("x").with(\.idempotencyKey, .generated)
    let response = try await run(
      hedged(transport), post, (2, .seconds(1)), (2, .seconds(1)), (1, .seconds(1)), (1, .seconds(5)))
    #expect(response.statusCode == 200)
    #expect(transport.sent.map { $0.url.host() } == ["api.example.com", "api.example.com", "elsewhere.example"])
  }

  @Test func `a behavior that removes a request's key sends it once, however many sends there are`() async throws {
    let mirror = "https://mirror.example/x"
    let failover = ClosureBehavior("failover") { request, next in
      let response = try await next(request)
      return response.statusCode == 503 ? try await next(request.moved(to: mirror)) : response
    }
    let transport = ClosureTransport { request in
      let isMirror = request.url.host() == "mirror.example"
      try await request.call.clock.sleep(for: .seconds(isMirror ? 5 : 2))
      return NetworkResponse(request: request, statusCode: isMirror ? 201 : 503)
    }
    let client = client(transport, .hedging(after: .seconds(1), budget: .unlimited), failover)
    let post = Request<NetworkResponse>.post("x").with(\.idempotencyKey, .generated)
    let response = try await run(
      client, post, (2, .seconds(1)), (2, .seconds(1)), (2, .seconds(1)), (1, .seconds(4)))
    #expect(response.statusCode == 201)
    #expect(transport.sent.filter { $0.url.absoluteString == mirror }.count == 1)
  }

  @Test func `a 401 to the first send is not the outcome if the second one took the turn to refresh the token`()
    async throws
  {
    let session = TokenSession(source: .closure { _ in AccessToken("new") })
    try await session.signIn(AccessToken("old", refreshToken: "more"))
    // The first send and the second, with the old token; the second once more; a retry.
    let sends: [(Duration, Int)] = [(.seconds(3), 401), (.seconds(1), 401), (.seconds(3), 503), (.zero, 200)]
    let transport = ClosureTransport(numbered: { number, request in
      try await request.call.clock.sleep(for: sends[number - 1].0)
      return NetworkResponse(request: request, statusCode: sends[number - 1].1)
    })
    let client = client(
      transport, RetryBehavior(budget: .unlimited, random: { 0 }),
      .hedging(after: .seconds(1), budget: .unlimited), .tokenAuth(session))
    let response = try await clock.run { try await client.send(.get("x")) as NetworkResponse }
    #expect(response.statusCode == 200)
    #expect(transport.sent.count == 4)
  }

  @Test func `a 409 to the first send is not the outcome if the second one had its key in use`() async throws {
    let transport = sends((.seconds(3), 409), (.seconds(1), 503), (.zero, 201))
    let client = client(
      transport, RetryBehavior(budget: .unlimited, random: { 0 }), .hedging(after: .seconds(1), budget: .unlimited))
    let post = Request<NetworkResponse>.post("x").with(\.idempotencyKey, .generated)
    let response = try await clock.run { try await client.send(post) }
    #expect(response.statusCode == 201)
  }

  @Test func `the response to the second send is the outcome if that took the turn to refresh the token`() async throws
  {
    let session = TokenSession(source: .closure { _ in AccessToken("new") })
    try await session.signIn(AccessToken("old", refreshToken: "more"))
    // The first send and the second, with the old token; the second once more.
    let transport = sends((.seconds(3), 401), (.seconds(1), 401), (.seconds(3), 404))
    let client = client(transport, .hedging(after: .seconds(1), budget: .unlimited), .tokenAuth(session))
    let error = await #expect(throws: NetworkError.self) { try await clock.run { try await client.send(.get("x")) } }
    #expect(error?.statusCode == 404)
  }

  @Test func `the response to the second send is the outcome if that had the key in use`() async throws {
    let transport = sends((.seconds(3), 409), (.seconds(1), 402))
    let post = Request<Void>.post("x").with(\.idempotencyKey, .generated)
    let client = hedged(transport)
    let error = await #expect(throws: NetworkError.self) { try await clock.run { try await client.send(post) } }
    #expect(error?.statusCode == 402)
  }

  @Test func `retries and second sends draw from the same budget`() async throws {
    let budget = RetryBudget(ratio: 0.5, reserve: 0)
    for _ in 0..<2 { budget.noteCall(to: Origin(baseURL), at: .zero) }
    let transport = sends((.seconds(3), 503), (.seconds(3), 503))
    let client = client(transport, .hedging(after: .seconds(1)), RetryBehavior(budget: budget, random: { 0 }))
    let request = Request<NetworkResponse>.get("x")
    let error = await #expect(throws: NetworkError.self) {
      try await run(client, request, (2, .seconds(1)), (2, .seconds(2)), (1, .seconds(1)))
    }
    #expect(error?.statusCode == 503)
    #expect(transport.sent.count == 2)
  }

  @Test func `a second send that is refused before the transport is dropped`() async throws {
    let count = Box(0)
    let refusals = TestGate()
    refusals.open()
    let breaker = ClosureBehavior("breaker", order: .circuitBreaker) { request, next in
      count.update { $0 += 1 }
      guard count.value > 1 else { return try await next(request) }
      await refusals.pass()
      throw NetworkError(.circuitOpen, "open")
    }
    let transport = sends((.seconds(3), 200))
    let client = client(transport, .hedging(after: .seconds(1), budget: .unlimited), breaker)
    let call = Task { try await client.send(.get("x")) as NetworkResponse }
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(1))
    // The first send must not be over before the second one has come to the breaker.
    await refusals.waitForArrivals(1)
    clock.advance(by: .seconds(2))
    let response = try await call.value
    #expect(response.statusCode == 200)
    #expect(transport.sent.count == 1)
    #expect(count.value == 2)
  }

  @Test func `by default hedging begins after twenty responses`() async throws {
    let transport = ClosureTransport(numbered: { number, request in
      try await request.call.clock.sleep(for: .milliseconds(number == 21 ? 29_500 : 100))
      return NetworkResponse(request: request, statusCode: 200)
    })
    let client = client(transport, .hedging(budget: .unlimited))
    for _ in 0..<20 { _ = try await run(client, .get("x"), (1, .seconds(30))) }
    #expect(transport.sent.count == 20)
    // Twenty requests took as long as the clock was moved, so that is the unusual duration.
    _ = try await run(client, .get("x"), (2, .seconds(29)), (2, .milliseconds(500)))
    #expect(transport.sent.count == 21)
  }

  @Test func `cancelling a call ends both sends`() async throws {
    let transport = sends((.seconds(60), 200))
    let client = client(transport, .hedging(after: .seconds(1), budget: .unlimited))
    let call = Task { try await client.send(.get("x")) }
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(1))
    await clock.waitForSleepers(2)
    call.cancel()
    await #expect(throws: CancellationError.self) { try await call.value }
    #expect(clock.sleeperCount == 0)
  }
}
