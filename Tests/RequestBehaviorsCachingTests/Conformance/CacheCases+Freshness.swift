import RequestBehaviors
import RequestBehaviorsCaching

extension CacheCase {
  private static func reuse(_ name: String, _ says: [(String, Value)], kind: Kind = .optional) -> CacheCase {
    CacheCase(name, kind, .get(says), .cached())
  }

  private static func noReuse(_ name: String, _ says: [(String, Value)]) -> CacheCase {
    CacheCase(name, .required, .get(says), .notCached())
  }

  static let cacheControlFreshness: [CacheCase] = [
    reuse("max-age", [("Cache-Control", "max-age=3600")]),
    noReuse("max-age that is over", [("Cache-Control", "max-age=2")]),
    noReuse("max-age=0", [("Cache-Control", "max-age=0")]),
    reuse("max-age of 2^31 - 1", [("Cache-Control", "max-age=2147483647")]),
    reuse("max-age of 2^31", [("Cache-Control", "max-age=2147483648")]),
    reuse("max-age of 2^31 + 1", [("Cache-Control", "max-age=2147483649")]),
    reuse("max-age of eleven digits", [("Cache-Control", "max-age=99999999999")]),
    noReuse("Age above max-age", [("Date", 0), ("Cache-Control", "max-age=3600"), ("Age", "7200")]),
    reuse("max-age beside a past Expires", [("Cache-Control", "max-age=3600"), ("Expires", -7200), ("Date", 0)]),
    reuse("max-age beside an invalid Expires", [("Cache-Control", "max-age=3600"), ("Expires", "0"), ("Date", 0)]),
    noReuse("max-age=0 beside a future Expires", [("Expires", 3600), ("Cache-Control", "max-age=0"), ("Date", 0)]),
    reuse("max-age beside an unknown directive", [("Cache-Control", "foobar, max-age=3600")]),
    reuse("max-age in mixed case", [("Cache-Control", "MaX-aGe=3600")]),
    noReuse("a negative max-age", [("Cache-Control", "max-age=-3600")]),
    noReuse("s-maxage beside a shorter max-age", [("Cache-Control", "s-maxage=3600, max-age=1")]),
    noReuse("s-maxage and max-age in two lines", [("Cache-Control", "s-maxage=3600"), ("Cache-Control", "max-age=1")]),
  ]

  static let cacheControlParsing: [CacheCase] = [
    noReuse("max-age in a quoted string before", [("Cache-Control", "extension=\"max-age=3600\", max-age=1")]),
    noReuse("max-age in a quoted string after", [("Cache-Control", "max-age=1, extension=\"max-age=3600\"")]),
    reuse("max-age with leading zeros", [("Cache-Control", "max-age=003600")], kind: .required),
    noReuse("max-age in single quotes", [("Cache-Control", "max-age='3600'")]),
  ]

  static let ageParsing: [CacheCase] = {
    func age(_ name: String, _ lines: [String], lifetime: Int = 3_600, _ isFresh: Bool) -> CacheCase {
      var says: [(String, Value)] = [("Date", 0), ("Cache-Control", .text("max-age=\(lifetime)"))]
      for line in lines { says.append(("Age", .text(line))) }
      return CacheCase(name, .required, .get(says), isFresh ? .cached() : .notCached())
    }
    var cases: [CacheCase] = []
    for value in ["abc", "-7200", "7200.0", "0, 7200", "0, 0"] { cases.append(age("Age: \(value)", [value], true)) }
    for value in ["2147483647", "2147483648", "2147483649", "7200, 0"] {
      cases.append(age("Age: \(value)", [value], false))
    }
    cases.append(age("Age in lines, the first old", ["7200", "0"], false))
    cases.append(age("Age in lines, the second old", ["0", "7200"], true))
    cases.append(age("Age in lines, none old", ["0", "0"], true))
    cases.append(age("Age in lines, both less than the lifetime", ["3600", "3600"], lifetime: 10_000, true))
    return cases
  }()

  static let expires: [CacheCase] = [
    reuse("a future Expires", [("Expires", 2_592_000), ("Date", 0)]),
    noReuse("a past Expires", [("Expires", -2_592_000), ("Date", 0)]),
    CacheCase("Expires of now", .required, .get([("Expires", 0), ("Date", 0)], pause: 0), .notCached()),
    noReuse("Expires before Date, both of a fast clock", [("Expires", 300), ("Date", 400)]),
    noReuse("Expires: 0", [("Expires", "0"), ("Date", 0)]),
    CacheCase(
      "Expires beside an invalid Date", .optional, .get([("Date", "foo"), ("Expires", 10)], pause: 0), .cached()),
    CacheCase(
      "Age above Expires less a slow Date", .required, .get([("Date", -10), ("Expires", 10), ("Age", "25")], pause: 0),
      .notCached()),
    CacheCase(
      "Age above Expires less a fast Date", .required, .get([("Date", 10), ("Expires", 20), ("Age", "15")], pause: 0),
      .notCached()),
  ]

  static let expiresParsing: [CacheCase] = {
    let valid = [
      "Tue, 19 Jan 2038 14:14:08 GMT", "Sun, 21 Nov 2286 04:46:39 GMT", "Thursday, 18-Aug-50 02:01:18 GMT",
      "Thu Aug  8 02:01:18 2050", "THU, 18 Aug 2050 02:01:18 GMT", "Thu, 18 AUG 2050 02:01:18 GMT",
      "Thu, 18 Aug 2050 02:01:18 gMT",
    ]
    let invalid = [
      "Thu, 18 Aug 2050 02:01:18 UTC", "Thu, 18 Aug 2050 02:01:18 AEST", "Thu, 18 Aug 50 02:01:18 GMT",
      "Thu 18 Aug 2050 02:01:18 GMT", "Thu, 18  Aug  2050 02:01:18 GMT", "Thu, 18-Aug-2050 02:01:18 GMT",
      "Thu, 18 Aug 2050 02.01.18 GMT", "Thu, 18 Aug 2050 2:01:18 GMT",
    ]
    var cases: [CacheCase] = []
    for date in valid { cases.append(reuse("Expires: \(date)", [("Expires", .text(date)), ("Date", 0)])) }
    for date in invalid { cases.append(noReuse("Expires: \(date)", [("Expires", .text(date)), ("Date", 0)])) }
    let lines: [(String, Value)] = [
      ("Expires", "Thu, 18 Aug 2050 02:01:18 GMT"), ("Expires", "Thu, 18 Aug 2050 02:01:19 GMT"), ("Date", 0),
    ]
    return cases + [noReuse("two lines of Expires", lines)]
  }()

  static let heuristics: [CacheCase] = {
    let dates: [(String, Value)] = [("Last-Modified", -86_400), ("Date", 0)]
    func heuristic(_ status: Int, _ isFresh: Bool, _ more: [(String, Value)] = []) -> CacheCase {
      CacheCase(
        "a \(status) without explicit freshness\(more.isEmpty ? "" : ", but public")", isFresh ? .optional : .required,
        .get(dates + more, pause: 0).with { $0.status = status },
        Step(status: status, expects: isFresh ? .cached : .notCached))
    }
    return [200, 203, 204, 404, 405, 410, 414, 501].map { heuristic($0, true) }
      + [201, 202, 403, 502, 503, 504, 599].map { heuristic($0, false) }
      + [heuristic(599, true, [("Cache-Control", "public")])]
  }()

  static let statuses: [CacheCase] = {
    let fresh: [(String, Value)] = [
      ("Expires", 100_000), ("Cache-Control", "max-age=100000"), ("Last-Modified", 0), ("Date", 0),
    ]
    let stale: [(String, Value)] = [("Expires", -5_000), ("Last-Modified", -100_000), ("Date", 0)]
    var cases: [CacheCase] = []
    for status in [200, 203, 204, 299, 400, 404, 410, 499, 500, 502, 503, 504, 599] {
      cases.append(
        CacheCase(
          "a fresh \(status)", .optional, .get(fresh).with { $0.status = status },
          .cached().with { $0.expectedStatus = status }))
      cases.append(
        CacheCase("a stale \(status)", .required, .get(stale).with { $0.status = status }, .notCached()))
    }
    let understand: [(String, Value)] = [("Cache-Control", "max-age=3600, no-store, must-understand")]
    cases.append(
      CacheCase(
        "must-understand with a status that is not understood", .required,
        .get(understand).with { $0.status = 599 }, .notCached()))
    cases.append(
      CacheCase("must-understand with a status that is understood", .optional, .get(understand), .cached()))
    return cases
  }()
}
