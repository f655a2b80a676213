import Foundation
// The types that decide are internal: a test of each clause asks them.
import RequestBehaviors
import Testing

@testable import RequestBehaviorsCaching

@Suite(.limited) struct ReuseDecisionTests {
  private func demand(
    _ directives: String? = nil, mode: CachingMode = .standard, policy: CachePolicy = CachePolicy(),
    headers: HeaderFields = [:]
  ) -> CacheDemand {
    var options = RequestOptions()
    options.caching = mode
    var headers = headers
    if let directives { headers["Cache-Control"] = directives }
    return CacheDemand(
      NetworkRequest(url: URL(string: "https://h/a")!, headers: headers, options: options), policy: policy)
  }

  /// Decides on a response with some directives, so many seconds after it arrived.
  private func decide(
    _ demand: CacheDemand, _ directives: String, after seconds: Double, hasValidator: Bool = true
  ) -> ReuseDecision {
    ReuseDecision.decide(
      demand, stored: terms(["Cache-Control": directives]), hasValidator: hasValidator,
      now: arrival.addingTimeInterval(seconds))
  }

  private func decide(_ directives: String, after seconds: Double, hasValidator: Bool = true) -> ReuseDecision {
    decide(CacheDemand(), directives, after: seconds, hasValidator: hasValidator)
  }

  private func standsIn(_ demand: CacheDemand, _ directives: String, after seconds: Double) -> Bool {
    ReuseDecision.standsIn(
      terms(["Cache-Control": directives]), for: demand, now: arrival.addingTimeInterval(seconds))
  }

  @Test func `RFC 9111 §4: a fresh response is used, a stale one is validated or fetched again`() {
    #expect(decide("max-age=60", after: 59.9) == .use(.fresh))
    #expect(decide("max-age=60", after: 60) == .revalidate)
    #expect(decide("max-age=60", after: 60, hasValidator: false) == .forward)
    #expect(ReuseDecision.decide(CacheDemand(), stored: nil, hasValidator: false, now: arrival) == .forward)
  }

  @Test func `RFC 9111 §5.2.2.4: a response with no-cache is validated however fresh it is`() {
    #expect(decide("max-age=60, no-cache", after: 1) == .revalidate)
    #expect(decide(demand("max-stale"), "max-age=60, no-cache", after: 1) == .revalidate)
    #expect(decide("max-age=60, no-cache=\"a\"", after: 1) == .use(.fresh))
  }

  @Test func `RFC 9111 §5.2.2.2: a response with must-revalidate is never used stale`() {
    let stale = "max-age=60, must-revalidate, stale-while-revalidate=99, stale-if-error=99"
    #expect(decide(stale, after: 59) == .use(.fresh))
    #expect(decide(stale, after: 61) == .revalidate)
    #expect(decide(demand("max-stale"), stale, after: 61) == .revalidate)
    #expect(decide(demand(mode: .preferStale), stale, after: 61) == .revalidate)
    #expect(!standsIn(demand(policy: CachePolicy(staleIfError: .seconds(99))), stale, after: 61))
  }

  @Test(arguments: [
    ("max-age=10", 5.0, ReuseDecision.use(.fresh)), ("max-age=10", 10, .use(.fresh)), ("max-age=10", 11, .revalidate),
    ("max-age=0", 0, .revalidate), ("max-age=x", 1, .revalidate), ("max-age=10, max-stale", 11, .revalidate),
  ])
  func `RFC 9111 §5.2.1.1: max-age on the request is the greatest age that will do`(
    directives: String, seconds: Double, expected: ReuseDecision
  ) {
    #expect(decide(demand(directives), "max-age=60", after: seconds) == expected)
  }

  @Test(arguments: [
    ("max-stale", 9_999.0, ReuseDecision.use(.stale)), ("max-stale=10", 70, .use(.stale)),
    ("max-stale=10", 71, .revalidate),
    ("max-stale=x", 61, .revalidate), ("max-stale=10", 59, .use(.fresh)), ("max-stale=\"10\"", 70, .use(.stale)),
  ])
  func `RFC 9111 §5.2.1.2: max-stale of the request is the greatest accepted time since expiry`(
    directives: String, seconds: Double, expected: ReuseDecision
  ) {
    #expect(decide(demand(directives), "max-age=60", after: seconds) == expected)
  }

  @Test(arguments: [
    ("min-fresh=10", 50.0, ReuseDecision.use(.fresh)), ("min-fresh=10", 51, .revalidate),
    ("min-fresh=x", 0, .revalidate),
    ("min-fresh=10, max-stale", 61, .revalidate),
  ])
  func `RFC 9111 §5.2.1.3: min-fresh of the request is the least accepted time until expiry`(
    directives: String, seconds: Double, expected: ReuseDecision
  ) {
    #expect(decide(demand(directives), "max-age=60", after: seconds) == expected)
  }

  @Test func `RFC 9111 §5.2.1.4: no-cache on the request asks for a validation`() {
    #expect(decide(demand("no-cache"), "max-age=60", after: 1) == .revalidate)
    #expect(decide(demand("no-cache"), "max-age=60, immutable", after: 1) == .revalidate)
  }

  @Test func `RFC 9111 §5.2.1.5: no-store on the request passes the cache by`() {
    #expect(decide(demand("no-store"), "max-age=60", after: 1) == .forward)
    #expect(demand("no-store").forbidsStoring)
    #expect(demand(mode: .noStore).forbidsStoring)
    #expect(decide(demand(mode: .noStore), "max-age=60", after: 1) == .forward)
  }

  @Test func `RFC 9111 §5.2.1.7: only-if-cached is a 504 if no stored response may be used`() {
    for only in [demand("only-if-cached"), demand(mode: .onlyIfCached)] {
      #expect(decide(only, "max-age=60", after: 1) == .use(.fresh))
      #expect(decide(only, "max-age=60", after: 61) == .gatewayTimeout)
      #expect(decide(only, "max-age=60, no-cache", after: 1) == .gatewayTimeout)
      #expect(ReuseDecision.decide(only, stored: nil, hasValidator: false, now: arrival) == .gatewayTimeout)
    }
    #expect(decide(demand("only-if-cached, max-stale"), "max-age=60", after: 61) == .use(.stale))
  }

  @Test func `RFC 9111 §5.4: Pragma counts if Cache-Control is missing`() {
    #expect(decide(demand(headers: ["Pragma": "no-cache"]), "max-age=60", after: 1) == .revalidate)
    #expect(decide(demand(headers: ["Pragma": "foo, No-Cache"]), "max-age=60", after: 1) == .revalidate)
    #expect(decide(demand(headers: ["Pragma": "foo"]), "max-age=60", after: 1) == .use(.fresh))
    #expect(decide(demand("max-age=60", headers: ["Pragma": "no-cache"]), "max-age=60", after: 1) == .use(.fresh))
  }

  @Test func `RFC 5861 §3: a stale response is used while it is validated, within its window`() {
    let window = "max-age=60, stale-while-revalidate=10"
    #expect(decide(window, after: 59) == .use(.fresh))
    #expect(decide(window, after: 70) == .use(.whileRevalidating))
    #expect(decide(window, after: 71) == .revalidate)
    #expect(decide(demand("max-age=99"), window, after: 65) == .revalidate)
    #expect(decide(demand("min-fresh=1"), window, after: 65) == .revalidate)
    #expect(decide(demand("no-cache"), window, after: 65) == .revalidate)
    #expect(decide("max-age=60, stale-while-revalidate=10, no-cache", after: 65) == .revalidate)
  }

  @Test func `RFC 5861 §4: the response, the request or the policy allows a stale response in place of a failure`() {
    let policy = CachePolicy(staleIfError: .seconds(20))
    #expect(standsIn(demand(), "max-age=60, stale-if-error=10", after: 70))
    #expect(!standsIn(demand(), "max-age=60, stale-if-error=10", after: 71))
    #expect(!standsIn(demand(), "max-age=60", after: 61))
    #expect(standsIn(demand("stale-if-error=30"), "max-age=60, stale-if-error=10", after: 90))
    #expect(!standsIn(demand("stale-if-error=30"), "max-age=60", after: 91))
    #expect(standsIn(demand("stale-if-error=0"), "max-age=60", after: 60))
    #expect(!standsIn(demand("stale-if-error=0"), "max-age=60", after: 60.5))
    #expect(standsIn(demand(policy: policy), "max-age=60", after: 80))
    #expect(!standsIn(demand(policy: policy), "max-age=60", after: 81))
    #expect(!standsIn(demand("no-cache", policy: policy), "max-age=60", after: 61))
    #expect(!standsIn(demand(mode: .reload, policy: policy), "max-age=60", after: 61))
    #expect(!standsIn(demand(policy: policy), "max-age=60, no-cache", after: 61))
    #expect(!standsIn(demand(policy: policy), "max-age=60, must-revalidate", after: 61))
  }

  @Test func `RFC 8246 §2: a fresh immutable response is not validated on a reload, a stale one is`() {
    #expect(decide(demand(mode: .revalidate), "max-age=60, immutable", after: 1) == .use(.fresh))
    #expect(decide(demand(mode: .revalidate), "max-age=60, immutable", after: 61) == .revalidate)
    #expect(decide(demand(mode: .revalidate), "max-age=60", after: 1) == .revalidate)
    #expect(decide(demand(mode: .reload), "max-age=60, immutable", after: 1) == .forward)
  }

  @Test func `a request that prefers stale responses gets the stored one, whatever its age`() {
    #expect(decide(demand(mode: .preferStale), "max-age=60", after: 9_999) == .use(.stale))
    #expect(decide(demand(mode: .preferStale), "max-age=60", after: 1) == .use(.fresh))
    #expect(decide(demand(mode: .preferStale), "max-age=60, no-cache", after: 1) == .revalidate)
  }

  @Test func `a reload sends no validator, so that a 304 cannot keep a broken response`() {
    #expect(decide(demand(mode: .reload), "max-age=60", after: 1) == .forward)
    #expect(CacheDemand.directive(for: .reload) == "no-cache")
    #expect(CacheDemand.directive(for: .revalidate) == "max-age=0")
    #expect(CacheDemand.directive(for: .standard) == nil)
  }
}
