/// Escapes and unescapes JSON strings (RFC 8259 §7).
enum JSONText {
  /// Appends a string in quotes, with control characters, quotes and backslashes escaped.
  static func appendQuoted(_ text: some Collection<UInt8>, to output: inout [UInt8]) {
    let isDone: Void? = text.withContiguousStorageIfAvailable { appendQuoted($0, to: &output) }
    if isDone == nil { Array(text).withUnsafeBufferPointer { appendQuoted($0, to: &output) } }
  }

  private static func appendQuoted(_ text: UnsafeBufferPointer<UInt8>, to output: inout [UInt8]) {
    output.append(UInt8(ascii: "\""))
    // Most texts have nothing to escape.
    if text.contains(where: { $0.needsEscape }) {
      for byte in text { appendEscaped(byte, to: &output) }
    } else {
      output.append(contentsOf: text)
    }
    output.append(UInt8(ascii: "\""))
  }

  private static func appendEscaped(_ byte: UInt8, to output: inout [UInt8]) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"):
      output.append(UInt8(ascii: "\\"))
      output.append(byte)
    case 0x0A: output.append(contentsOf: "\\n".utf8)
    case 0x0D: output.append(contentsOf: "\\r".utf8)
    case 0x09: output.append(contentsOf: "\\t".utf8)
    case ..<0x20, 0x7F: output.append(contentsOf: hexadecimalEscape(byte))
    default: output.append(byte)
    }
  }

  private static func hexadecimalEscape(_ byte: UInt8) -> [UInt8] {
    let digits = Array("0123456789abcdef".utf8)
    return Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 0xF)]]
  }

  /// Returns the content of a string without escapes; an invalid escape is kept unchanged.
  static func unescape(_ content: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    guard content.contains(UInt8(ascii: "\\")) else { return Array(content) }
    var output: [UInt8] = []
    output.reserveCapacity(content.count)
    var index = 0
    while index < content.count {
      let byte = content[index]
      index += 1
      guard byte == UInt8(ascii: "\\"), index < content.count else {
        output.append(byte)
        continue
      }
      // A `\u` escape may span two units; all other escapes are a single character.
      if content[index] == UInt8(ascii: "u"), let scalar = scalar(in: content, at: &index) {
        output.append(contentsOf: Array(String(scalar).utf8))
      } else {
        appendSimple(content[index], to: &output)
        index += 1
      }
    }
    return output
  }

  private static func appendSimple(_ byte: UInt8, to output: inout [UInt8]) {
    switch byte {
    case UInt8(ascii: "n"): output.append(0x0A)
    case UInt8(ascii: "r"): output.append(0x0D)
    case UInt8(ascii: "t"): output.append(0x09)
    case UInt8(ascii: "b"): output.append(0x08)
    case UInt8(ascii: "f"): output.append(0x0C)
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): output.append(byte)
    default: output.append(contentsOf: [UInt8(ascii: "\\"), byte])
    }
  }

  /// Reads `uXXXX`, or a surrogate pair of two, and moves the index past it.
  private static func scalar(in content: UnsafeBufferPointer<UInt8>, at index: inout Int) -> Unicode.Scalar? {
    guard let first = unit(in: content, at: index) else { return nil }
    if let scalar = Unicode.Scalar(first) {
      index += 5
      return scalar
    }
    guard first & 0xFC00 == 0xD800, index + 5 < content.count, content[index + 5] == UInt8(ascii: "\\"),
      let second = unit(in: content, at: index + 6), second & 0xFC00 == 0xDC00
    else { return nil }
    index += 11
    return Unicode.Scalar(0x10000 + ((first & 0x3FF) << 10) + (second & 0x3FF))
  }

  private static func unit(in content: UnsafeBufferPointer<UInt8>, at index: Int) -> UInt32? {
    guard index + 5 <= content.count, content[index] == UInt8(ascii: "u") else { return nil }
    let digits = content[(index + 1)..<(index + 5)]
    guard digits.allSatisfy(\.isHexadecimalDigit) else { return nil }
    return UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
  }
}

extension UInt8 {
  fileprivate var needsEscape: Bool {
    self < 0x20 || self == 0x7F || self == UInt8(ascii: "\"") || self == UInt8(ascii: "\\")
  }
  fileprivate var isHexadecimalDigit: Bool { isASCIIDigit || (self | 0x20) &- 0x61 < 6 }
}

extension UInt8 {
  /// Whether this is white space of JSON (RFC 8259 §2).
  var isJSONWhitespace: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }

  /// Whether a number of JSON may contain this.
  var isNumberByte: Bool {
    isASCIIDigit || self == UInt8(ascii: "-") || self == UInt8(ascii: "+") || self == UInt8(ascii: ".")
      || self == UInt8(ascii: "e") || self == UInt8(ascii: "E")
  }
}
