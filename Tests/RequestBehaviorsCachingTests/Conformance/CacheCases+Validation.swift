import RequestBehaviors
import RequestBehaviorsCaching

extension CacheCase {
  static let validation: [CacheCase] = {
    func stale(_ more: [(String, Value)]) -> Step { .get([("Cache-Control", "max-age=2")] + more) }
    func tagged(_ tag: String) -> CacheCase {
      CacheCase(
        "a stale response with \(tag)", .optional, stale([("ETag", .text(tag))]),
        Step(says: [("ETag", .text(tag))], expects: .etagValidated, sends: ["If-None-Match": tag]))
    }
    return [
      tagged("\"abcdef\""), tagged("W/\"abcdef\""),
      CacheCase(
        "the fields of Vary in a validation", .required,
        .get([("Expires", 1), ("ETag", "\"abcdef\""), ("Date", 0), ("Vary", "Abc")], asks: ["Abc": "123"]),
        Step(asks: ["Abc": "123"], says: [("ETag", "\"abcdef\"")], expects: .etagValidated, sends: ["Abc": "123"])),
    ]
  }()

  /// Fields, with two values where these matter.
  private static let fields: [(name: String, first: String, second: String)] = [
    ("Test-Header", "1", "2"), ("X-Test-Header", "1", "2"), ("Content-Foo", "1", "2"), ("X-Content-Foo", "1", "2"),
    ("Cache-Control", "max-age=1", "max-age=3600"), ("Content-Encoding", "x", "y"), ("Content-Length", "4", "4"),
    ("Content-Location", "/foo", "/bar"), ("Content-MD5", "rL0Y20zC+Fzt72VPzMSk2A==", "N7UdGUp1E+RbVvZSTy1R8g=="),
    ("Content-Range", "x", "y"),
    ("Content-Security-Policy", "default-src 'self'", "default-src 'self' cdn.example.com"),
    ("Content-Type", "text/plain", "text/plain;charset=utf-8"), ("Clear-Site-Data", "cache", "cookies"),
    ("ETag", "\"abcdef\"", "\"ghijkl\""), ("Expires", "Fri, 01 Jan 2038 01:01:01 GMT", "Mon, 11 Jan 2038 11:11:11 GMT"),
    ("Public-Key-Pins", "1", "2"), ("Set-Cookie", "a=b", "a=c"), ("Set-Cookie2", "a=b", "a=c"),
    ("X-Frame-Options", "deny", "sameorigin"), ("X-XSS-Protection", "1", "1; mode=block"),
  ]

  static let storedFields: [CacheCase] = {
    let listed: [(String, Value)] = [
      ("Cache-Control", "max-age=3600"), ("Connection", "a, b"), ("a", "1"), ("b", "2"), ("c", "3"),
    ]
    var cases = [
      CacheCase(
        "fields that Connection lists", .required, .get(listed),
        .cached().with { step in
          step.has = [("c", "3")]
          step.lacks = ["a", "b"]
        })
    ]
    for (name, _, value) in fields {
      var says: [(String, Value)] = [("Date", 0), (name, .text(value))]
      if name != "Cache-Control" { says.append(("Cache-Control", "max-age=3600")) }
      cases.append(
        CacheCase("\(name) is stored", .required, .get(says), .cached().with { $0.has = [(name, .text(value))] }))
    }
    for name in [
      "Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization",
      "Proxy-Connection", "TE", "Transfer-Encoding", "Upgrade",
    ] {
      let says: [(String, Value)] = [("Date", 0), (name, "x"), ("Cache-Control", "max-age=3600")]
      cases.append(
        CacheCase(
          "\(name) is not stored", .required, .get(says),
          .cached().with { $0.lacks = [name] }))
    }
    return cases
  }()

  static let updates: [CacheCase] = {
    let modified: (String, Value) = ("Last-Modified", "Wed, 01 Jan 2020 00:00:00 GMT")
    var cases = [
      CacheCase(
        "a field that a 304 leaves out", .required,
        .get([("Cache-Control", "max-age=2"), modified, ("Date", 0), ("Test-Header", "1")]),
        Step(says: [modified, ("Date", 0)], expects: .dateValidated, has: [("Test-Header", "1")]))
    ]
    for name in ["Test-Header", "X-Test-Header", "Content-Foo", "X-Content-Foo", "Cache-Control", "Content-Length"] {
      func says(_ value: String) -> [(String, Value)] {
        let control: [(String, Value)] = name == "Cache-Control" ? [] : [("Cache-Control", "max-age=2")]
        return [("Date", 0), (name, .text(value)), ("ETag", "\"tag\"")] + control
      }
      let isControl = name == "Cache-Control"
      let first = isControl ? "max-age=1" : "4"
      let second = isControl ? "max-age=3600" : "5"
      let expected: Value = name == "Content-Length" ? .text(first) : .text(second)
      cases.append(
        CacheCase(
          name == "Content-Length" ? "a 304 does not change Content-Length" : "a 304 changes \(name)", .required,
          .get(says(first)),
          Step(says: says(second), expects: .etagValidated, has: [(name, expected)]),
          .cached().with { $0.has = [(name, expected)] }))
    }
    return cases
  }()

  static let partial: [CacheCase] = {
    let whole = Step.get([("Cache-Control", "max-age=3600")]).with { $0.body = "0123456789A" }
    let part = Step.get(
      [("Cache-Control", "max-age=3600"), ("Content-Range", "bytes 4-9/10")], asks: ["Range": "bytes=-5"]
    )
    .with { step in
      step.status = 206
      step.body = "01234"
    }
    func range(_ value: String, _ text: String) -> Step {
      .cached(asks: ["Range": value]).with { step in
        step.expectedStatus = 206
        step.expectedBody = text
      }
    }
    return [
      CacheCase("a range of a complete response", .optional, whole, range("bytes=0-1", "01")),
      CacheCase("the rest of a complete response", .optional, whole, range("bytes=1-", "123456789A")),
      CacheCase("the end of a complete response", .optional, whole, range("bytes=-1", "A")),
      CacheCase("a part that is stored", .optional, part, range("bytes=-5", "01234")),
      CacheCase("a range of a stored part", .optional, part, range("bytes=6-8", "234")),
      CacheCase("the rest of a stored part", .optional, part, range("bytes=6-", "234")),
      CacheCase("the end of a stored part", .optional, part, range("bytes=-1", "4")),
      CacheCase(
        "a part that is completed", .optional,
        part.with { $0.says = [("Cache-Control", "max-age=3600"), ("Content-Range", "bytes 0-4/10")] },
        Step(sends: ["Range": "bytes=5-"])),
      CacheCase(
        "a range has the fields of the response", .required, whole.with { $0.says.append(("A", "1")) },
        range("bytes=0-1", "01").with { $0.has = [("A", "1")] }),
      CacheCase(
        "a range keeps fields that nothing updates", .required, whole.with { $0.says.append(("B", "1")) },
        range("bytes=0-1", "01").with { $0.has = [("B", "1")] }),
    ]
  }()
}
