import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

@Suite(.limited) struct RetryBehaviorTests {
  private let clock = LeapingClock()

  /// Waits are the longest of each backoff: 0.5 s, 1 s, 2 s.
  private func retry(
    _ policy: RetryPolicy = .standard, budget: RetryBudget = .unlimited, decider: RetryDecider? = nil
  ) -> RetryBehavior {
    RetryBehavior(policy, budget: budget, random: { 1 }, makeKey: { "key-1" }, decider: decider)
  }

  private func client(_ transport: any Transport, _ behaviors: any RequestBehavior...) -> NetworkClient {
    NetworkClient(transport, clock.requestClock, behaviors)
  }

  private func failure(
    _ request: Request<Void>, _ transport: any Transport, _ behaviors: any RequestBehavior...
  ) async throws -> NetworkError {
    try await #require(throws: NetworkError.self) {
      try await NetworkClient(transport, clock.requestClock, behaviors).send(request)
    }
  }

  @Test func `a request is retried with growing waits until it succeeds`() async throws {
    let transport = ClosureTransport(statuses: [503, 500, 429, 200])
    let response: NetworkResponse = try await client(transport, retry()).send(.get("x"))
    #expect(response.statusCode == 200)
    #expect(clock.sleeps == [.milliseconds(500), .seconds(1), .seconds(2)])
    #expect(response.attempts.count == 4)
    #expect(
      response.request.call.messages(of: .retry) == [
        "retry 1 in 0.5 s, because of 503", "retry 2 in 1 s, because of 500", "retry 3 in 2 s, because of 429",
      ])
  }

  @Test func `when the retries are used up the outcome is the last one, with all attempts attached`() async throws {
    let error = try await failure(.get("x"), ClosureTransport(statuses: [500, 502, 503, 504, 200]), retry())
    #expect(error.statusCode == 504)
    #expect(error.attempts.count == 4)
    #expect(error.request?.call.messages(of: .retryStopped) == ["no retry: 3 retries were made"])
  }

  @Test func `a send of an earlier pass does not keep a later one from being retried`() async throws {
    let again = ClosureBehavior("again", order: .first) { request, next in
      let response = try await next(request)
      return response.statusCode == 409 ? try await next(request) : response
    }
    let transport = ClosureTransport(statuses: [409, 429, 200])
    let response: NetworkResponse = try await client(transport, again, retry()).send(.post("x"))
    #expect(response.statusCode == 200)
    #expect(transport.sent.count == 3)
  }

  @Test func `an outcome is released once the next attempt has another`() async throws {
    final class Cause: Error {}
    struct Held: Sendable { weak var cause: Cause? }
    let (held, isReleased) = (Box(Held()), Box<[Bool]>([]))
    let transport = ClosureTransport { request in
      isReleased.value.append(held.value.cause == nil)
      guard request.attemptNumber == 1 else { return NetworkResponse(request: request, statusCode: 503) }
      let cause = Cause()
      held.value = Held(cause: cause)
      throw NetworkError(.cannotConnect, "the test's server is away", request: request, underlyingError: cause)
    }
    _ = try await failure(.get("x"), transport, retry())
    // During the second attempt the first one is still the outcome.
    #expect(isReleased.value == [true, false, true, true])
  }

  @Test(arguments: [408, 425, 429, 500, 502, 503, 504])
  func `a status that may pass is retried`(status: Int) async throws {
    let transport = ClosureTransport(statuses: [status, 200])
    try await client(transport, retry()).send(.get("x"))
    #expect(transport.sent.count == 2)
  }

  @Test(arguments: [400, 401, 403, 404, 409, 410, 413, 422, 501, 505, 511, 599])
  func `a status that would come again is not retried`(status: Int) async throws {
    let transport = ClosureTransport(status)
    #expect(try await failure(.get("x"), transport, retry()).statusCode == status)
    #expect(transport.sent.count == 1)
  }

  @Test(arguments: [
    NetworkError.Code.cannotConnect, .dnsFailed, .connectionLost, .truncatedBody, .timedOut, .transportFailed,
  ])
  func `a failure of the network is retried`(code: NetworkError.Code) async throws {
    let transport = ClosureTransport(numbered: { number, request in
      guard number > 2 else { throw NetworkError(code, "") }
      return NetworkResponse(request: request, statusCode: 200)
    })
    try await client(transport, retry()).send(.get("x"))
    #expect(transport.sent.count == 3)
  }

  @Test(arguments: [
    NetworkError.Code.tlsFailed, .badResponse, .redirectFailed, .bodyTooLarge, .intercepted, .tooManyAttempts,
    .invalidBehavior, .bodyConsumed, .circuitOpen, .rateLimited, .concurrencyLimited, .gateClosed, .offline,
    .deadlineExceeded, .clientShutDown,
  ])
  func `a permanent error, or a refusal by the client, is not retried`(
    code: NetworkError.Code
  ) async throws {
    let transport = ClosureTransport { _ in throw NetworkError(code, "") }
    #expect(try await failure(.get("x"), transport, retry()).code == code)
    #expect(transport.sent.count == 1)
  }

  @Test func `an error of a behavior's own is not retried`() async {
    let transport = ClosureTransport { _ in throw Failure("own") }
    await #expect(throws: Failure("own")) { try await client(transport, retry()).send(.get("x")) }
    #expect(transport.sent.count == 1)
  }

  @Test func `an acceptable response is never retried`() async throws {
    let transport = ClosureTransport(503)
    let response: NetworkResponse = try await client(transport, retry(decider: { _ in .retry(after: .zero) }))
      .send(.get("x").with(\.acceptableStatuses, [503]))
    #expect(response.statusCode == 503)
    #expect(transport.sent.count == 1)
  }

  // MARK: - Which requests

  @Test(arguments: [RequestMethod.get, .head, .options, .trace, .put, .delete, .query])
  func `an idempotent request is retried`(method: RequestMethod) async throws {
    let transport = ClosureTransport(statuses: [503, 200])
    let body: RequestContent? = method.forbidsBody ? nil : .text("b")
    try await client(transport, retry()).send(Request<Void>(method, "x", body: body))
    try #require(transport.sent.count == 2)
    #expect(transport.sent.allSatisfy { $0.body?.data == transport.sent[0].body?.data })
  }

  @Test(arguments: [RequestMethod.post, .patch, "REPORT"])
  func `a request that may have taken effect is not retried without an idempotency key`(
    method: RequestMethod
  ) async throws {
    let refused = ClosureTransport(503)
    _ = try await failure(Request<Void>(method, "x"), refused, retry())
    #expect(refused.sent.count == 1)
    let lost = ClosureTransport { _ in throw NetworkError(.connectionLost, "") }
    let error = try await failure(Request<Void>(method, "x"), lost, retry())
    #expect(lost.sent.count == 1)
    #expect(error.request?.call.messages(of: .retryStopped) == ["no retry: \(method) may have taken effect"])
  }

  @Test func `a request of any method that cannot have arrived is retried`() async throws {
    let transport = ClosureTransport(numbered: { number, request in
      guard number > 1 else { throw NetworkError(.cannotConnect, "") }
      return NetworkResponse(request: request, statusCode: 201)
    })
    try await client(transport, retry()).send(.post("x", body: .text("b")))
    #expect(transport.sent.count == 2)
  }

  @Test func `a one-shot body is never sent again`() async throws {
    let transport = ClosureTransport { request in
      if case .oneShot(let stream)? = request.body?.content { _ = try await stream.take().collect(upTo: 100) }
      return NetworkResponse(request: request, statusCode: 503)
    }
    let body = RequestContent.body(.oneShot(ByteStream(chunks: [Data("once".utf8)])))
    let error = try await failure(.put("x", body: body), transport, retry(decider: { _ in .retry(after: .zero) }))
    #expect(error.statusCode == 503)
    #expect(transport.sent.count == 1)
  }

  @Test func `an unread one-shot body is sent again`() async throws {
    let arrived = Box("")
    let transport = ClosureTransport(numbered: { number, request in
      guard case .oneShot(let stream)? = request.body?.content else { throw CancellationError() }
      let taken = try stream.take()
      guard number > 1 else { throw NetworkError(.cannotConnect, "") }
      arrived.value = String(decoding: try await taken.collect(upTo: 100), as: UTF8.self)
      return NetworkResponse(request: request, statusCode: 201)
    })
    try await client(transport, retry()).send(.post("x", body: .oneShot(ByteStream(chunks: [Data("once".utf8)]))))
    #expect(transport.sent.count == 2)
    #expect(arrived.value == "once")
  }

  // MARK: - Idempotency keys

  @Test func `with a generated idempotency key a POST is retried, and all attempts carry the same`() async throws {
    let transport = ClosureTransport(statuses: [503, 503, 200])
    try await client(transport, retry()).send(.post("x").with(\.idempotencyKey, .generated))
    #expect(transport.sent.map { $0.headers["Idempotency-Key"] } == ["key-1", "key-1", "key-1"])
  }

  @Test func `each call makes its own key`() async throws {
    let transport = ClosureTransport()
    let client = client(transport, RetryBehavior())
    for _ in 0..<2 { try await client.send(.post("x").with(\.idempotencyKey, .generated)) }
    let keys = Set(transport.sent.compactMap { $0.headers["Idempotency-Key"] })
    #expect(keys.count == 2)
    #expect(keys.allSatisfy { UUID(uuidString: $0) != nil })
  }

  @Test func `a key can be derived, named and quoted`() async throws {
    let transport = ClosureTransport(statuses: [503, 200])
    let key = IdempotencyKey.value("order-7").inField("Cko-Idempotency-Key", isQuoted: true)
    try await client(transport, retry()).send(.patch("x").with(\.idempotencyKey, key))
    #expect(transport.sent.map { $0.headers["Cko-Idempotency-Key"] } == ["\"order-7\"", "\"order-7\""])
  }

  @Test func `a key that the caller sets as a field counts, and idempotent methods get no key`() async throws {
    let transport = ClosureTransport(statuses: [503, 200])
    try await client(transport, retry())
      .send(.post("x", headers: ["idempotency-key": "mine"]).with(\.idempotencyKey, .generated))
    #expect(transport.sent.map { $0.headers["Idempotency-Key"] } == ["mine", "mine"])
    try await client(transport, retry()).send(.put("x").with(\.idempotencyKey, .generated))
    #expect(transport.sent.last?.headers.contains("Idempotency-Key") == false)
  }

  @Test(arguments: [(303, "/y"), (307, "https://cdn.example/y")])
  func `a key stays behind when a redirect changes the method or leads to another origin`(
    status: Int, location: String
  ) async throws {
    let transport = ClosureTransport { request in
      guard request.url.path().hasSuffix("x") else { return NetworkResponse(request: request, statusCode: 200) }
      return NetworkResponse(request: request, statusCode: status, headers: ["Location": location])
    }
    let policy = RedirectPolicy(sendsBodyToOtherOrigins: true)
    let keys: [IdempotencyKey] = [.generated, .generated.inField("X-Key")]
    for key in keys {
      try await client(transport, retry()).send(
        .post("x", body: .text("b")).with(\.idempotencyKey, key).with(\.redirects, policy))
      #expect(transport.sent.last?.url.path() == "/y")
      #expect(transport.sent.last?.headers.contains(key.name) == false)
    }
  }

  // MARK: - What the server says

  @Test func `Retry-After is a lower bound to which jitter only adds`() async throws {
    let transport = ClosureTransport(numbered: { number, request in
      NetworkResponse(request: request, statusCode: number == 1 ? 503 : 200, headers: ["Retry-After": "30"])
    })
    try await client(transport, RetryBehavior(random: { 0 })).send(.get("x"))
    #expect(clock.sleeps == [.seconds(30)])
    let again = ClosureTransport(numbered: { number, request in
      NetworkResponse(request: request, statusCode: number == 1 ? 429 : 200, headers: ["Retry-After": "30"])
    })
    try await client(again, retry()).send(.get("x"))
    #expect(clock.sleeps.last == .seconds(33))
  }

  @Test func `a server that asks for more than the longest wait gets no further attempt`() async throws {
    let transport = ClosureTransport(503, headers: ["Retry-After": "121"])
    let error = try await failure(.get("x"), transport, retry())
    #expect(error.statusCode == 503)
    #expect(transport.sent.count == 1)
    #expect(clock.sleeps.isEmpty)
    #expect(error.availableAt == clock.date.addingTimeInterval(121))
  }

  @Test func `a wait beyond the deadline is not begun, and the error has the time for a repeat`()
    async throws
  {
    let deadline = ClosureBehavior("deadline", order: .deadline) { request, next in
      request.call.deadline = request.call.clock.now() + .seconds(10)
      return try await next(request)
    }
    let busy = ClosureTransport(503, headers: ["Retry-After": "20"])
    let error = try await failure(.get("x"), busy, retry(), deadline)
    #expect(error.statusCode == 503)
    #expect(busy.sent.count == 1)
    #expect(clock.sleeps.isEmpty)
    #expect(error.availableAt == clock.date.addingTimeInterval(20))
    let policy = RetryPolicy(backoff: Backoff(base: .seconds(15), jitter: .none))
    let lost = ClosureTransport { _ in throw NetworkError(.connectionLost, "") }
    let second = try await failure(.get("x"), lost, retry(policy), deadline)
    #expect(second.code == .connectionLost)
    #expect(second.availableAt == clock.date.addingTimeInterval(15))
  }

  @Test func `a wait that ends before the deadline is made`() async throws {
    let deadline = ClosureBehavior("deadline", order: .deadline) { request, next in
      request.call.deadline = request.call.clock.now() + .seconds(23)
      return try await next(request)
    }
    let transport = ClosureTransport(numbered: { number, request in
      NetworkResponse(request: request, statusCode: number == 1 ? 503 : 200, headers: ["Retry-After": "20"])
    })
    try await NetworkClient(transport, clock.requestClock, [retry(), deadline]).send(.get("x"))
    #expect(transport.sent.count == 2)
    // A tenth of the server's wait is added.
    #expect(clock.sleeps == [.seconds(22)])
  }

  @Test func `x-should-retry decides over the status`() async throws {
    let no = ClosureTransport(503, headers: ["x-should-retry": "false"])
    _ = try await failure(.get("x"), no, retry())
    #expect(no.sent.count == 1)
    let yes = ClosureTransport(409, headers: ["x-should-retry": "true"])
    _ = try await failure(.get("x"), yes, retry())
    #expect(yes.sent.count == 4)
    let post = ClosureTransport(409, headers: ["x-should-retry": "true"])
    _ = try await failure(.post("x"), post, retry())
    #expect(post.sent.count == 1)
  }

  @Test func `an unverified response gives no hint, and its 503 gets plain backoff`() async throws {
    let transport = ClosureTransport(numbered: { number, request in
      guard number == 1 else { return NetworkResponse(request: request, statusCode: 200) }
      return NetworkResponse(
        request: request, statusCode: 503, headers: ["Retry-After": "60"], isVerified: false)
    })
    try await client(transport, retry()).send(.get("x"))
    #expect(clock.sleeps == [.milliseconds(500)])
  }

  @Test func `a misdirected request of any method is retried once`() async throws {
    let transport = ClosureTransport(421)
    #expect(try await failure(.post("x"), transport, retry()).statusCode == 421)
    #expect(transport.sent.count == 2)
  }

  // MARK: - Stale connections

  private func stale(_ stage: NetworkError.Progress.Stage = .sent, reused: Bool? = true) -> NetworkError {
    var error = NetworkError(.connectionLost, "")
    error.progress = NetworkError.Progress(stage, reusedConnection: reused)
    return error
  }

  @Test func `a request lost with a stale kept-alive connection is sent again at once, the first time`() async throws {
    let lost = stale()
    let transport = ClosureTransport(numbered: { number, request in
      guard number > 2 else { throw lost }
      return NetworkResponse(request: request, statusCode: 200)
    })
    let budget = RetryBudget(ratio: 0, reserve: 1)
    let response: NetworkResponse = try await client(transport, retry(budget: budget)).send(.get("x"))
    #expect(clock.sleeps == [.milliseconds(500)])
    #expect(response.request.call.messages(of: .retry).map { $0.prefix(12) } == ["sent again a", "retry 1 in 0"])
  }

  @Test func `a POST lost with a stale connection is sent again only if nothing of it was sent`() async throws {
    for (stage, sends) in [(NetworkError.Progress.Stage.sent, 1), (.notSent, 2), (.headReceived, 1)] {
      let lost = stale(stage)
      let transport = ClosureTransport(numbered: { number, request in
        guard number > 1 else { throw lost }
        return NetworkResponse(request: request, statusCode: 200)
      })
      try? await client(transport, retry()).send(.post("x"))
      #expect(transport.sent.count == sends)
    }
    #expect(clock.sleeps.isEmpty)
  }

  // MARK: - Refusals on this side

  @Test func `if the client refuses a retry the outcome is the server's last one`() async throws {
    let count = Box(0)
    let breaker = ClosureBehavior("breaker", order: .circuitBreaker) { request, next in
      count.update { $0 += 1 }
      if count.value > 2 { throw NetworkError(.circuitOpen, "open") }
      return try await next(request)
    }
    let error = try await failure(.get("x"), ClosureTransport(503, "reason"), retry(), breaker)
    #expect(error.statusCode == 503)
    #expect(error.attempts.count == 2)
    #expect(try error.response?.text == "reason")
  }

  @Test func `the response that a refusal brings back has its streamed body`() async throws {
    let count = Box(0)
    let breaker = ClosureBehavior("breaker", order: .circuitBreaker) { request, next in
      count.update { $0 += 1 }
      if count.value > 1 { throw NetworkError(.circuitOpen, "open") }
      return try await next(request)
    }
    let transport = ClosureTransport { request in
      NetworkResponse(
        request: request, statusCode: 503, body: .stream(ByteStream(chunks: [Data("rea".utf8), Data("son".utf8)])))
    }
    let error = try await failure(.get("x"), transport, retry(), breaker)
    #expect(try error.response?.text == "reason")
  }

  @Test func `the budget ends retries, and calls earn new ones`() async throws {
    let budget = RetryBudget(ratio: 0.5, reserve: 2)
    let transport = ClosureTransport(503)
    let client = client(transport, RetryBehavior(budget: budget, random: { 0 }))
    for _ in 0..<20 { try? await client.send(.get("x")) }
    #expect(transport.sent.count == 20 + 12)
    let error = try await failure(.get("x"), transport, RetryBehavior(budget: budget, random: { 0 }))
    let reason = error.request?.call.messages(of: .retryStopped).first
    #expect(reason == "no retry: the retry budget of https://api.example.com is used up")
    #expect(error.description.contains(", not repeated: the retry budget of https://api.example.com is used up"))
  }

  // MARK: - Deciders and options

  @Test func `a decider sees request, response with its body, number and suggestion`() async throws {
    let seen = Box<[String]>([])
    let decider: RetryDecider = { attempt in
      let body = (try? attempt.response?.text) ?? "-"
      seen.update { $0.append("\(attempt.number) \(attempt.request.method) \(body) \(attempt.suggestion)") }
      return attempt.response?.statusCode == 409 ? .retry(after: .seconds(7)) : attempt.suggestion
    }
    let transport = ClosureTransport(numbered: { number, request in
      let status = [409, 503, 404][number - 1]
      return NetworkResponse(
        request: request, statusCode: status, body: .stream(ByteStream(chunks: [Data("b\(number)".utf8)])))
    })
    #expect(try await failure(.get("x"), transport, retry(decider: decider)).statusCode == 404)
    #expect(
      seen.value == ["1 GET b1 stop", "2 GET b2 retry(after: 1.0 seconds)", "3 GET b3 stop"])
    #expect(clock.sleeps == [.seconds(7), .seconds(1)])
  }

  @Test func `a decider that always wants another attempt ends with the number of retries`() async throws {
    let transport = ClosureTransport(404)
    _ = try await failure(.post("x"), transport, retry(decider: { _ in .retry(after: .zero) }))
    #expect(transport.sent.count == 4)
    let stopped = ClosureTransport(503)
    _ = try await failure(.get("x"), stopped, retry(decider: { _ in .stop }))
    #expect(stopped.sent.count == 1)
  }

  @Test func `a request's own policy replaces the behavior's`() async throws {
    let transport = ClosureTransport(503)
    _ = try await failure(.get("x").with(\.retryPolicy, RetryPolicy.none), transport, retry())
    #expect(transport.sent.count == 1)
    _ = try await failure(.get("x").with(\.retryPolicy, RetryPolicy(maximumRetries: 1)), transport, retry())
    #expect(transport.sent.count == 3)
  }

  // MARK: - Cancellation and composition

  @Test func `cancelling a call during a wait throws a CancellationError at once and reports the last failure`()
    async throws
  {
    let manual = ManualClock()
    let reports = ReportKeeper()
    let client = NetworkClient(ClosureTransport(503), manual.requestClock, [retry(), reports])
    let call = Task { try await client.send(.get("x")) }
    await manual.waitForSleepers(1)
    call.cancel()
    await #expect(throws: CancellationError.self) { try await call.value }
    #expect((reports.all.first?.lastFailure as? NetworkError)?.statusCode == 503)
    #expect(manual.sleeperCount == 0)
  }

  @Test func `a call that is cancelled while an attempt is under way is not retried`() async throws {
    let gate = TestGate()
    let transport = ClosureTransport { request in
      await gate.pass()
      return NetworkResponse(request: request, statusCode: 503)
    }
    let client = client(transport, retry(decider: { _ in .retry(after: .zero) }))
    let call = Task { try await client.send(.get("x")) }
    await gate.waitForArrivals(1)
    call.cancel()
    gate.open()
    await #expect(throws: CancellationError.self) { try await call.value }
    #expect(transport.sent.count == 1)
  }

  @Test func `each attempt runs every behavior further in again, and those further out once`() async throws {
    let journal = Journal()
    try await client(
      ClosureTransport(statuses: [503, 200]), JournalBehavior(name: "in", journal: journal, order: .signing),
      JournalBehavior(name: "out", journal: journal, order: .request), retry()
    ).send(.get("x"))
    #expect(journal.count(of: "in.headers") == 2)
    #expect(journal.count(of: "out.headers") == 1)
    #expect(journal.count(of: "in.afterFailure") == 1)
    #expect(journal.count(of: "out.afterSuccess") == 1)
  }

  @Test func `a prerequisite is retried too`() async throws {
    let transport = ClosureTransport(numbered: { number, request in
      NetworkResponse(request: request, statusCode: number == 1 ? 503 : 200)
    })
    let needy = ClosureBehavior("needy", order: .authentication) { request, next in
      try await next.client().send(.get("token"))
      return try await next(request)
    }
    try await client(transport, retry(), needy).send(.get("x"))
    #expect(transport.sent.map(\.url.lastPathComponent) == ["token", "token", "x"])
  }

  @Test func `a call makes at most twenty sends, and its error is the last outcome's`() async throws {
    let error = try await failure(
      .get("x"), ClosureTransport(503), retry(RetryPolicy(maximumRetries: 100, longestServerDelay: .zero)))
    #expect(error.code == .tooManyAttempts)
    #expect(error.statusCode == 503)
    #expect(error.attempts.count == 20)
  }
}
