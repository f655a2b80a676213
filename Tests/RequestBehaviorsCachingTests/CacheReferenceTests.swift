import Foundation
// The types that decide are internal: a test of each clause asks them.
import RequestBehaviors
import Testing

@testable import RequestBehaviorsCaching

/// Compares the decisions of the cache with those of a reference, on random messages from a fixed seed.
@Suite(.limited) struct CacheReferenceTests {
  private struct Random: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ (state >> 33)
    }

    mutating func maybe(_ range: ClosedRange<Int>) -> Int? { chance(2) ? Int.random(in: range, using: &self) : nil }
    mutating func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }
  }

  private func makeReference(_ random: inout Random) -> CacheReference {
    var reference = CacheReference()
    reference.maxAge = random.maybe(0...40)
    reference.expires = random.maybe(-20...40)
    reference.date = random.maybe(-20...20)
    reference.age = random.maybe(0...40)
    reference.lastModified = random.maybe(-900...0)
    reference.responseNoCache = random.chance(8)
    reference.mustRevalidate = random.chance(6)
    reference.immutable = random.chance(6)
    reference.staleWhileRevalidate = random.maybe(0...30)
    reference.staleIfError = random.maybe(0...30)
    reference.status = [200, 200, 204, 302, 404, 500, 599].randomElement(using: &random) ?? 200
    reference.isPublic = random.chance(4)
    reference.hasETag = random.chance(2)
    if random.chance(2) {
      reference.requestMaxAge = random.maybe(0...30)
      reference.minFresh = random.maybe(0...20)
      reference.maxStale = random.maybe(-1...20)
      reference.requestNoCache = random.chance(8)
      reference.onlyIfCached = random.chance(5)
      reference.requestStaleIfError = random.maybe(0...30)
    }
    reference.responseDelay = Double(random.maybe(0...8) ?? 0) / 4
    reference.now = Double(Int.random(in: 0...240, using: &random)) / 4
    return reference
  }

  private func headers(of reference: CacheReference) -> (response: HeaderFields, request: HeaderFields) {
    var response = HeaderFields()
    var control: [String] = []
    if let maxAge = reference.maxAge { control.append("max-age=\(maxAge)") }
    if let window = reference.staleWhileRevalidate { control.append("stale-while-revalidate=\(window)") }
    if let window = reference.staleIfError { control.append("stale-if-error=\(window)") }
    if reference.responseNoCache { control.append("no-cache") }
    if reference.mustRevalidate { control.append("must-revalidate") }
    if reference.immutable { control.append("immutable") }
    if reference.isPublic { control.append("public") }
    if !control.isEmpty { response["Cache-Control"] = control.joined(separator: ", ") }
    if let expires = reference.expires { response["Expires"] = httpDate(Double(expires)) }
    if let date = reference.date { response["Date"] = httpDate(Double(date)) }
    if let age = reference.age { response["Age"] = "\(age)" }
    if let modified = reference.lastModified { response["Last-Modified"] = httpDate(Double(modified)) }
    if reference.hasETag { response["ETag"] = "\"a\"" }

    var demand: [String] = []
    if let maxAge = reference.requestMaxAge { demand.append("max-age=\(maxAge)") }
    if let minFresh = reference.minFresh { demand.append("min-fresh=\(minFresh)") }
    if let maxStale = reference.maxStale { demand.append(maxStale < 0 ? "max-stale" : "max-stale=\(maxStale)") }
    if let window = reference.requestStaleIfError { demand.append("stale-if-error=\(window)") }
    if reference.requestNoCache { demand.append("no-cache") }
    if reference.onlyIfCached { demand.append("only-if-cached") }
    return (response, demand.isEmpty ? [:] : ["Cache-Control": demand.joined(separator: ", ")])
  }

  private func name(_ decision: ReuseDecision) -> String {
    switch decision {
    case .use(let use): "\(use)"
    case .revalidate: "revalidate"
    case .forward: "forward"
    case .gatewayTimeout: "gatewayTimeout"
    }
  }

  @Test func `20,000 random decisions match the formulas of RFC 9111 and RFC 5861`() {
    var random = Random(state: 9_111)
    var seen: [String: Int] = [:]
    let url = URL(string: "https://h/a")!
    for index in 0..<20_000 {
      let reference = makeReference(&random)
      let (response, request) = headers(of: reference)
      let terms = terms(response, status: reference.status, delay: reference.responseDelay)
      let demand = CacheDemand(NetworkRequest(url: url, headers: request), policy: CachePolicy())
      let now = arrival.addingTimeInterval(reference.now)
      let decision = ReuseDecision.decide(
        demand, stored: terms, hasValidator: !CacheValidators(response).isEmpty, now: now)
      seen[name(decision), default: 0] += 1
      guard name(decision) == reference.decision,
        ReuseDecision.standsIn(terms, for: demand, now: now) == reference.standsIn
      else {
        Issue.record(
          "case \(index): \(name(decision)), but \(reference.decision) for \(response) \(request) \(reference)")
        return
      }
    }
    // Every decision is met often enough to mean something.
    for name in ["fresh", "stale", "whileRevalidating", "revalidate", "forward", "gatewayTimeout"] {
      #expect(seen[name, default: 0] > 100, "\(name): \(seen)")
    }
  }
}
