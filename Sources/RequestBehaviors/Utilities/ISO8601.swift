import Foundation

/// A parser for dates as servers write them (ISO 8601, RFC 3339 §5.6), with any number of fraction digits.
///
/// Foundation's `Date.ISO8601FormatStyle` refuses a space or a small letter between date and time, and a comma before
/// the fraction. It accepts 25 o'clock, and any text after the date.
enum ISO8601 {
  /// Returns the date of a text such as `2014-09-19T12:22:21.570Z` or `2014-09-19 14:22:21+0200`; `nil` for another
  /// form, or a day or time that does not exist.
  static func date(from text: String) -> Date? {
    var reader = Reader(text: Array(text.utf8)[...])
    guard let year = reader.number(4), reader.skip("-"), let month = reader.number(2), reader.skip("-"),
      let day = reader.number(2), reader.skip("T") || reader.skip("t") || reader.skip(" "),
      let hour = reader.number(2), reader.skip(":"), let minute = reader.number(2), reader.skip(":"),
      let second = reader.number(2), let fraction = reader.fraction(), let offset = reader.offset(), reader.isAtEnd
    else { return nil }
    // RFC 3339 §5.6 allows a leap second.
    guard let date = CalendarDay(year: year, month: month, day: day), hour < 24, minute < 60, second <= 60 else {
      return nil
    }
    // The `Int` of a watch has 32 bits.
    let seconds = Int64(date.daysSince1970) * 86_400 + Int64(hour * 3_600 + minute * 60 + second - offset)
    return Date(timeIntervalSince1970: Double(seconds) + fraction)
  }

  private struct Reader {
    var text: ArraySlice<UInt8>

    var isAtEnd: Bool { text.isEmpty }

    mutating func skip(_ character: Character) -> Bool {
      guard let first = text.first, first == character.asciiValue else { return false }
      text.removeFirst()
      return true
    }

    mutating func digit() -> Int? {
      guard let first = text.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else { return nil }
      text.removeFirst()
      return Int(first - UInt8(ascii: "0"))
    }

    mutating func number(_ count: Int) -> Int? {
      var value = 0
      for _ in 0..<count {
        guard let digit = digit() else { return nil }
        value = value * 10 + digit
      }
      return value
    }

    /// Reads the digits after a point or comma, as a fraction of a second; returns 0 if there is no fraction.
    mutating func fraction() -> Double? {
      guard skip(".") || skip(",") else { return 0 }
      var value = 0.0
      var scale = 0.1
      guard let first = digit() else { return nil }
      value = Double(first) * scale
      while let next = digit() {
        scale /= 10
        value += Double(next) * scale
      }
      return value
    }

    /// Reads the offset from UTC in seconds, positive to the east.
    mutating func offset() -> Int? {
      if skip("Z") || skip("z") { return 0 }
      let sign = skip("+") ? 1 : skip("-") ? -1 : 0
      guard sign != 0, let hours = number(2) else { return nil }
      _ = skip(":")
      guard let minutes = isAtEnd ? 0 : number(2), hours < 24, minutes < 60 else { return nil }
      return sign * (hours * 3_600 + minutes * 60)
    }
  }
}
