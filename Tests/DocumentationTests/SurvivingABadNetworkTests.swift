import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

/// The samples of "Surviving a bad network" and "Per-request options".
@Suite(.limited) struct SurvivingABadNetworkTests {
  private let draft = Issue()

  @Test func `a client has the recommended set`() throws {
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.logging(), .resilience()])
    let orders = try client.pipeline(for: Request<Void>.get("x")).entries.map(\.order)
    #expect(orders == [.observation, .deadline, .coalescing, .retry, .redirects, .circuitBreaker])
  }

  @Test func `members of the set are replaced, left out and added`() throws {
    let behaviors: [any RequestBehavior] = [
      .resilience(
        deadline: .deadline(.seconds(20)),
        retry: .retry(RetryPolicy(maximumRetries: 5)),
        coalescing: nil,
        rateLimit: .rateLimit(10, burst: 20))
    ]
    let client = NetworkClient(baseURL: baseURL, behaviors: behaviors)
    let orders = try client.pipeline(for: Request<Void>.get("x")).entries.map(\.order)
    #expect(orders == [.deadline, .retry, .redirects, .rateLimit, .circuitBreaker])
  }

  @Test func `retries and the rate limit share a policy for refusals with a delay`() throws {
    let refusals = RefusalPolicy(statusesWithDelay: [403])
    let behaviors: [any RequestBehavior] = [
      .retry(RetryPolicy(refusals: refusals)),
      .rateLimit(10, burst: 20, refusals: refusals),
    ]
    let client = NetworkClient(baseURL: baseURL, behaviors: behaviors)
    #expect(try client.pipeline(for: Request<Void>.get("x")).warnings.isEmpty)
  }

  @Test func `a circuit breaker has longer breaks`() throws {
    let policy = CircuitPolicy(
      breakDuration: .seconds(5), longestBreak: .seconds(60))
    let behavior: CircuitBreakerBehavior = .circuitBreaker(
      CircuitBreaker(policy))
    let client = NetworkClient(baseURL: baseURL, behaviors: [behavior])
    #expect(try client.pipeline(for: Request<Void>.get("x")).warnings.isEmpty)
  }

  @Test func `a list warns of a behavior on the wrong side of another`() throws {
    let breaker = CircuitBreakerBehavior().ordered(.first)
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.retry(), breaker])
    print(try client.pipeline(for: Request<User>.get("me")))
    // …
    // warning: CircuitBreakerBehavior is further out than
    // RetryBehavior, so it judges calls, not attempts; list both
    // without ordered(_:)
    let warnings = try client.pipeline(for: Request<User>.get("me")).warnings
    #expect(
      warnings == [
        "CircuitBreakerBehavior is further out than RetryBehavior, so it judges calls, not attempts; list both "
          + "without ordered(_:)"
      ])
  }

  @Test func `a client warns of settings that contradict each other`() throws {
    let client = NetworkClient(baseURL: baseURL, behaviors: [.resilience()])
    let pipeline = try client.pipeline(for: Request<User>.get("me"))
    #expect(pipeline.warnings.isEmpty)
    let late = try client.pipeline(for: Request<User>.get("me").with(\.timeout, .seconds(90)))
    #expect(late.warnings.count == 2)
  }

  @Test func `a closure is scheduled on the clock of the call`() async throws {
    struct Sign: Sendable {
      let journal = Journal()
      func start() { journal.note("started") }
    }
    struct SlowBehavior: RequestBehavior {
      let spinner = Sign()

      func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        let timer = request.call.clock.schedule(after: .seconds(1)) {
          spinner.start()
        }
        defer { timer.cancel() }
        return try await next(request)
      }
    }
    let mock = MockTransport(baseURL: baseURL)
    mock.on(.get, "me").respond(200).delayed(by: .seconds(2))
    let (behavior, clock) = (SlowBehavior(), ManualClock())
    let client = NetworkClient(baseURL: baseURL, behaviors: [behavior], transport: mock)
      .with { $0.clock = clock.requestClock }
    let task = Task { try await client.send(.get("me")) }
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(1))
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(1))
    try await task.value
    #expect(behavior.spinner.journal.entries == ["started"])
  }

  @Test func `a request has options of its own`() async throws {
    let mock = MockTransport(baseURL: baseURL)
    mock.on(.put, "draft").respond(503)
    let client = NetworkClient(baseURL: baseURL, behaviors: [.resilience()], transport: mock)
      .with { $0.clock = ManualClock().requestClock }
    await #expect(throws: NetworkError.self) {
      try await client.send(
        .put("draft", body: .json(draft))
          .with(\.retryPolicy, RetryPolicy.none)
          .with(\.deadline, .seconds(5)))
    }
    #expect(mock.sent.count == 1)
  }

  @Test func `the remaining time of an incoming request is passed on`() async throws {
    let mock = MockTransport(baseURL: baseURL)
    mock.on(.get, "issues").respond(json: [Issue]())
    let client = NetworkClient(baseURL: baseURL, behaviors: [.resilience()], transport: mock)
    @Sendable
    func issues(by end: ContinuousClock.Instant) async throws -> [Issue] {
      try await client.send(
        .get("issues").with(\.deadline, end - .now))
    }
    #expect(try await issues(by: .now + .seconds(60)).isEmpty)
    let error = await #expect(throws: NetworkError.self) { try await issues(by: .now - .seconds(1)) }
    #expect(error?.code == .deadlineExceeded)
    #expect(mock.sent.count == 1)
  }
}
