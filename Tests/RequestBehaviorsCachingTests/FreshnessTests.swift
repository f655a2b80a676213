import Foundation
// The types that decide are internal: a test of each clause asks them.
import RequestBehaviors
import Testing

@testable import RequestBehaviorsCaching

/// When responses arrive in the tests of the cache: a whole second.
let arrival = Date(timeIntervalSince1970: 1_767_225_600)

/// A date so many seconds after the arrival, as fields write it.
func httpDate(_ offset: Double) -> String { HTTPDate.text(of: arrival.addingTimeInterval(offset)) }

func terms(
  _ headers: HeaderFields, status: Int = 200, delay: Double = 0, responseTime: Date = arrival,
  policy: CachePolicy = CachePolicy()
) -> StoredTerms {
  StoredTerms(
    headers, statusCode: status, requestTime: responseTime.addingTimeInterval(-delay), responseTime: responseTime,
    policy: policy)
}

@Suite(.limited) struct FreshnessTests {
  @Test(
    arguments: [
      (["Cache-Control": "max-age=60"], 60.0), (["Cache-Control": "max-age=60", "Expires": httpDate(-9)], 60),
      (["Cache-Control": "max-age=60", "Expires": "0"], 60),
      (["Cache-Control": "max-age=0", "Expires": httpDate(9)], 0),
      (["Cache-Control": "s-maxage=60"], 0), (["Cache-Control": "s-maxage=60, max-age=1"], 1),
      (["Cache-Control": "max-age=x", "Expires": httpDate(9)], 0), (["Cache-Control": "max-age=1, max-age=2"], 0),
      (["Expires": httpDate(9), "Date": httpDate(0)], 9), (["Expires": httpDate(9), "Date": httpDate(-20)], 29),
      (["Expires": httpDate(300), "Date": httpDate(400)], 0), (["Expires": httpDate(0), "Date": httpDate(0)], 0),
      (["Expires": httpDate(-9), "Date": httpDate(0)], 0), (["Expires": httpDate(9), "Date": "foo"], 9),
      (["Expires": httpDate(9)], 9), (["Expires": "0"], 0), (["Expires": "-1", "Date": httpDate(0)], 0), ([:], 0),
    ] as [(HeaderFields, Double)])
  func `RFC 9111 §4.2.1: max-age is the lifetime, else Expires less Date; s-maxage is for shared caches`(
    headers: HeaderFields, lifetime: Double
  ) {
    #expect(terms(headers).lifetime == lifetime)
  }

  @Test func `RFC 9111 §4.2.1: two Expires that differ make a response stale`() {
    var headers: HeaderFields = ["Date": httpDate(0), "Expires": httpDate(9)]
    headers.append("Expires", httpDate(10))
    #expect(terms(headers).lifetime == 0)
  }

  @Test(arguments: [
    (200, true), (201, false), (202, false), (203, true), (204, true), (206, true), (300, true), (301, true),
    (302, false),
    (307, false), (308, true), (403, false), (404, true), (405, true), (410, true), (414, true), (500, false),
    (501, true),
    (502, false), (503, false), (504, false), (599, false),
  ])
  func `RFC 9111 §4.2.2: a tenth of the time without a change is a lifetime for the statuses that allow it`(
    status: Int, isGuessed: Bool
  ) {
    let headers: HeaderFields = ["Last-Modified": httpDate(-1_000), "Date": httpDate(0)]
    #expect(terms(headers, status: status).lifetime == (isGuessed ? 100 : 0))
    var publicly = headers
    publicly["Cache-Control"] = "public"
    #expect(terms(publicly, status: status).lifetime == 100)
  }

  @Test func `RFC 9111 §4.2.2: a lifetime is guessed only without an explicit one, and has a limit`() {
    let old: HeaderFields = ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": httpDate(0)]
    #expect(terms(old).lifetime == 86_400)
    #expect(terms(old, policy: CachePolicy(heuristicLimit: .seconds(7))).lifetime == 7)
    #expect(terms(old, policy: CachePolicy(heuristicFraction: 0)).lifetime == 0)
    for explicit in [["Cache-Control": "max-age=0"], ["Expires": "0"]] as [HeaderFields] {
      var headers = old
      headers.merge(explicit)
      #expect(terms(headers).lifetime == 0)
    }
    #expect(terms(["Last-Modified": httpDate(9), "Date": httpDate(0)]).lifetime == 0)
    #expect(terms(["Last-Modified": "yesterday", "Date": httpDate(0)]).lifetime == 0)
  }

  @Test(
    arguments: [
      ([:], 0.0, 0.0), (["Date": httpDate(0)], 0, 0), (["Date": httpDate(-20)], 0, 20), (["Date": httpDate(20)], 0, 0),
      (["Date": "foo"], 0, 0), (["Age": "30"], 0, 30), (["Age": "30"], 4, 34),
      (["Age": "30", "Date": httpDate(-20)], 4, 34),
      (["Age": "3", "Date": httpDate(-20)], 4, 20), ([:], 4, 4),
    ] as [(HeaderFields, Double, Double)])
  func `RFC 9111 §4.2.3: the age at arrival is the apparent age, or the Age field plus the delay`(
    headers: HeaderFields, delay: Double, age: Double
  ) {
    #expect(terms(headers, delay: delay).initialAge == age)
  }

  @Test(arguments: [
    ("abc", 0), ("-7200", 0), ("7200.0", 0), ("", 0), ("7200, 0", 7_200), ("0, 7200", 0), ("0, 0", 0),
    ("7200;foo=bar", 0),
    ("2147483647", 2_147_483_647), ("2147483649", 2_147_483_648), ("99999999999999999999", 2_147_483_648),
  ])
  func `RFC 9111 §5.1: the first member of Age counts, and an invalid number is ignored`(value: String, age: Int) {
    #expect(StoredTerms.age(in: ["Age": value]) == age)
    var lines: HeaderFields = ["Age": value]
    lines.append("Age", "5")
    #expect(StoredTerms.age(in: lines) == (value.isEmpty ? 5 : age))
  }

  @Test func `RFC 9111 §4.2.3: the time in the cache counts in fractions of a second`() {
    // Dates have whole seconds, so a response of this second is not old already.
    let terms = terms(
      ["Cache-Control": "max-age=2", "Date": httpDate(0)], responseTime: arrival.addingTimeInterval(0.9))
    #expect(terms.initialAge == 0)
    #expect(terms.isFresh(at: arrival.addingTimeInterval(2.8)))
    #expect(!terms.isFresh(at: arrival.addingTimeInterval(2.9)))
    #expect(abs(terms.age(at: arrival.addingTimeInterval(1.4)) - 0.5) < 1e-6)
  }

  @Test func `a response with a date in the future is stale, because the clock was set back`() {
    let terms = terms(["Cache-Control": "max-age=60, stale-while-revalidate=999, stale-if-error=999"])
    let before = arrival.addingTimeInterval(-1)
    #expect(!terms.isFresh(at: before))
    #expect(terms.age(at: before) == 0)
    #expect(ReuseDecision.decide(CacheDemand(), stored: terms, hasValidator: true, now: before) == .revalidate)
    #expect(!ReuseDecision.standsIn(terms, for: CacheDemand(), now: before))
  }

  @Test(arguments: [
    ("no-cache", true, false, false), ("no-cache=\"a\"", false, false, false), ("must-revalidate", false, true, false),
    ("proxy-revalidate", false, false, false), ("s-maxage=1", false, false, false), ("immutable", false, false, true),
  ])
  func `RFC 9111 §5.2.2: no-cache and must-revalidate forbid stale use, directives for shared caches do not`(
    value: String, requiresValidation: Bool, forbidsStale: Bool, isImmutable: Bool
  ) {
    let terms = terms(["Cache-Control": value])
    #expect(terms.requiresValidation == requiresValidation)
    #expect(terms.forbidsStale == forbidsStale)
    #expect(terms.isImmutable == isImmutable)
    #expect(terms.allowsStale == !(requiresValidation || forbidsStale))
  }

  @Test func `RFC 5861 §3 and §4: a window is a number of seconds, and an invalid one is ignored`() {
    let valid = terms(["Cache-Control": "stale-while-revalidate=5, stale-if-error=\"7\""])
    #expect(valid.staleWhileRevalidate == 5)
    #expect(valid.staleIfError == 7)
    let invalid = terms(["Cache-Control": "stale-while-revalidate, stale-if-error=-7"])
    #expect(invalid.staleWhileRevalidate == nil)
    #expect(invalid.staleIfError == nil)
  }
}
