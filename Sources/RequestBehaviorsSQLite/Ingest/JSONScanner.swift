/// A scanner that reads JSON (RFC 8259) strictly, in one pass, without creating values.
struct JSONScanner {
  let bytes: UnsafePointer<UInt8>
  let count: Int
  var index = 0

  /// The deepest nesting that is read.
  static let maximumDepth = 512

  init(_ buffer: UnsafeBufferPointer<UInt8>, empty: UnsafePointer<UInt8>) {
    bytes = buffer.baseAddress ?? empty
    count = buffer.count
  }

  /// The bytes of a string between its quotes.
  struct Text {
    var start: Int
    var end: Int
    var hasEscapes: Bool
  }

  /// The bytes of a number.
  struct Number {
    var start: Int
    var end: Int
    /// The value, if the number has no fraction and no exponent and fits.
    var integer: Int64?
    /// The value, if the number has so few digits that it can be computed exactly from them.
    var simple: Double?
    var isIntegral: Bool
  }

  func failure(_ message: String, at offset: Int? = nil) -> SQLiteError {
    SQLiteError(.mismatch, "the JSON is not valid at byte \(offset ?? index): \(message)")
  }

  @inline(__always)
  mutating func skipWhitespace() {
    while index < count {
      let byte = bytes[index]
      guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
      index += 1
    }
  }

  /// Returns the byte that begins the next token; throws at the end of the text.
  @inline(__always)
  mutating func peek() throws -> UInt8 {
    skipWhitespace()
    guard index < count else { throw failure("it ends too early") }
    return bytes[index]
  }

  /// Skips a byte that must be next.
  @inline(__always)
  mutating func expect(_ character: Unicode.Scalar) throws {
    guard try peek() == UInt8(ascii: character) else { throw failure("\"\(character)\" is missing") }
    index += 1
  }

  /// Skips the byte and returns true if it is next.
  @inline(__always)
  mutating func skip(_ character: Unicode.Scalar) throws -> Bool {
    guard try peek() == UInt8(ascii: character) else { return false }
    index += 1
    return true
  }

  mutating func expectEnd() throws {
    skipWhitespace()
    guard index == count else { throw failure("something follows the value") }
  }

  // MARK: Values

  /// Calls the closure at each key of an object, after the colon; the closure reads the value.
  @inline(__always)
  mutating func object(_ member: (inout JSONScanner, Text) throws -> Void) throws {
    try expect("{")
    if try skip("}") { return }
    while true {
      guard try peek() == UInt8(ascii: "\"") else { throw failure("a key is missing") }
      let key = try string()
      try expect(":")
      try member(&self, key)
      if try skip("}") { return }
      try expect(",")
    }
  }

  /// Calls the closure at each element of an array; the closure reads the element.
  @inline(__always)
  mutating func array(_ element: (inout JSONScanner) throws -> Void) throws {
    try expect("[")
    if try skip("]") { return }
    while true {
      try element(&self)
      if try skip("]") { return }
      try expect(",")
    }
  }

  /// Skips a value of any kind.
  mutating func skipValue(depth: Int = 0) throws {
    guard depth < Self.maximumDepth else { throw failure("it is nested deeper than \(Self.maximumDepth)") }
    switch try peek() {
    case UInt8(ascii: "\""): _ = try string()
    case UInt8(ascii: "{"): try object { scanner, _ in try scanner.skipValue(depth: depth + 1) }
    case UInt8(ascii: "["): try array { try $0.skipValue(depth: depth + 1) }
    case UInt8(ascii: "t"): try literal("true")
    case UInt8(ascii: "f"): try literal("false")
    case UInt8(ascii: "n"): try literal("null")
    default: _ = try number()
    }
  }

  mutating func literal(_ word: StaticString) throws {
    let length = word.utf8CodeUnitCount
    guard count - index >= length, (0..<length).allSatisfy({ bytes[index + $0] == word.utf8Start[$0] }) else {
      throw failure("\"\(word)\" is misspelled")
    }
    index += length
  }

  mutating func number() throws -> Number {
    let start = index
    let isNegative = index < count && bytes[index] == UInt8(ascii: "-")
    if isNegative { index += 1 }
    var magnitude: UInt64 = 0
    var overflows = false
    let first = index
    while index < count, case let digit = bytes[index] &- 48, digit <= 9 {
      let (product, overflow) = magnitude.multipliedReportingOverflow(by: 10)
      let (sum, carry) = product.addingReportingOverflow(UInt64(digit))
      overflows = overflows || overflow || carry
      magnitude = sum
      index += 1
    }
    guard index > first else { throw failure("a value is missing", at: start) }
    // RFC 8259 §6: a number has no leading zeros.
    guard bytes[first] != 48 || index == first + 1 else { throw failure("a number begins with 0", at: start) }
    let point = index
    let isIntegral = try !skipFractionAndExponent()
    if isIntegral {
      let integer = overflows ? nil : Self.signed(magnitude, isNegative)
      return Number(start: start, end: index, integer: integer, simple: nil, isIntegral: true)
    }
    let simple = simple(magnitude, point: point, first: first)
    return Number(
      start: start, end: index, integer: nil, simple: isNegative ? simple.map { -$0 } : simple, isIntegral: false)
  }

  private static let powersOfTen: [Double] = [
    1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
  ]

  /// Returns the value of a number with up to 15 digits and no exponent.
  ///
  /// Such digits and the power of ten are exact as a double, so one division rounds once, correctly.
  private func simple(_ magnitude: UInt64, point: Int, first: Int) -> Double? {
    guard index - first <= 16, bytes[point] == UInt8(ascii: ".") else { return nil }
    var digits = magnitude
    for place in point + 1..<index {
      guard case let digit = bytes[place] &- 48, digit <= 9 else { return nil }
      digits = digits * 10 + UInt64(digit)
    }
    return Double(digits) / Self.powersOfTen[index - point - 1]
  }

  private static func signed(_ magnitude: UInt64, _ isNegative: Bool) -> Int64? {
    guard isNegative else { return Int64(exactly: magnitude) }
    return magnitude <= 1 << 63 ? Int64(truncatingIfNeeded: 0 &- magnitude) : nil
  }

  /// Returns true if there was a fraction or an exponent.
  private mutating func skipFractionAndExponent() throws -> Bool {
    let start = index
    if index < count, bytes[index] == UInt8(ascii: ".") {
      index += 1
      try skipDigits()
    }
    if index < count, bytes[index] | 0x20 == UInt8(ascii: "e") {
      index += 1
      if index < count, bytes[index] == UInt8(ascii: "+") || bytes[index] == UInt8(ascii: "-") { index += 1 }
      try skipDigits()
    }
    return index > start
  }

  private mutating func skipDigits() throws {
    let start = index
    while index < count, bytes[index] &- 48 <= 9 { index += 1 }
    guard index > start else { throw failure("a digit is missing") }
  }
}
