package import Foundation

extension HTTPDate {
  /// Reads a date in exactly one of the three forms, as a cache must (RFC 9111 §4.2).
  ///
  /// Names of days, months and the zone are compared without regard to case, as that section requires. Every other
  /// deviation is an error, such as another zone, a year of the wrong length or other spaces.
  /// ``HTTPDate/date(from:now:)`` accepts more for the sake of careless servers, but such a date must not make a
  /// response fresh.
  ///
  /// - Parameters:
  ///   - text: The value of a field.
  ///   - now: The current date, for years of two digits.
  /// - Returns: The date; `nil` if the text has another form or names a day or time that does not exist.
  package static func strictDate(from text: String, now: Date) -> Date? {
    let bytes = Array(text.utf8)
    guard isIMFFixdate(bytes) || isASCTime(bytes) || isRFC850(bytes) else { return nil }
    return date(from: capitalized(bytes), now: now)
  }

  // In these patterns `9` matches a digit, `a` a letter and `_` a space or a digit; other characters match themselves.

  private static func isIMFFixdate(_ bytes: [UInt8]) -> Bool { matches(bytes[...], "aaa, 99 aaa 9999 99:99:99 aaa") }

  private static func isASCTime(_ bytes: [UInt8]) -> Bool { matches(bytes[...], "aaa aaa _9 99:99:99 9999") }

  private static func isRFC850(_ bytes: [UInt8]) -> Bool {
    guard let comma = bytes.firstIndex(of: UInt8(ascii: ",")), comma >= 6, bytes[..<comma].allSatisfy(isLetter) else {
      return false
    }
    return matches(bytes[comma...], ", 99-aaa-99 99:99:99 aaa")
  }

  private static func matches(_ bytes: ArraySlice<UInt8>, _ pattern: StaticString) -> Bool {
    guard bytes.count == pattern.utf8CodeUnitCount else { return false }
    return pattern.withUTF8Buffer { expected in
      zip(bytes, expected).allSatisfy { byte, wanted in
        switch wanted {
        case UInt8(ascii: "9"): isDigit(byte)
        case UInt8(ascii: "a"): isLetter(byte)
        case UInt8(ascii: "_"): byte == UInt8(ascii: " ") || isDigit(byte)
        default: byte == wanted
        }
      }
    }
  }

  /// Returns the text with a capital at the start of each word, and with the zone at the end in capitals.
  private static func capitalized(_ bytes: [UInt8]) -> String {
    var result = bytes
    for index in result.indices where isLetter(result[index]) {
      let isFirst = index == 0 || !isLetter(result[index - 1])
      let isZone = index >= result.count - 3
      result[index] = isFirst || isZone ? result[index] & ~0x20 : result[index] | 0x20
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

  private static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7A }
}
