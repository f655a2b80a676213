import Foundation

/// The format of numbers, dates and text in logs.
enum LogText {
  /// Returns a duration in milliseconds: with one decimal below a second, without decimals above.
  static func milliseconds(_ duration: Duration) -> String {
    let (seconds, attoseconds) = duration.boundedComponents
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 10_000)
    guard !overflow else { return "\(seconds)000" }
    let tenths = product + attoseconds / 100_000_000_000_000
    let sign = tenths < 0 ? "-" : ""
    let whole = tenths.magnitude / 10
    return whole >= 1_000 ? "\(sign)\(whole)" : "\(sign)\(whole).\(tenths.magnitude % 10)"
  }

  /// Returns a duration in seconds as a decimal number, to the microsecond.
  static func seconds(_ duration: Duration) -> String {
    var text: [UInt8] = []
    appendSeconds(duration, to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  /// Appends a duration in seconds as a decimal number, to the microsecond.
  static func appendSeconds(_ duration: Duration, to text: inout [UInt8]) {
    let (seconds, attoseconds) = duration.boundedComponents
    if seconds < 0 || attoseconds < 0 { text.append(UInt8(ascii: "-")) }
    append(UInt64(seconds.magnitude), digits: 1, to: &text)
    text.append(UInt8(ascii: "."))
    append(UInt64(attoseconds.magnitude) / 1_000_000_000_000, digits: 6, to: &text)
  }

  /// Appends a number, with zeros before it if it has fewer digits.
  private static func append(_ number: UInt64, digits: Int, to text: inout [UInt8]) {
    let start = text.count
    var rest = number
    repeat {
      text.append(UInt8(ascii: "0") + UInt8(rest % 10))
      rest /= 10
    } while rest > 0 || text.count - start < digits
    text[start...].reverse()
  }

  /// Returns a date as in RFC 3339, in UTC with milliseconds.
  static func timestamp(_ date: Date) -> String {
    timestampStyle.format(date)
  }

  private static let timestampStyle = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

  /// Returns the text on one line: control characters and line separators are escaped.
  static func escapingControls(_ text: String) -> String {
    // Most texts need no escapes; 0xC2 and 0xE2 begin the escaped characters outside of ASCII.
    let isClean = text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != 0xC2 && $0 != 0xE2 }
    if isClean { return text }
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x0A: escaped += "\\n"
      case 0x0D: escaped += "\\r"
      case 0x09: escaped += "\\t"
      case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029: escaped += "\\u{\(String(scalar.value, radix: 16))}"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
  /// Splits a text into pieces: at the last line break within the limit, else before the character that exceeds it.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - limit: The maximum size of a piece in UTF-8 bytes, at least 4.
  /// - Returns: At least one piece. No Unicode scalar is split. A line break at which the text is split is dropped.
  static func pieces(of text: String, limit: Int) -> [Substring] {
    let limit = max(limit, 4)
    var pieces: [Substring] = []
    var rest = text[...]
    while let index = rest.utf8.index(rest.startIndex, offsetBy: limit, limitedBy: rest.endIndex), index < rest.endIndex
    {
      var end = index
      while rest.utf8[end] & 0xC0 == 0x80 { end = rest.utf8.index(before: end) }
      let newline = rest.utf8[..<rest.utf8.index(after: end)].lastIndex(of: UInt8(ascii: "\n"))
      if let newline, newline > rest.startIndex { end = newline }
      pieces.append(rest[..<end])
      rest = end == newline ? rest[rest.utf8.index(after: end)...] : rest[end...]
    }
    return pieces + [rest]
  }
}
