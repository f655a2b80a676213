/// Placeholders of the same type and shape as the values that they replace, so that a redacted body still decodes.
///
/// | value | placeholder |
/// |---|---|
/// | text | `REDACTED`, or with numbers `REDACTED-1`, `REDACTED-2`, … |
/// | a UUID | zeros, with the number at the end; without numbers as text |
/// | a date of RFC 3339 | the first second of 1970, in the same form |
/// | a number | `0` |
/// | `true`, `false` | `false` |
/// | `null` | `null` |
/// | an object, an array | its members and elements, each hidden |
///
/// With numbers, equal values have equal placeholders. They are never hashes, because a short secret could be guessed
/// from its hash.
package final class RedactionPlaceholders: Sendable {
  private struct Hidden {
    /// The numbers of the texts.
    var texts: [String: Int] = [:]
    /// The numbers of JSON: all have the placeholder `0`.
    var scalars: Set<String> = []
  }

  /// The values that were hidden; `nil` if placeholders have no numbers.
  private let hidden: Locked<Hidden>?
  private let last: Int

  /// Creates placeholders.
  ///
  /// - Parameters:
  ///   - isNumbered: Whether values are told apart by numbers, in the order of their first place.
  ///   - last: The number before the first one; 0 by default.
  package init(isNumbered: Bool, after last: Int = 0) {
    hidden = isNumbered ? Locked(Hidden()) : nil
    self.last = last
  }

  /// The texts and numbers that were hidden; empty if placeholders have no numbers.
  var values: [String] { hidden?.withLock { Array($0.texts.keys) + $0.scalars } ?? [] }

  /// The placeholder of a UUID, without the twelve digits of its number.
  fileprivate static let zeros = "00000000-0000-0000-0000-"

  /// Whether a text is a placeholder of a text or of a UUID.
  package static func isPlaceholder(_ text: some StringProtocol) -> Bool {
    let pieces = pieces(of: String(text))
    return pieces.count == 2 && pieces[0].text.isEmpty && pieces[1].text.isEmpty
  }

  /// A part of a text: a placeholder, and the text up to the next one.
  package struct Piece: Sendable, Hashable {
    /// Empty for the first piece, which has none before it.
    package let placeholder: Substring
    /// The number of the placeholder; `nil` if it has none.
    package let number: Int?
    package let text: Substring
  }

  /// Divides a text before each placeholder; a text without any is one piece.
  package static func pieces(of text: String) -> [Piece] {
    // Most texts that are compared are names.
    if text.utf8.count < Redactor.placeholder.utf8.count {
      return [Piece(placeholder: text[..<text.startIndex], number: nil, text: text[...])]
    }
    var pieces: [Piece] = []
    var placeholder = text[..<text.startIndex]
    var number: Int?
    var search = PlaceholderSearch(text)
    while let next = search.next() {
      let between = text[placeholder.endIndex..<next.range.lowerBound]
      pieces.append(Piece(placeholder: placeholder, number: number, text: between))
      (placeholder, number) = (text[next.range], next.number)
    }
    return pieces + [Piece(placeholder: placeholder, number: number, text: text[placeholder.endIndex...])]
  }

  /// Returns the placeholder of a text; a placeholder is returned unchanged.
  package func placeholder(for value: String) -> String {
    guard !RedactionPlaceholders.isPlaceholder(value) else { return value }
    let number = number(of: value)
    let bytes = Array(value.utf8)
    if let number, RedactionPlaceholders.isUUID(bytes) {
      let digits = String(number)
      return RedactionPlaceholders.zeros + String(repeating: "0", count: max(0, 12 - digits.count)) + digits
    }
    if let date = RedactionPlaceholders.date(like: bytes) { return date }
    return number.map { "\(Redactor.placeholder)-\($0)" } ?? Redactor.placeholder
  }

  private func number(of value: String) -> Int? {
    hidden?.withLock { hidden in
      if let number = hidden.texts[value] { return number }
      let number = last + hidden.texts.count + 1
      hidden.texts[value] = number
      return number
    }
  }

  private static func isUUID(_ bytes: [UInt8]) -> Bool {
    bytes.count == 36
      && bytes.enumerated().allSatisfy { index, byte in
        [8, 13, 18, 23].contains(index)
          ? byte == UInt8(ascii: "-") : byte.isASCIIDigit || (byte | 0x20) &- UInt8(ascii: "a") < 6
      }
  }

  /// Returns the first second of 1970 in the form of a date such as `2026-11-23T01:14:55Z`; `nil` for another text.
  private static func date(like bytes: [UInt8]) -> String? {
    guard (10...40).contains(bytes.count), bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
      bytes.count == 10 || bytes[10] == UInt8(ascii: "T"),
      bytes.enumerated().allSatisfy({ [4, 7].contains($0) || $0 >= 10 || $1.isASCIIDigit }),
      bytes[10...].allSatisfy({ $0.isASCIIDigit || "T:.Z+-".utf8.contains($0) })
    else { return nil }
    let rest = bytes[10...].map { $0.isASCIIDigit ? UInt8(ascii: "0") : $0 }
    return "1970-01-01" + String(decoding: rest, as: UTF8.self)
  }
}

/// Finds the placeholders of a text, in order.
private struct PlaceholderSearch {
  typealias Place = (range: Range<String.Index>, number: Int?)

  private let text: String
  private var position: String.Index
  // The next ones of both kinds are kept, so that many of one kind do not search for the other again and again.
  private var word: Place?
  private var uuid: Place?

  init(_ text: String) {
    self.text = text
    position = text.startIndex
    word = nextWord()
    uuid = nextUUID()
  }

  /// Returns the next placeholder; `nil` after the last one.
  mutating func next() -> Place? {
    if let word, word.range.lowerBound < position { self.word = nextWord() }
    if let uuid, uuid.range.lowerBound < position { self.uuid = nextUUID() }
    let next = [word, uuid].compactMap(\.self).min { $0.range.lowerBound < $1.range.lowerBound }
    if let next { position = next.range.upperBound }
    return next
  }

  private func nextWord() -> Place? {
    guard let word = text[position...].firstRange(of: Redactor.placeholder) else { return nil }
    let digits = text[word.upperBound...].dropFirst().prefix { $0.isASCII && $0.isNumber }
    guard text[word.upperBound...].first == "-", let number = Int(digits) else { return (word, nil) }
    return (word.lowerBound..<digits.endIndex, number)
  }

  private func nextUUID() -> Place? {
    // The zeros alone are a UUID like any other.
    var search = text[position...]
    while let uuid = search.firstRange(of: RedactionPlaceholders.zeros) {
      let digits = text[uuid.upperBound...].prefix(12)
      if digits.utf8.count == 12, digits.utf8.allSatisfy(\.isASCIIDigit), let number = Int(digits), number > 0 {
        return (uuid.lowerBound..<digits.endIndex, number)
      }
      search = text[uuid.upperBound...]
    }
    return nil
  }
}

// MARK: - JSON

extension RedactionPlaceholders {
  /// Appends a JSON value of the same type and shape; it may be cut off anywhere.
  func appendValue(like value: UnsafeBufferPointer<UInt8>, to output: inout [UInt8]) {
    var index = 0
    while index < value.count {
      let byte = value[index]
      let start = index
      if byte == UInt8(ascii: "\"") {
        index = RedactionPlaceholders.endOfString(in: value, from: index)
        let string = UnsafeBufferPointer(rebasing: value[start..<index])
        if RedactionPlaceholders.isName(before: index, in: value) {
          output.append(contentsOf: string)
        } else {
          append(string, to: &output)
        }
      } else if byte.endsScalar || byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
        output.append(byte)
        index += 1
      } else {
        while index < value.count, !value[index].endsScalar { index += 1 }
        output.append(contentsOf: scalar(UnsafeBufferPointer(rebasing: value[start..<index])).utf8)
      }
    }
  }

  private func append(_ string: UnsafeBufferPointer<UInt8>, to output: inout [UInt8]) {
    let isWhole = string.count > 1 && string[string.count - 1] == UInt8(ascii: "\"")
    let content = UnsafeBufferPointer(rebasing: string[1..<(isWhole ? string.count - 1 : string.count)])
    let text = String(decoding: JSONText.unescape(content), as: UTF8.self)
    JSONText.appendQuoted(placeholder(for: text).utf8, to: &output)
  }

  /// Returns the placeholder of a number, `true`, `false` or `null`.
  private func scalar(_ value: UnsafeBufferPointer<UInt8>) -> String {
    switch value[0] {
    case UInt8(ascii: "t"), UInt8(ascii: "f"): return "false"
    case UInt8(ascii: "n"): return "null"
    default:
      hidden?.withLock { _ = $0.scalars.insert(String(decoding: value, as: UTF8.self)) }
      return "0"
    }
  }

  private static func endOfString(in value: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
    var index = start + 1
    while index < value.count {
      if value[index] == UInt8(ascii: "\"") { return index + 1 }
      index += value[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    return value.count
  }

  private static func isName(before end: Int, in value: UnsafeBufferPointer<UInt8>) -> Bool {
    value[end...].first { !$0.isJSONWhitespace } == UInt8(ascii: ":")
  }
}
