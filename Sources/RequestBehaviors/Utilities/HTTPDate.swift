package import Foundation

/// The dates of HTTP fields such as `Date`, `Expires` and `Retry-After` (RFC 9110 §5.6.7).
///
/// A recipient must accept three forms; a sender writes only the first:
///
/// | form | example |
/// |---|---|
/// | IMF-fixdate | `Sun, 06 Nov 1994 08:49:37 GMT` |
/// | RFC 850 | `Sunday, 06-Nov-94 08:49:37 GMT` |
/// | asctime | `Sun Nov  6 08:49:37 1994` |
package enum HTTPDate {
  /// Parses a date in any of the three forms.
  ///
  /// A one-digit day is accepted, and so is a four-digit year in the form of RFC 850, because servers send both. The
  /// day of the week is not checked against the date.
  ///
  /// - Parameters:
  ///   - text: The value of a field.
  ///   - now: The current date. A two-digit year is the latest one that is at most 50 years after it.
  /// - Returns: The date; `nil` if the text has another form or names a day or time that does not exist.
  package static func date(from text: String, now: Date) -> Date? {
    let words = text.split(separator: " ")
    switch words.count {
    case 6: return imfFixdate(words)
    case 4: return rfc850(words, now: now)
    case 5: return asctime(words)
    default: return nil
    }
  }

  /// Formats a date as IMF-fixdate.
  ///
  /// - Parameter date: The date; fractions of a second are dropped. A date outside of the years 0 to 9999 does not fit
  ///   the form and is written as the first or last second of that range.
  /// - Returns: A text such as `Sun, 06 Nov 1994 08:49:37 GMT`.
  package static func text(of date: Date) -> String {
    let time = CivilTime(date)
    let (day, month) = (padded(time.day.day), months[time.day.month - 1])
    let clock = [time.clock.hour, time.clock.minute, time.clock.second].map { padded($0) }.joined(separator: ":")
    return "\(weekdays[time.weekday].prefix(3)), \(day) \(month) \(padded(time.day.year, to: 4)) \(clock) GMT"
  }

  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
  private static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]

  private static func imfFixdate(_ words: [Substring]) -> Date? {
    guard isWeekday(words[0], endsIn: ","), let day = number(words[1], digits: 1...2),
      let month = months.firstIndex(of: String(words[2])), let year = number(words[3], digits: 4...4),
      let clock = clock(words[4]), words[5] == "GMT"
    else { return nil }
    return CivilTime(year: year, month: month + 1, day: day, clock: clock)?.date
  }

  private static func asctime(_ words: [Substring]) -> Date? {
    guard isWeekday(words[0]), let month = months.firstIndex(of: String(words[1])),
      let day = number(words[2], digits: 1...2), let clock = clock(words[3]),
      let year = number(words[4], digits: 4...4)
    else { return nil }
    return CivilTime(year: year, month: month + 1, day: day, clock: clock)?.date
  }

  private static func rfc850(_ words: [Substring], now: Date) -> Date? {
    let parts = words[1].split(separator: "-", omittingEmptySubsequences: false)
    guard isWeekday(words[0], endsIn: ","), parts.count == 3, let day = number(parts[0], digits: 1...2),
      let month = months.firstIndex(of: String(parts[1])), let clock = clock(words[2]), words[3] == "GMT"
    else { return nil }
    if let year = number(parts[2], digits: 4...4) {
      return CivilTime(year: year, month: month + 1, day: day, clock: clock)?.date
    }
    guard let short = number(parts[2], digits: 2...2) else { return nil }
    // RFC 9110 §5.6.7: a year that appears to be more than 50 years in the future is the most recent such year in the
    // past.
    let current = CivilTime(now)
    let latest = current.day.year + 50
    let century = latest - latest % 100
    for year in [century + short, century + short - 100] {
      guard let time = CivilTime(year: year, month: month + 1, day: day, clock: clock) else { continue }
      if !time.isMoreThan(50, yearsAfter: current) { return time.date }
    }
    return nil
  }

  private static func isWeekday(_ word: Substring, endsIn end: String = "") -> Bool {
    weekdays.contains { word == $0 + end || word == $0.prefix(3) + end }
  }

  /// Returns hour, minute and second of a text such as `08:49:37`; a leap second is allowed.
  private static func clock(_ word: Substring) -> CivilTime.Clock? {
    let parts = word.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 3, let hour = number(parts[0], digits: 2...2), hour < 24,
      let minute = number(parts[1], digits: 2...2), minute < 60,
      let second = number(parts[2], digits: 2...2), second <= 60
    else { return nil }
    return (hour, minute, second)
  }

  private static func number(_ word: Substring, digits: ClosedRange<Int>) -> Int? {
    guard digits.contains(word.utf8.count), word.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
    return Int(word)
  }

  private static func padded(_ number: Int, to width: Int = 2) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }
}

/// A date and time of the Gregorian calendar, in UTC.
private struct CivilTime {
  typealias Clock = (hour: Int, minute: Int, second: Int)

  let day: CalendarDay
  let clock: Clock

  /// - Returns: `nil` if the month has no such day.
  init?(year: Int, month: Int, day: Int, clock: Clock) {
    guard let day = CalendarDay(year: year, month: month, day: day) else { return nil }
    (self.day, self.clock) = (day, clock)
  }

  /// Creates the time of a date, or the nearest time in the years 0 to 9999.
  init(_ date: Date) {
    let seconds = date.timeIntervalSince1970.rounded(.down)
    let first = -62_167_219_200.0
    let last = 253_402_300_799.0
    let bounded = seconds.isNaN ? first : min(max(seconds, first), last)
    let days = (bounded / 86_400).rounded(.down)
    let rest = Int(bounded - days * 86_400)
    day = CalendarDay(daysSince1970: Int(days))
    clock = (rest / 3_600, rest / 60 % 60, rest % 60)
  }

  var date: Date {
    // The `Int` of a watch has 32 bits.
    let seconds = Int64(day.daysSince1970) * 86_400 + Int64(clock.hour * 3_600 + clock.minute * 60 + clock.second)
    return Date(timeIntervalSince1970: Double(seconds))
  }

  /// The day of the week, 0 for Sunday.
  var weekday: Int { ((day.daysSince1970 + 4) % 7 + 7) % 7 }

  /// Whether the time is later than the same day and time so many years after the other one.
  func isMoreThan(_ years: Int, yearsAfter other: CivilTime) -> Bool {
    (day.year - years, day.month, day.day, clock.hour, clock.minute, clock.second)
      > (other.day.year, other.day.month, other.day.day, other.clock.hour, other.clock.minute, other.clock.second)
  }
}
