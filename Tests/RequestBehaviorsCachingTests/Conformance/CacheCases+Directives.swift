import RequestBehaviors
import RequestBehaviorsCaching

extension CacheCase {
  private static let fresh: [(String, Value)] = [
    ("Expires", 100_000), ("Cache-Control", "max-age=100000"), ("Last-Modified", 0), ("Date", 0),
  ]

  static let responseDirectives: [CacheCase] = {
    let tag: (String, Value) = ("ETag", "\"abcd\"")
    func validated(_ name: String, _ says: [(String, Value)]) -> CacheCase {
      CacheCase(name, .optional, .get(says, pause: 0), Step(says: [("ETag", "\"abcd\"")], expects: .etagValidated))
    }
    return [
      CacheCase("private", .optional, .get([("Cache-Control", "private, max-age=3600")]), .cached()),
      CacheCase("no-store", .required, .get([("Cache-Control", "no-store")]), .notCached()),
      CacheCase("no-store in mixed case", .required, .get([("Cache-Control", "No-StOrE")]), .notCached()),
      CacheCase(
        "no-store beside max-age and Expires", .required,
        .get([("Cache-Control", "max-age=10000, no-store"), ("Expires", 10_000), ("Date", 0)]), .notCached()),
      CacheCase(
        "no-cache beside max-age and Expires", .required,
        .get([("Cache-Control", "max-age=10000, no-cache"), ("Expires", 10_000), ("Date", 0)]), .notCached()),
      CacheCase(
        "no-cache in mixed case", .required,
        .get([("Cache-Control", "max-age=10000, No-CaChE"), ("Expires", 10_000), ("Date", 0)]), .notCached()),
      validated("no-cache with an entity tag", [("Cache-Control", "no-cache"), tag]),
      validated(
        "no-cache with an entity tag beside max-age",
        [("Cache-Control", "max-age=10000, no-cache"), ("Expires", 10_000), ("Date", 0), tag]),
      CacheCase(
        "a fresh must-revalidate", .optional, .get([("Cache-Control", "max-age=10000, must-revalidate"), tag]),
        .cached()),
      CacheCase(
        "a must-revalidate that became stale", .required,
        .get([("Cache-Control", "max-age=2, must-revalidate"), tag], pause: 0),
        .cached().with { $0.pause = 3 }, Step(says: [("ETag", "\"abcd\"")], expects: .etagValidated)),
      CacheCase(
        "a fresh immutable on a reload", .optional, .get([("Cache-Control", "max-age=10000, immutable"), tag]),
        .cached().with { $0.mode = .revalidate }),
      CacheCase(
        "a stale immutable on a reload", .required, .get([("Cache-Control", "max-age=2, immutable"), tag]),
        Step(
          mode: .revalidate, says: [("ETag", "\"abcd\"")], expects: .etagValidated,
          sends: ["Cache-Control": "max-age=0"])),
    ]
  }()

  static let stale: [CacheCase] = {
    func forbidden(_ directive: String) -> CacheCase {
      CacheCase(
        "a lost connection and a stale \(directive)", .required,
        .get([("Cache-Control", .text("max-age=2, \(directive)"))]),
        Step(disconnects: true, expects: .failure))
    }
    return [
      forbidden("must-revalidate"), forbidden("no-cache"),
      CacheCase(
        "stale-while-revalidate", .optional,
        .get([("Cache-Control", "max-age=1, stale-while-revalidate=3600"), ("ETag", "\"abc\"")]),
        Step(says: [("ETag", "\"abc\"")], expectedStatus: 200, has: [("ETag", "\"abc\""), ("Age", 1)])),
      CacheCase(
        "stale-while-revalidate after its window", .required,
        .get([("Cache-Control", "max-age=1, stale-while-revalidate=2"), ("ETag", "\"abc\"")], pause: 9),
        Step(says: [("ETag", "\"abc\"")], expects: .etagValidated)),
    ]
  }()

  static let vary: [CacheCase] = {
    func says(_ names: String, _ more: [(String, Value)] = []) -> [(String, Value)] {
      [("Cache-Control", "max-age=5000"), ("Last-Modified", -3_000), ("Date", 0), ("Vary", .text(names))] + more
    }
    func two(
      _ name: String, _ vary: String, _ stored: HeaderFields, _ asked: HeaderFields, _ isReused: Bool
    ) -> CacheCase {
      CacheCase(
        name, isReused ? .optional : .required, .get(says(vary), asks: stored, pause: 0),
        isReused ? .cached(asks: asked) : .notCached(asks: asked))
    }
    var lines: HeaderFields = ["Foo": "1"]
    lines.append("Foo", "2")
    let three: HeaderFields = ["Foo": "1", "Bar": "abc", "Baz": "789"]
    var cases: [CacheCase] = [
      two("Vary that matches", "Foo", ["Foo": "1"], ["Foo": "1"], true),
      two("Vary that does not match", "Foo", ["Foo": "1"], ["Foo": "2"], false),
      two("Vary on a field that was missing", "Foo", [:], ["Foo": "1"], false),
      two("Vary on a field that is missing", "Foo", ["Foo": "1"], [:], false),
      CacheCase(
        "two variants", .optional, .get(says("Foo"), asks: ["Foo": "1"], pause: 0).with { $0.body = "1" },
        .notCached(asks: ["Foo": "2"]).with { step in
          step.says = says("Foo")
          step.body = "2"
        },
        .cached(asks: ["Foo": "1"]).with { $0.expectedBody = "1" }),
      two("a field that Vary does not name", "Foo", ["Foo": "1", "Other": "2"], ["Foo": "1", "Other": "3"], true),
      two("Vary on two fields", "Foo, Bar", ["Foo": "1", "Bar": "abc"], ["Foo": "1", "Bar": "abc"], true),
      two(
        "Vary on two fields, one another", "Foo, Bar", ["Foo": "1", "Bar": "abc"], ["Foo": "2", "Bar": "abc"], false),
      two("Vary on two fields, none there", "Foo, Bar", ["Foo": "1", "Bar": "abc"], [:], false),
      two("Vary on three fields", "Foo, Bar, Baz", three, three, true),
      two(
        "Vary on three fields, one another", "Foo, Bar, Baz", three, ["Foo": "2", "Bar": "abc", "Baz": "789"], false),
      two(
        "Vary on three fields in another order", "Foo, Bar, Baz", three, ["Foo": "1", "Baz": "789", "Bar": "abcde"],
        false),
      two(
        "Vary on three fields, one missing in both", "Foo, Bar, Baz", ["Foo": "1", "Baz": "789"],
        ["Foo": "1", "Baz": "789"], true),
      two("Vary: *", "*", ["Foo": "1"], ["Foo": "1"], false),
      two("Vary on a field in two lines", "Foo", ["Foo": "1, 2"], lines, true),
      two(
        "Vary on languages in another order", "Accept-Language", ["Accept-Language": "en, de"],
        ["Accept-Language": "de, en"], true),
      two(
        "Vary on languages in another case", "Accept-Language", ["Accept-Language": "en, de"],
        ["Accept-Language": "eN, De"], true),
      two(
        "Vary on languages with spaces", "Accept-Language", ["Accept-Language": "en, de"],
        ["Accept-Language": "en ,   de"], true),
      CacheCase(
        "Vary on languages, of which the preferred is stored", .optional,
        .get(says("Accept-Language", [("Content-Language", "de")]), asks: ["Accept-Language": "en, de"], pause: 0),
        .cached(asks: ["Accept-Language": "fr;q=0.5, de;q=1.0"])),
      two("Vary on a field with spaces", "Foo", ["Foo": "1,2"], ["Foo": "1, 2"], true),
    ]
    for star in ["*, *", ", *", "*, Foo", "Foo, *"] {
      cases.append(two("Vary: \(star)", star, ["Foo": "1"], ["Foo": "1"], false))
    }
    for (first, second) in [("*", "*"), ("", "*")] {
      cases.append(
        CacheCase(
          "Vary in lines \"\(first)\" and \"\(second)\"", .required,
          .get(says(first) + [("Vary", .text(second))], asks: ["Foo": "1"], pause: 0), .notCached(asks: ["Foo": "1"])))
    }
    return cases
  }()

  static let invalidation: [CacheCase] = ["POST", "PUT", "DELETE", "M-SEARCH"].flatMap { method in
    let method = RequestMethod(rawValue: method)
    return [
      CacheCase("a successful \(method)", .required, .get(fresh), Step(method: method), .notCached()),
      CacheCase("a failed \(method)", .optional, .get(fresh), Step(method: method, status: 500), .cached()),
    ]
  }

  static let other: [CacheCase] = [
    CacheCase("Age is made", .required, .get(fresh), .cached().with { $0.has = [("Age", 3)] }),
    CacheCase(
      "Age is updated with Expires", .required, .get([("Expires", 2_592_000), ("Date", 0), ("Age", "30")]),
      .cached().with { $0.has = [("Age", 33)] }),
    CacheCase(
      "Age is updated with max-age", .required, .get(fresh + [("Age", "30")]), .cached().with { $0.has = [("Age", 33)] }
    ),
    CacheCase("Date is not updated", .required, .get(fresh), .cached().with { $0.has = [("Date", -3)] }),
    CacheCase(
      "Date is not updated with Expires", .required, .get([("Expires", 2_592_000), ("Date", 0)]),
      .cached().with { $0.has = [("Date", -3)] }),
    CacheCase(
      "other queries", .required, .get(fresh).with { $0.path = "a?test=1" }, .notCached().with { $0.path = "a?test=2" }),
    CacheCase(
      "the same query", .optional, .get(fresh).with { $0.path = "a?test=1" }, .cached().with { $0.path = "a?test=1" }),
    CacheCase("Set-Cookie", .optional, .get(fresh + [("Set-Cookie", "a=b")]), .cached()),
    CacheCase("a request with a Cookie", .optional, .get(fresh), .cached(asks: ["Cookie": "a=b"])),
    CacheCase(
      "a POST with its own Content-Location", .optional,
      Step(method: .post, says: [("Expires", 2_592_000), ("Content-Location", ""), ("Date", 0)], pause: 3), .cached()),
  ]
}
