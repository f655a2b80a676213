extension JSONScanner {
  /// Reads a string and checks that it is UTF-8 without control characters and with valid escapes.
  @inline(__always)
  mutating func string() throws -> Text {
    index += 1
    let start = index
    var hasEscapes = false
    while true {
      skipPlainWords()
      // Most bytes of real texts need no check and are skipped eight at a time. Only the others get to the switch.
      guard index < count else { throw failure("a string has no end", at: start - 1) }
      switch bytes[index] {
      case UInt8(ascii: "\""):
        index += 1
        return Text(start: start, end: index - 1, hasEscapes: hasEscapes)
      case UInt8(ascii: "\\"):
        hasEscapes = true
        try skipEscape()
      case 0..<0x20: throw failure("a control character in a string is not escaped")
      case 0x80...0xFF: try skipSequence()
      default: index += 1
      }
    }
  }

  /// Skips eight bytes at a time as long as they are ASCII without control characters, quotes and backslashes.
  @inline(__always)
  private mutating func skipPlainWords() {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let highs: UInt64 = 0x8080_8080_8080_8080
    while index + 8 <= count {
      let word = UnsafeRawPointer(bytes + index).loadUnaligned(as: UInt64.self)
      let quotes = word ^ (ones &* 0x22)
      let slashes = word ^ (ones &* 0x5C)
      // The expression sets the high bit of each byte that is a quote, a backslash, below 0x20 or not ASCII.
      let found = (quotes &- ones) & ~quotes | (slashes &- ones) & ~slashes | (word &- ones &* 0x20) & ~word | word
      guard found & highs == 0 else { return }
      index += 8
    }
  }

  private mutating func skipEscape() throws {
    guard index + 1 < count else { throw failure("a string has no end") }
    switch bytes[index + 1] {
    case UInt8(ascii: "u"):
      let unit = try unit(at: index + 2)
      index += 6
      if unit & 0xFC00 == 0xDC00 { throw failure("half a surrogate pair is missing", at: index - 6) }
      // A high surrogate needs a low one right after it.
      guard unit & 0xFC00 == 0xD800 else { return }
      guard index + 1 < count, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u"),
        try self.unit(at: index + 2) & 0xFC00 == 0xDC00
      else { throw failure("half a surrogate pair is missing", at: index - 6) }
      index += 6
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      index += 2
    default: throw failure("there is no such escape")
    }
  }

  private func unit(at position: Int) throws -> UInt16 {
    guard position + 4 <= count else { throw failure("a string has no end") }
    return try (position..<position + 4).reduce(0) { unit, place in
      guard let digit = Character(Unicode.Scalar(bytes[place])).hexDigitValue, bytes[place] < 0x80 else {
        throw failure("a hexadecimal digit is missing", at: place)
      }
      return unit << 4 | UInt16(digit)
    }
  }

  /// Skips a multi-byte UTF-8 sequence (RFC 3629) that is not overlong, not a surrogate and not beyond U+10FFFF.
  private mutating func skipSequence() throws {
    let lead = bytes[index]
    let length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2
    guard lead >= 0xC2, lead <= 0xF4, index + length <= count else { throw failure("the text is not UTF-8") }
    let second: ClosedRange<UInt8> =
      switch lead {
      case 0xE0: 0xA0...0xBF
      case 0xED: 0x80...0x9F
      case 0xF0: 0x90...0xBF
      case 0xF4: 0x80...0x8F
      default: 0x80...0xBF
      }
    guard second.contains(bytes[index + 1]), (2..<length).allSatisfy({ bytes[index + $0] & 0xC0 == 0x80 }) else {
      throw failure("the text is not UTF-8")
    }
    index += length
  }

  /// Writes the string without escapes to a buffer as long as the string, and returns the number of bytes written.
  func unescape(_ text: Text, into buffer: UnsafeMutablePointer<UInt8>) throws -> Int {
    var source = text.start
    var target = 0
    while source < text.end {
      guard bytes[source] == UInt8(ascii: "\\") else {
        buffer[target] = bytes[source]
        source += 1
        target += 1
        continue
      }
      guard bytes[source + 1] == UInt8(ascii: "u") else {
        buffer[target] = Self.meaning(ofEscape: bytes[source + 1])
        source += 2
        target += 1
        continue
      }
      // An escape is never shorter than its UTF-8, so the buffer is long enough.
      let scalar = try scalar(at: &source)
      for byte in UTF8.encode(scalar).map({ Array($0) }) ?? [] {
        buffer[target] = byte
        target += 1
      }
    }
    return target
  }

  private func scalar(at source: inout Int) throws -> Unicode.Scalar {
    let high = UInt32(try unit(at: source + 2))
    source += 6
    guard high & 0xFC00 == 0xD800 else { return Unicode.Scalar(high) ?? "\u{FFFD}" }
    let low = UInt32(try unit(at: source + 2))
    source += 6
    return Unicode.Scalar(0x10000 + (high & 0x3FF) << 10 + low & 0x3FF) ?? "\u{FFFD}"
  }

  private static func meaning(ofEscape byte: UInt8) -> UInt8 {
    switch byte {
    case UInt8(ascii: "b"): 8
    case UInt8(ascii: "f"): 12
    case UInt8(ascii: "n"): 10
    case UInt8(ascii: "r"): 13
    case UInt8(ascii: "t"): 9
    default: byte
    }
  }
}
