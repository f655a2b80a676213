import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import TestSupport
import Testing

/// A list in which two values contradict each other says so; one of defaults does not.
@Suite(.limited) struct ResilienceWarningsTests {
  private func warnings(
    _ behaviors: any RequestBehavior..., request: Request<Void> = .get("x"), options: RequestOptions = .init()
  ) throws -> [String] {
    var configuration = RequestConfiguration(baseURL: baseURL, behaviors: behaviors)
    configuration.options = options
    configuration.baseURL = baseURL
    return try NetworkClient(configuration: configuration, transport: ClosureTransport())
      .pipeline(for: request).warnings
  }

  private func options(_ change: (inout RequestOptions) -> Void) -> RequestOptions {
    var options = RequestOptions()
    change(&options)
    return options
  }

  /// Collects requests for 10 seconds.
  private var batch: BatchBehavior {
    BatchBehavior(
      window: .seconds(10), group: { _ in nil }, merge: { $0[0] },
      split: { _, requests in
        requests.map { _ in
          .failure(CancellationError())
        }
      })
  }

  @Test func `the defaults of all behaviors cause no warning`() throws {
    #expect(
      try warnings(
        .resilience(hedging: .hedging(), rateLimit: .rateLimit(10, burst: 20), concurrencyLimit: .concurrencyLimit(4)),
        .gate(Gate()), .logging(), .nonceVerification(), .caching(MemoryCacheStore())) == [])
    #expect(try warnings(.deadline(.seconds(30))) == [])
  }

  @Test func `a list warns of a timeout that is not shorter than the deadline`() throws {
    let late = options { $0.timeout = .seconds(30) }
    #expect(
      try warnings(.deadline(.seconds(10)), options: late) == [
        """
        DeadlineBehavior ends a call after 10 s, so no attempt lasts until its timeout of 30 s and is repeated then; \
        make the timeout shorter or the deadline longer
        """
      ])
    #expect(try warnings(.deadline(.seconds(30)), options: late).count == 1)
    #expect(try warnings(.deadline(.seconds(31)), options: late) == [])
    let idle = options { $0.idleTimeout = .seconds(30) }
    #expect(try warnings(.deadline(.seconds(10)), options: idle).first?.contains("idleTimeout of 30 s") == true)
    #expect(try warnings(.deadline(.seconds(10)), options: options { $0.idleTimeout = nil }) == [])
  }

  @Test(arguments: [95, 1.5, -0.5, .nan])
  func `a list warns of a percentile that is not from 0 to 1`(share: Double) throws {
    let hedging = HedgingBehavior(HedgingPolicy(delay: .percentile(share)))
    let expected =
      "HedgingBehavior's percentile is \(share), but it must be from 0 to 1; write 0.95 for 95 of 100 requests"
    #expect(try warnings(hedging) == [expected])
    let request = Request<Void>.get("x").with(\.hedging, HedgingPolicy(delay: .percentile(share)))
    #expect(try warnings(.hedging(), request: request) == [expected])
    for share in [0, 0.5, 1] {
      #expect(try warnings(HedgingBehavior(HedgingPolicy(delay: .percentile(share)))) == [])
    }
  }

  @Test(arguments: [0, -5, 1e-9, -.infinity, .nan])
  func `a list warns of a rate that counts as one request per day`(rate: Double) throws {
    let expected =
      "RateLimitBehavior's rate of \(rate) counts as one request per day; raise it, or hold requests by a gate"
    #expect(try warnings(.rateLimit(rate)) == [expected])
    for rate in [1.0 / 86_400, 10, .infinity] { #expect(try warnings(.rateLimit(rate)) == []) }
  }

  @Test(arguments: [0, -3]) func `a list warns of a burst that counts as 1`(burst: Int) throws {
    let expected = "RateLimitBehavior's burst of \(burst) counts as 1; raise it, or hold requests by a gate"
    #expect(try warnings(.rateLimit(10, burst: burst)) == [expected])
  }

  @Test func `a list warns of a limit over all hosts that is further out than one for each`() throws {
    let all: ConcurrencyLimitBehavior = .concurrencyLimit(32, name: "all hosts", key: LimitKey.forAllRequests)
    #expect(
      try warnings(all, .concurrencyLimit(4)) == [
        """
        ConcurrencyLimitBehavior "all hosts" counts the requests to all hosts, and is further out than \
        ConcurrencyLimitBehavior, which counts those to each host: requests that wait for one host hold the permits of \
        all; list ConcurrencyLimitBehavior first
        """
      ])
    #expect(try warnings(.concurrencyLimit(4), all) == [])
    #expect(try warnings(all) == [])
    // It is about hosts only: keys of another kind may be in any order.
    #expect(try warnings(all, .concurrencyLimit(4, name: "search") { _ in "search" }) == [])
    #expect(try warnings(all, .concurrencyLimit(4, name: "files") { _ in nil }) == [])
    #expect(try warnings(all, .concurrencyLimit(4), request: .get("x").with(\.bypassesLimits, true)) == [])
  }

  @Test func `warnings follow the request's values, not those of the configuration or a behavior`() throws {
    let late = options { $0.timeout = .seconds(30) }
    let own: [Request<Void>] = [
      .get("x").with(\.timeout, .seconds(3)), .get("x").with(\.deadline, .seconds(60)), .get("x").with(\.deadline, nil),
    ]
    for request in own {
      #expect(try warnings(.deadline(.seconds(10)), request: request, options: late) == [])
    }
  }

  @Test func `a list warns of a deadline of zero`() throws {
    #expect(try warnings(.deadline(.zero)).first?.hasPrefix("DeadlineBehavior's 0 s end every call") == true)
  }

  @Test func `a deadline of zero causes one warning only, although all other waits exceed it too`() throws {
    let others: [any RequestBehavior] = [
      batch, .rateLimit(0.05, burst: 2), .gate(Gate(longestWait: .seconds(1))), .hedging(after: .seconds(1)),
    ]
    for other in others { #expect(try warnings(.deadline(.zero), other).count == 1, "\(type(of: other))") }
  }

  @Test func `a list warns of retry waits for which the deadline leaves no time`() throws {
    // The longest waits before three retries are 0.5, 1 and 2 seconds.
    #expect(
      try warnings(.deadline(.seconds(3.5)), .retry()) == [
        """
        RetryBehavior's waits before 3 retries may take 3.5 s, but DeadlineBehavior ends a call after 3.5 s; allow \
        fewer retries, a shorter backoff or a longer deadline
        """
      ])
    #expect(try warnings(.deadline(.seconds(3.6)), .retry()) == [])
    let once = RetryPolicy(maximumRetries: 1)
    #expect(try warnings(.deadline(.milliseconds(500)), .retry(once)).count == 1)
    #expect(try warnings(.deadline(.milliseconds(501)), .retry(once)) == [])
    let single = Request<Void>.get("x").with(\.retryPolicy, RetryPolicy.none)
    #expect(try warnings(.deadline(.seconds(1)), .retry(), request: single) == [])
    let endless = RetryPolicy(maximumRetries: 9, backoff: Backoff(floor: .seconds(Int64.max)))
    #expect(try warnings(.deadline(.seconds(1)), .retry(endless)).count == 1)
  }

  @Test func `a list warns of more retries than a call may make`() throws {
    let patient = RetryPolicy(maximumRetries: 20)
    #expect(try warnings(.retry(patient)).first?.contains("more than the 20 attempts that a call may make") == true)
    #expect(try warnings(.retry(RetryPolicy(maximumRetries: .max))).count == 1)
    let hedged = try warnings(.retry(RetryPolicy(maximumRetries: 10)), .hedging())
    #expect(hedged.first?.contains("each sent twice by HedgingBehavior") == true)
    #expect(try warnings(.retry(RetryPolicy(maximumRetries: 9)), .hedging()) == [])
    #expect(try warnings(.retry(RetryPolicy(maximumRetries: 19))) == [])
  }

  @Test func `a list warns of a budget that allows no retry`() throws {
    let empty = RetryBudget(ratio: 0, reserve: 0)
    #expect(try warnings(.retry(budget: empty)).first?.contains("budget allows no retry") == true)
    #expect(try warnings(.hedging(budget: empty)).first?.contains("budget allows no second send") == true)
    #expect(try warnings(.retry(), .hedging(budget: empty)) == [])
    let reserve = RetryBudget(ratio: 0, reserve: 1)
    #expect(try warnings(.retry(budget: reserve)) == [])
    #expect(try warnings(.hedging(budget: reserve)).first?.contains("budget allows no second send") == true)
    #expect(try warnings(.retry(budget: reserve), .hedging()).first?.contains("budget allows no second send") == true)
    #expect(try warnings(.retry(budget: .unlimited)) == [])
  }

  @Test func `a list warns of a breaker whose window is shorter than two attempts`() throws {
    let long = options { $0.timeout = .seconds(20) }
    #expect(
      try warnings(.circuitBreaker(), options: long) == [
        """
        CircuitBreakerBehavior counts the failures of 30 s, in which not even two attempts with a timeout of 20 s \
        fail; make the window twice as long as the timeout, or longer
        """
      ])
    #expect(try warnings(.circuitBreaker(), options: options { $0.timeout = .seconds(15) }) == [])
  }

  @Test func `a list warns of a second send for which there is no time or no permit`() throws {
    let short = options { $0.timeout = .seconds(2) }
    let tardy = try warnings(.hedging(after: .seconds(2)), options: short)
    #expect(tardy.first?.contains("the timeout of an attempt of 2 s") == true)
    #expect(try warnings(.hedging(after: .seconds(1)), options: short) == [])
    let late = try warnings(.hedging(after: .seconds(60)), .deadline(.seconds(60)))
    #expect(late.first?.contains("the deadline of 60 s") == true)
    #expect(try warnings(.hedging(), .concurrencyLimit(1)).first?.contains("the only permit") == true)
    #expect(try warnings(.hedging(), .concurrencyLimit(2)) == [])
    #expect(try warnings(.hedging(), .concurrencyLimit(1), request: .get("x").with(\.hedging, nil)) == [])
  }

  @Test func `a list warns of waits that are longer than the deadline`() throws {
    let deadline = DeadlineBehavior(.seconds(10))
    let rare = try warnings(deadline, .rateLimit(0.05, burst: 2))
    #expect(rare.first?.hasPrefix("RateLimitBehavior has a permit every 20 s") == true)
    #expect(try warnings(deadline, .rateLimit(0.2, burst: 1)) == [])
    let gate = try warnings(deadline, .gate(Gate(longestWait: .seconds(10))))
    #expect(gate.first?.hasPrefix("GateBehavior holds a request for up to 10 s") == true)
    #expect(try warnings(deadline, .gate(Gate(longestWait: .seconds(9)))) == [])
    let offline = Connectivity(AsyncStream<Bool> { $0.finish() }, longestWait: .seconds(11))
    #expect(try warnings(deadline, .offline(offline)).first?.hasPrefix("OfflineBehavior holds") == true)
    #expect(try warnings(deadline, batch).first?.hasPrefix("BatchBehavior collects requests for 10 s") == true)
  }

  @Test func `a list warns of behaviors on the wrong side of each other`() throws {
    let breaker = CircuitBreakerBehavior().ordered(.first)
    #expect(
      try warnings(breaker, .retry()) == [
        """
        CircuitBreakerBehavior is further out than RetryBehavior, so it judges calls, not attempts; list both \
        without ordered(_:)
        """
      ])
    #expect(try warnings(breaker, .rateLimit(10, burst: 10), .concurrencyLimit(2)).count == 2)
    #expect(try warnings(RetryBehavior().ordered(.first), .deadline(.seconds(60))).count == 1)
    #expect(try warnings(RateLimitBehavior(RateLimiter(rate: 1, burst: 1)).ordered(.first), .retry()).count == 1)
    let outer = ConcurrencyLimitBehavior(ConcurrencyLimiter(2)).ordered(.middle)
    #expect(try warnings(outer, .rateLimit(10, burst: 10)).count == 1)
  }

  @Test func `a list warns of an option that no behavior obeys`() throws {
    let request = Request<Void>.get("x").with(\.deadline, .seconds(3))
    #expect(
      try warnings(request: request) == ["the option deadline is set, but nothing obeys it; list a DeadlineBehavior"])
    #expect(try warnings(.resilience(), request: request.with(\.deadline, .seconds(30))) == [])
    #expect(try warnings(options: options { $0.idempotencyKey = .generated }) == [])
    for mode in [CachingMode.reload, .revalidate, .preferStale] {
      #expect(
        try warnings(options: options { $0.caching = mode })
          == ["the option caching is set, but nothing obeys it; list a CachingBehavior"])
    }
    #expect(try warnings(.caching(MemoryCacheStore()), options: options { $0.caching = .reload }) == [])
    #expect(try warnings(options: options { $0.caching = .noStore }) == [])
    #expect(try warnings(options: options { $0.staleIfError = .seconds(1) }).count == 1)
    #expect(try warnings(options: options { $0.retryPolicy = RetryPolicy.none }) == [])
    let both = options {
      $0.retryPolicy = .standard
      $0.hedging = HedgingPolicy()
    }
    #expect(try warnings(options: both).count == 2)
  }

  @Test func `a behavior of a user's warns too, and the printed list ends with the warnings`() throws {
    struct Quota: RequestBehavior {
      func warnings(in pipeline: Pipeline) -> [String] {
        pipeline.behavior(RetryBehavior.self) == nil ? [] : ["Quota counts each retry; allow none"]
      }
    }
    #expect(try warnings(Quota()) == [])
    let client = NetworkClient(ClosureTransport(), [Quota(), .retry()])
    let lines = "\(try client.pipeline(for: Request<Void>.get("x")))".split(separator: "\n")
    #expect(lines.count == 4)
    #expect(lines.last == "warning: Quota counts each retry; allow none")
  }
}
