import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsOAuth1
import RequestBehaviorsTesting
import TestSupport
import Testing

/// A list says so where a behavior stands on the wrong side of another one, as "The standard order" has it.
@Suite(.limited) struct OrderWarningsTests {
  /// Two behaviors of which the first belongs further in.
  struct Pair: Sendable, CustomTestStringConvertible {
    let inner: any RequestBehavior
    let outer: any RequestBehavior
    let consequence: String

    init(_ inner: any RequestBehavior, inside outer: any RequestBehavior, _ consequence: String) {
      self.inner = inner
      self.outer = outer
      self.consequence = consequence
    }

    /// A request that follows redirects only where the pair is about that: they are in every list.
    var request: Request<Void> { outer is RedirectsBehavior ? .get("x") : .get("x").with(\.redirects, .none) }

    var testDescription: String { "\(type(of: inner)) inside \(type(of: outer))" }
  }

  static let token = TokenAuthBehavior(TokenSession(source: .refreshToken(.test)))
  static let oauth1 = OAuth1Behavior(OAuth1Session(consumer: OAuth1Consumer(key: "k", secret: "s")))
  static let limits: [any RequestBehavior] = [
    RateLimitBehavior(RateLimiter(rate: 10, burst: 10)), ConcurrencyLimitBehavior(ConcurrencyLimiter(4)),
  ]
  static let batch = BatchBehavior(
    group: { _ in nil }, merge: { $0[0] }, split: { _, requests in requests.map { _ in .failure(CancellationError()) } }
  )
  static let offline = OfflineBehavior(Connectivity(AsyncStream<Bool> { $0.finish() }))

  static let pairs: [Pair] = [
    Pair(
      RetryBehavior(), inside: DeadlineBehavior(.seconds(60)),
      "so the deadline begins with the first attempt, and leaves out what is further out"),
    Pair(
      CoalescingBehavior(), inside: DeadlineBehavior(.seconds(60)),
      "so the deadline of the first caller ends the others' calls too"),
    Pair(RetryBehavior(), inside: CoalescingBehavior(), "so each attempt looks for others to share with"),
    Pair(
      CachingBehavior(MemoryCacheStore()), inside: CoalescingBehavior(),
      "so each caller asks the server for the same response"),
    Pair(RetryBehavior(), inside: GateBehavior(Gate()), "so each attempt waits and is refused for itself"),
    Pair(RetryBehavior(), inside: offline, "so each attempt waits and is refused for itself"),
    Pair(RetryBehavior(), inside: batch, "so each attempt waits for others to be merged with"),
    Pair(HedgingBehavior(), inside: RetryBehavior(), "so a second call begins where a second attempt is enough"),
    Pair(token, inside: RetryBehavior(), "so a further attempt carries the old token"),
    Pair(token, inside: HedgingBehavior(), "so a further attempt carries the old token"),
    Pair(token, inside: RedirectsBehavior(), "so a redirect is not authenticated for its own origin"),
    Pair(oauth1, inside: RetryBehavior(), "so a further send carries the old signature"),
    Pair(oauth1, inside: HedgingBehavior(), "so a further send carries the old signature"),
    Pair(oauth1, inside: RedirectsBehavior(), "so a further send carries the old signature"),
    Pair(NonceVerificationBehavior(), inside: RetryBehavior(), "so a further send carries the old nonce"),
    Pair(NonceVerificationBehavior(), inside: HedgingBehavior(), "so a further send carries the old nonce"),
    Pair(NonceVerificationBehavior(), inside: RedirectsBehavior(), "so a further send carries the old nonce"),
    Pair(limits[0], inside: token, "so a request that waits for a token has taken a permit"),
    Pair(limits[1], inside: token, "so a request that waits for a token holds a permit"),
    Pair(limits[0], inside: RetryBehavior(), "so further attempts are not limited"),
    Pair(limits[0], inside: HedgingBehavior(), "so further attempts are not limited"),
    Pair(limits[1], inside: RetryBehavior(), "so a request holds a permit while it waits for its next attempt"),
    Pair(limits[1], inside: limits[0], "so a request holds a permit while it waits for the rate"),
    Pair(CircuitBreakerBehavior(), inside: RetryBehavior(), "so it judges calls, not attempts"),
    Pair(CircuitBreakerBehavior(), inside: limits[0], "so a probe waits for the rate"),
    Pair(CircuitBreakerBehavior(), inside: limits[1], "so a probe waits for a permit"),
  ]

  private func warnings(
    _ behaviors: [any RequestBehavior], request: Request<Void> = .get("x")
  ) throws -> [String] {
    var configuration = RequestConfiguration(baseURL: baseURL, behaviors: behaviors)
    configuration.baseURL = baseURL
    return try NetworkClient(configuration: configuration, transport: ClosureTransport())
      .pipeline(for: request).warnings
  }

  @Test(arguments: pairs)
  func `a list warns of a behavior that is further out than one around it should be`(pair: Pair) throws {
    let names = (inner: "\(type(of: pair.inner))", outer: "\(type(of: pair.outer))")
    let expected =
      "\(names.inner) is further out than \(names.outer), \(pair.consequence); list both without ordered(_:)"
    #expect(try warnings([pair.inner.ordered(.first), pair.outer], request: pair.request) == [expected])
    #expect(try warnings([pair.outer.ordered(.last), pair.inner], request: pair.request) == [expected])
  }

  @Test(arguments: pairs)
  func `a list does not warn of two behaviors in the standard order, or in another valid one`(pair: Pair) throws {
    #expect(try warnings([pair.inner, pair.outer]) == [])
    #expect(try warnings([pair.outer, pair.inner]) == [])
    let ends = [pair.inner.ordered(.last), pair.outer.ordered(.first)]
    #expect(try warnings(ends, request: pair.request) == [])
  }

  @Test func `a list does not warn of behaviors in their standard places`() throws {
    // The token has a field of its own, because two credentials of one field are warned of.
    let token = TokenAuthBehavior(TokenSession(source: .refreshToken(.test)), header: .field("X-Token"))
    let all: [any RequestBehavior] = [
      .resilience(hedging: .hedging(), rateLimit: .rateLimit(10, burst: 20), concurrencyLimit: .concurrencyLimit(4)),
      token, OrderWarningsTests.oauth1, OrderWarningsTests.batch, OrderWarningsTests.offline,
      .gate(Gate()), .logging(), .nonceVerification(), .caching(MemoryCacheStore()),
    ]
    #expect(try warnings(all) == [])
    #expect(try warnings(all.reversed()) == [])
  }

  @Test func `independent behaviors may have any order`() throws {
    #expect(try warnings([LoggingBehavior().ordered(.last), .retry()]) == [])
    #expect(try warnings([CachingBehavior(MemoryCacheStore()).ordered(.inside(.retry)), .retry()]) == [])
    #expect(try warnings([BasicAuthBehavior(user: "u", password: "p").ordered(.first), .retry()]) == [])
    #expect(try warnings([GateBehavior(Gate()).ordered(.first), .deadline(.seconds(60))]) == [])
  }

  @Test func `a list does not warn of behaviors that the request's options turn off`() throws {
    let retry = RetryBehavior().ordered(.first)
    let deadline: any RequestBehavior = .deadline(.seconds(60))
    #expect(try warnings([retry, deadline]).count == 1)
    #expect(try warnings([retry, deadline], request: .get("x").with(\.retryPolicy, RetryPolicy.none)) == [])
    #expect(try warnings([retry, deadline], request: .get("x").with(\.deadline, nil)) == [])
    #expect(try warnings([RetryBehavior(.none).ordered(.first), deadline]) == [])
    let hedging = HedgingBehavior().ordered(.first)
    #expect(try warnings([hedging, .retry()]).count == 1)
    #expect(try warnings([hedging, .retry()], request: .get("x").with(\.hedging, nil)) == [])
    let nonce = NonceVerificationBehavior().ordered(.outside(.redirects))
    #expect(try warnings([nonce]).count == 1)
    #expect(try warnings([nonce], request: .get("x").with(\.redirects, .none)) == [])
  }

  @Test func `each of several behaviors of a type is looked at`() throws {
    let gates: [any RequestBehavior] = [
      GateBehavior(Gate(), name: "outer"), GateBehavior(Gate(), name: "inner").ordered(.inside(.retry)), .retry(),
    ]
    let warnings = try warnings(gates)
    #expect(warnings.count == 1)
    #expect(warnings.first?.hasPrefix("RetryBehavior is further out than GateBehavior \"inner\"") == true)
  }

  @Test func `a list warns of a group that is moved as a whole if its members have several places`() throws {
    let stack: any RequestBehavior = .resilience()
    let expected = """
      ordered(_:) puts all members of .resilience() at the place retry: DeadlineBehavior, CoalescingBehavior, \
      RetryBehavior, CircuitBreakerBehavior; list each of them without the group, and use ordered(_:) for those that \
      are to be elsewhere
      """
    #expect(try warnings([stack.ordered(.retry)]) == [expected])
    // One that has no name, also within another group, and with a member that has a place of its own.
    let inner = BehaviorGroup(.headers(["X-A": "1"]), .headers(["X-B": "1"]).ordered(.inside(.request)))
    let group = BehaviorGroup(BehaviorGroup(inner).ordered(.last))
    #expect(
      try warnings([group]) == [
        """
        ordered(_:) puts all members of a group at the place last: HeadersBehavior "x-a", HeadersBehavior "x-b"; list \
        each of them without the group, and use ordered(_:) for those that are to be elsewhere
        """
      ])
    // Members of one place have one place afterwards, too.
    #expect(try warnings([BehaviorGroup(.headers(["X-A": "1"]), .headers(["X-B": "1"])).ordered(.last)]) == [])
    #expect(try warnings([BehaviorGroup(stack)]) == [])
  }

  @Test func `a moved group is checked member by member`() throws {
    let group = BehaviorGroup([RetryBehavior()]).ordered(.first)
    #expect(try warnings([group, .deadline(.seconds(60))]).count == 1)
  }
}
