extension UInt8 {
  var isASCIIDigit: Bool { self &- 0x30 < 10 }
  var isASCIIUppercase: Bool { self &- 0x41 < 26 }
  var isASCIILowercase: Bool { self &- 0x61 < 26 }
  var isASCIIAlphanumeric: Bool { isASCIIDigit || (self | 0x20) &- 0x61 < 26 }
  /// Whether the byte is an ASCII character other than a letter or digit; `false` for bytes outside of ASCII.
  var isASCIIPunctuation: Bool { self < 0x80 && !isASCIIAlphanumeric }
  var lowercasedASCII: UInt8 { isASCIIUppercase ? self | 0x20 : self }
}

extension [UInt8] {
  /// The octets as lower-case hexadecimal digits.
  package var hexadecimal: String {
    let digits = Array("0123456789abcdef".utf8)
    return String(unsafeUninitializedCapacity: count * 2) { buffer in
      for (index, byte) in enumerated() {
        buffer[index * 2] = digits[Int(byte >> 4)]
        buffer[index * 2 + 1] = digits[Int(byte & 15)]
      }
      return count * 2
    }
  }
}
