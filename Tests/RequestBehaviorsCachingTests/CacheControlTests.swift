import Foundation
// The types that decide are internal: a test of each clause asks them.
import RequestBehaviors
import Testing

@testable import RequestBehaviorsCaching

@Suite(.limited) struct CacheControlTests {
  @Test(arguments: [
    ("max-age=60", 60), ("MaX-aGe=60", 60), ("max-age=\"60\"", 60), ("max-age=\"\\60\"", 60), ("public,max-age=60", 60),
    (" , ,public ,\tmax-age=60 ,", 60), ("max-age=0060", 60), ("max-age=60, max-age=60", 60),
    ("foo=\"a, b\", max-age=60", 60),
    ("foo=\"max-age=1\", max-age=60", 60), ("max-age=60, foo=\"max-age=1\"", 60),
    ("foo=\"\\\", max-age=1\", max-age=60", 60),
    ("max-age=2147483647", 2_147_483_647), ("max-age=2147483648", 2_147_483_648), ("max-age=2147483649", 2_147_483_648),
    ("max-age=99999999999", 2_147_483_648), ("max-age=99999999999999999999999", 2_147_483_648), ("max-age=0", 0),
  ])
  func `RFC 9111 §1.2.2 and §5.2: a number of seconds is read from a token or a quoted string`(
    value: String, expected: Int
  ) {
    #expect(CacheControl(value).seconds("max-age") == .value(expected))
  }

  @Test(arguments: [
    "max-age", "max-age=", "max-age=-1", "max-age=+1", "max-age=1.0", "max-age=a1", "max-age=1a", "max-age='60'",
    "max-age =60", "max-age= 60", "max-age=\"60", "max-age=\"60\"0", "max-age=\"\"", "max-age=60;x=1", "max-age=6 0",
    "max-age=٦٠",
    "max-age=60, max-age=1", "max-age=1, max-age=60", "max-age=60, max-age", "max-age=60, max-age=x",
    "max-age:60, max-age=60",
  ])
  func `RFC 9111 §4.2.1: a value that is not a number of seconds, or two that differ, are invalid`(value: String) {
    #expect(CacheControl(value).seconds("max-age") == .invalid)
  }

  @Test(arguments: [
    "", ",", "=60", "foo", "foo=\"max-age=60\"", "xmax-age=60", "s-maxage=60", "\"max-age=60\"", "max_age=60",
  ])
  func `a missing directive has no seconds`(value: String) {
    #expect(CacheControl(value).seconds("max-age") == nil)
  }

  @Test func `RFC 9110 §5.3: the lines of the field are one list`() {
    var headers: HeaderFields = ["cache-control": "public"]
    headers.append("Cache-Control", "max-age=5")
    let control = CacheControl(headers)
    #expect(control.contains("public"))
    #expect(control.seconds("max-age") == .value(5))
    #expect(CacheControl(HeaderFields()).directives.isEmpty)
  }

  @Test(arguments: [
    ("no-cache", true, []), ("No-Cache", true, []), ("no-cache=\"A\"", false, ["a"]),
    ("no-cache=\"a, B ,c\"", false, ["a", "b", "c"]),
    ("no-cache=a", false, ["a"]), ("no-cache=\"a\", no-cache", true, ["a"]), ("no-cache=\"a", true, []),
    ("no-cache =\"a\"", true, []),
  ])
  func `RFC 9111 §5.2.2.4: no-cache is about the whole response, or about the fields that it lists`(
    value: String, isWhole: Bool, names: [String]
  ) {
    let control = CacheControl(value)
    #expect(control.isUnqualified("no-cache") == isWhole)
    #expect(control.fieldNames("no-cache") == names)
  }

  @Test func `RFC 9111 §5.2: a directive that takes no argument counts whatever argument it has`() {
    #expect(CacheControl("no-store=\"x\"").contains("no-store"))
    #expect(CacheControl("no-store foo").contains("no-store"))
  }
}

/// RFC 9111 §4.2 asks caches to refuse an invalid date.
@Suite(.limited) struct StrictDateTests {
  private let now = Date(timeIntervalSince1970: 1_767_225_600)  // 1 January 2026

  private func seconds(_ text: String) -> Double? { HTTPDate.strictDate(from: text, now: now)?.timeIntervalSince1970 }

  @Test(arguments: [
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    "Sun Nov 06 08:49:37 1994", "SUN, 06 Nov 1994 08:49:37 GMT", "sun, 06 NOV 1994 08:49:37 gMT",
    "SUNDAY, 06-nov-94 08:49:37 gmt", "sun nov  6 08:49:37 1994",
  ])
  func `RFC 9111 §4.2: the three forms are read without regard to case`(text: String) {
    #expect(seconds(text) == 784_111_777)
  }

  @Test(arguments: [
    "0", "-1", "", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 AEST",
    "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 94 08:49:37 GMT", "Sun 06 Nov 1994 08:49:37 GMT",
    "Sun, 06  Nov 1994 08:49:37 GMT",
    "Sun,  06 Nov 1994 08:49:37 GMT", "Sun, 06-Nov-1994 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT",
    "Sun, 06 Nov 1994 08.49.37 GMT",
    "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT",
    "Foo, 06 Nov 1994 08:49:37 GMT",
    "Sun, 06 Foo 1994 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun Nov 6 08:49:37 1994",
    " Sun, 06 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ",
    "Sonday, 06-Nov-94 08:49:37 GMT",
  ])
  func `RFC 9111 §4.2: a date of another form or zone is refused`(text: String) {
    #expect(seconds(text) == nil)
  }

  @Test func `RFC 9110 §5.6.7: a year of two digits is at most 50 years ahead`() {
    #expect(seconds("Thursday, 18-Aug-50 02:01:18 GMT") == 2_544_400_878)
    #expect(seconds("Sunday, 18-Aug-77 02:01:18 GMT") == 240_717_678)
  }

  @Test func `dates beyond 32 bits are read`() {
    #expect(seconds("Tue, 19 Jan 2038 14:14:08 GMT") == 2_147_523_248)
    #expect(seconds("Sun, 21 Nov 2286 04:46:39 GMT") == 10_000_039_599)
  }
}
