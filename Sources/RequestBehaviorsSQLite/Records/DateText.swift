import Foundation
import RequestBehaviors

/// Dates as SQLite text, by civil-calendar arithmetic.
enum DateText {
  /// The length of `yyyy-MM-dd HH:mm:ss.SSS`.
  static let length = 23

  /// Returns `yyyy-MM-dd HH:mm:ss.SSS` in UTC, rounded to the millisecond; throws for years outside 0–9999.
  static func string(from date: Date) throws -> String {
    let text = String(unsafeUninitializedCapacity: length) { write(date, to: $0.baseAddress) ? length : 0 }
    guard !text.isEmpty else { throw outOfRange }
    return text
  }

  /// Returns the milliseconds since 1970, rounded.
  static func milliseconds(of date: Date) throws -> Int64 {
    guard let count = Int64(exactly: (date.timeIntervalSince1970 * 1000 + 0.5).rounded(.down)) else {
      throw outOfRange
    }
    return count
  }

  /// The value is left out, because errors are logged.
  static var outOfRange: SQLiteError {
    SQLiteError(.mismatch, "the date is outside the years 0 to 9999, which its text can hold")
  }

  /// Writes the 23 bytes; returns false when the date cannot be written in this form.
  static func write(_ date: Date, to bytes: UnsafeMutablePointer<UInt8>?) -> Bool {
    guard let bytes, let milliseconds = Int64(exactly: (date.timeIntervalSince1970 * 1000 + 0.5).rounded(.down)) else {
      return false
    }
    let (day, time) = floorDivide(milliseconds, by: 86_400_000)
    // The limits are the days 0000-01-01 and 9999-12-31.
    guard day >= -719_528, day <= 2_932_896 else { return false }
    let date = CalendarDay(daysSince1970: Int(day))
    digits(Int64(date.year), count: 4, at: bytes)
    bytes[4] = UInt8(ascii: "-")
    digits(Int64(date.month), count: 2, at: bytes + 5)
    bytes[7] = UInt8(ascii: "-")
    digits(Int64(date.day), count: 2, at: bytes + 8)
    bytes[10] = UInt8(ascii: " ")
    digits(time / 3_600_000, count: 2, at: bytes + 11)
    bytes[13] = UInt8(ascii: ":")
    digits(time / 60_000 % 60, count: 2, at: bytes + 14)
    bytes[16] = UInt8(ascii: ":")
    digits(time / 1000 % 60, count: 2, at: bytes + 17)
    bytes[19] = UInt8(ascii: ".")
    digits(time % 1000, count: 3, at: bytes + 20)
    return true
  }

  /// Returns the date of `yyyy-MM-dd`, optionally with a time after a blank or `T`, and `Z` or `±hh:mm`.
  ///
  /// Returns nil for other text.
  static func date(from text: UnsafeBufferPointer<UInt8>) -> Date? {
    var reader = DigitReader(text: text)
    guard let year = reader.number(4), reader.skip("-"), let month = reader.number(2), reader.skip("-"),
      let day = reader.number(2), let date = CalendarDay(year: Int(year), month: Int(month), day: Int(day))
    else { return nil }
    var milliseconds = Int64(date.daysSince1970) * 86_400_000
    if !reader.isAtEnd {
      guard reader.skip(" ") || reader.skip("T") || reader.skip("t"), let time = reader.time() else { return nil }
      milliseconds += time
    }
    return reader.isAtEnd ? Date(timeIntervalSince1970: Double(milliseconds) / 1000) : nil
  }

  private static func digits(_ value: Int64, count: Int, at bytes: UnsafeMutablePointer<UInt8>) {
    var rest = value
    for index in stride(from: count - 1, through: 0, by: -1) {
      bytes[index] = UInt8(truncatingIfNeeded: 48 + rest % 10)
      rest /= 10
    }
  }

  private static func floorDivide(_ value: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}

/// Reads fixed-width numbers and signs from text.
private struct DigitReader {
  let text: UnsafeBufferPointer<UInt8>
  var index = 0

  init(text: UnsafeBufferPointer<UInt8>) { self.text = text }

  var isAtEnd: Bool { index == text.count }

  mutating func number(_ count: Int) -> Int64? {
    guard index + count <= text.count else { return nil }
    var value: Int64 = 0
    for byte in text[index..<index + count] {
      guard byte >= 48, byte <= 57 else { return nil }
      value = value * 10 + Int64(byte - 48)
    }
    index += count
    return value
  }

  mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard index < text.count, text[index] == UInt8(ascii: character) else { return false }
    index += 1
    return true
  }

  /// Returns the milliseconds of `HH:mm`, `HH:mm:ss` or `HH:mm:ss.S…`, less the offset from UTC that follows.
  mutating func time() -> Int64? {
    guard let hour = number(2), hour < 24, skip(":"), let minute = number(2), minute < 60 else { return nil }
    var milliseconds = (hour * 60 + minute) * 60_000
    if skip(":") {
      guard let second = number(2), second < 60 else { return nil }
      milliseconds += second * 1000
      if skip(".") {
        guard let fraction = fraction() else { return nil }
        milliseconds += fraction
      }
    }
    guard let offset = offset() else { return nil }
    return milliseconds - offset
  }

  private mutating func fraction() -> Int64? {
    let start = index
    var value = 0.0
    var scale = 1000.0
    while let digit = number(1) {
      scale /= 10
      value += Double(digit) * scale
    }
    return index > start ? Int64(value.rounded()) : nil
  }

  private mutating func offset() -> Int64? {
    if isAtEnd || skip("Z") || skip("z") { return 0 }
    let isNegative = skip("-")
    guard isNegative || skip("+"), let hours = number(2), hours < 24 else { return nil }
    _ = skip(":")
    guard let minutes = number(2), minutes < 60 else { return nil }
    return (hours * 60 + minutes) * (isNegative ? -60_000 : 60_000)
  }
}
