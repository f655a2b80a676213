extension UInt8 {
  /// Whether a number or word of JSON ends before this.
  var endsScalar: Bool {
    isJSONWhitespace || self == UInt8(ascii: ",") || self == UInt8(ascii: "]") || self == UInt8(ascii: "}")
      || self == UInt8(ascii: ":") || self == UInt8(ascii: "\"") || self == 0x1E
  }
}

extension Slice where Base == UnsafeBufferPointer<UInt8> {
  /// Whether this is `true`, `false` or `null`, or the beginning of one if the text is cut off after it.
  func isJSONLiteral(isCutOff: Bool) -> Bool {
    let literal: StaticString
    switch first {
    case UInt8(ascii: "t"): literal = "true"
    case UInt8(ascii: "f"): literal = "false"
    case UInt8(ascii: "n"): literal = "null"
    default: return false
    }
    guard count == literal.utf8CodeUnitCount || (isCutOff && count < literal.utf8CodeUnitCount) else { return false }
    return zip(self, UnsafeBufferPointer(start: literal.utf8Start, count: count)).allSatisfy(==)
  }
}
