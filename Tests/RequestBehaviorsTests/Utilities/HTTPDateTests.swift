import Foundation
import RequestBehaviors
import Testing

/// RFC 9110 §5.6.7.
@Suite(.limited) struct HTTPDateTests {
  private let now = Date(timeIntervalSince1970: 1_767_225_600)  // 1 January 2026

  private func seconds(_ text: String) -> Double? { HTTPDate.date(from: text, now: now)?.timeIntervalSince1970 }

  @Test(arguments: [
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    // Other forms that servers send.
    "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06-Nov-1994 08:49:37 GMT", "Sun Nov 6 08:49:37 1994",
    " Sun, 06 Nov 1994 08:49:37 GMT ",
  ])
  func `the three forms of a date are read`(text: String) {
    #expect(seconds(text) == 784_111_777)
  }

  @Test(arguments: [
    ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0), ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
    ("Tue, 29 Feb 2000 23:59:59 GMT", 951_868_799), ("Wed, 01 Mar 2000 00:00:00 GMT", 951_868_800),
    ("Fri, 31 Dec 1999 12:00:00 GMT", 946_641_600), ("Sun, 28 Feb 2100 00:00:00 GMT", 4_107_456_000),
    ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400), ("Sat, 01 Jan 0000 00:00:00 GMT", -62_167_219_200),
    ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799), ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
  ])
  func `dates around leap days, leap seconds and the ends of the calendar are read`(text: String, expected: Double) {
    #expect(seconds(text) == expected)
  }

  @Test(arguments: [
    "", " ", "0", "-1", "yesterday", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET",
    "Sun 06 Nov 1994 08:49:37 GMT", "Son, 06 Nov 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
    "Sun, 31 Nov 1994 08:49:37 GMT", "Tue, 29 Feb 2100 00:00:00 GMT", "Sun, 006 Nov 1994 08:49:37 GMT",
    "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06 Nov 19940 08:49:37 GMT",
    "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
    "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 08:49:+7 GMT",
    "Sun, +6 Nov 1994 08:49:37 GMT", "Sun, ٠٦ Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-994 08:49:37 GMT",
    "Sunday, 06--Nov-94 08:49:37 GMT", "Sunday 06-Nov-94 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 UTC",
    "Sun, Nov 6 08:49:37 1994", "Sun Nov 6 08:49:37 94", "Sun Nov 31 08:49:37 1994", "1994-11-06T08:49:37Z",
  ])
  func `text that is not an HTTP date is refused`(text: String) {
    #expect(HTTPDate.date(from: text, now: now) == nil)
  }

  @Test(arguments: [
    ("Thursday, 01-Jan-26 00:00:00 GMT", 2026), ("Thursday, 01-Jan-70 00:00:00 GMT", 2070),
    ("Thursday, 31-Dec-75 23:59:59 GMT", 2075), ("Wednesday, 01-Jan-76 00:00:00 GMT", 2076),
    // A second more than 50 years in the future.
    ("Wednesday, 01-Jan-76 00:00:01 GMT", 1976), ("Friday, 31-Dec-99 00:00:00 GMT", 1999),
    ("Saturday, 01-Jan-00 00:00:00 GMT", 2000),
  ])
  func `a year of two digits is the latest that is not more than 50 years ahead`(text: String, year: Int) throws {
    let date = try #require(HTTPDate.date(from: text, now: now))
    #expect(HTTPDate.text(of: date).split(separator: " ")[3] == "\(year)")
  }

  @Test(arguments: [
    ("Tue, 31 Dec 2069 00:00:00 GMT", "Monday, 01-Jan-05 00:00:00 GMT", "2105"),
    ("Tue, 31 Dec 2069 00:00:00 GMT", "Monday, 01-Jan-20 00:00:00 GMT", "2020"),
    ("Sun, 01 Jan 1950 00:00:00 GMT", "Monday, 01-Jan-00 00:00:00 GMT", "2000"),
    ("Sun, 01 Jan 1950 00:00:00 GMT", "Monday, 02-Jan-00 00:00:00 GMT", "1900"),
    // 29 February: 2100 is no leap year, 2000 is one.
    ("Sun, 01 Jan 2090 00:00:00 GMT", "Tuesday, 29-Feb-00 00:00:00 GMT", "2000"),
  ])
  func `the century of a year of two digits follows from the current date`(now: String, text: String, year: String)
    throws
  {
    let now = try #require(HTTPDate.date(from: now, now: self.now))
    let date = try #require(HTTPDate.date(from: text, now: now))
    #expect(HTTPDate.text(of: date).split(separator: " ")[3] == year)
  }

  @Test(arguments: [
    (784_111_777.9, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
    (-0.5, "Wed, 31 Dec 1969 23:59:59 GMT"), (951_868_799, "Tue, 29 Feb 2000 23:59:59 GMT"),
    (-62_167_219_200, "Sat, 01 Jan 0000 00:00:00 GMT"), (1e300, "Fri, 31 Dec 9999 23:59:59 GMT"),
    (-.infinity, "Sat, 01 Jan 0000 00:00:00 GMT"), (.nan, "Sat, 01 Jan 0000 00:00:00 GMT"),
  ])
  func `a date is written as IMF-fixdate`(seconds: Double, text: String) {
    #expect(HTTPDate.text(of: Date(timeIntervalSince1970: seconds)) == text)
  }

  @Test func `every day of four centuries is read as it was written`() {
    for day in -146_097 / 2..<146_097 / 2 {
      let date = Date(timeIntervalSince1970: Double(day) * 86_400 + Double(day & 0xffff))
      let read = HTTPDate.date(from: HTTPDate.text(of: date), now: now)
      if read != date {
        Issue.record("\(date) is read as \(String(describing: read))")
        break
      }
    }
  }
}
