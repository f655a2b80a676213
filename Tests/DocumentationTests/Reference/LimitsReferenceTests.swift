import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

/// The samples in the reference of deadlines, circuit breakers and limits.
@Suite(.limited) struct LimitsReferenceTests {
  private let mock = answering("{}")

  // Compiled only.
  func `a request has a longer deadline than the others`() async throws {
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.deadline(.seconds(30)), .retry()])
    func load() async throws {
      let report: Data = try await client.send(
        .get("report").with(\.deadline, .seconds(120)))
      print(report)
    }
    _ = load
  }

  // Compiled only.
  func `changes of a circuit breaker are watched`() async throws {
    let breaker = CircuitBreaker()
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.circuitBreaker(breaker)])
    func watch() async {
      for await change in breaker.changes {
        print("\(change.key) is \(change.state) now")
      }
    }
    _ = (client, watch)
  }

  @Test func `a circuit breaker is further in than retries`() throws {
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.retry(), .circuitBreaker()])
    let entries = try client.pipeline(for: Request<Void>.get("x")).entries
    #expect(entries.map(\.order) == [.retry, .redirects, .circuitBreaker])
  }

  @Test func `requests are limited by what they have in common`() {
    let limiter = RateLimiter(rate: 2, burst: 4) { request in
      request.url.path().contains("/search") ? "search" : nil
    }
    #expect(limiter.burst == 4)
  }

  // Compiled only.
  func `a limiter is shared`() {
    let limiter = RateLimiter(rate: 10, burst: 20)
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.rateLimit(limiter)])
    _ = client
  }

  @Test func `a limit over all hosts stands beside one for each`() throws {
    let crawler = NetworkClient(
      configuration: RequestConfiguration(
        behaviors: [
          .concurrencyLimit(4),
          .concurrencyLimit(64, name: "all", key: LimitKey.forAllRequests),
        ]))
    let entries = try crawler.pipeline(for: Request<Void>.get("x")).entries
    #expect(entries.count { $0.behavior is ConcurrencyLimitBehavior } == 2)
  }

  // Compiled only.
  func `the limits of the server are obeyed`() {
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.serverRateLimits(), .retry()])
    _ = client
  }

  // Compiled only.
  func `an urgent request goes first`() async throws {
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.rateLimit(10, burst: 20)])
    func load() async throws {
      try await client.send(.get("feed").with(\.priority, .high))
    }
    _ = load
  }

  // Compiled only.
  func `four requests are under way at a time`() {
    let limiter = ConcurrencyLimiter(4)
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.concurrencyLimit(limiter)])
    _ = client
  }

  // Compiled only.
  func `four requests to each origin are under way at a time`() {
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.concurrencyLimit(4)])
    _ = client
  }
}
