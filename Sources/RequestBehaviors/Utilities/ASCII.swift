extension UInt8 {
  var isASCIIDigit: Bool { self &- 0x30 < 10 }
  var isASCIIUppercase: Bool { self &- 0x41 < 26 }
  var isASCIILowercase: Bool { self &- 0x61 < 26 }
  var isASCIIAlphanumeric: Bool { isASCIIDigit || (self | 0x20) &- 0x61 < 26 }
  /// Whether the byte is an ASCII character other than a letter or digit; `false` for bytes outside of ASCII.
  var isASCIIPunctuation: Bool { self < 0x80 && !isASCIIAlphanumeric }
  /// Whether the byte is a control character of ASCII (RFC 5234 Appendix B.1).
  package var isASCIIControl: Bool { self < 0x20 || self == 0x7F }
  var lowercasedASCII: UInt8 { isASCIIUppercase ? self | 0x20 : self }
}

/// A set of ASCII characters.
///
/// A lookup takes the same few instructions whatever is in the set. Copy the set before a loop, because each access to
/// a static property checks whether that is initialized.
package struct ASCIISet: Sendable {
  private var low: UInt64 = 0
  private var high: UInt64 = 0

  /// The unreserved characters of RFC 3986 §2.3: letters, digits, `-`, `.`, `_`, `~`.
  static let unreserved = ASCIISet(letters + digits + "-._~")
  /// The characters of both alphabets of base64 (RFC 4648 §4, §5), and its padding.
  static let base64 = ASCIISet(letters + digits + "+/-_=")

  static let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
  static let digits = "0123456789"

  /// Creates a set of the ASCII characters in a text; others are left out.
  init(_ text: String) {
    for byte in text.utf8 where byte < 0x80 {
      if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte - 64) }
    }
  }

  func contains(_ byte: UInt8) -> Bool {
    let half = byte < 64 ? low : high
    return byte < 0x80 && half &>> UInt64(byte & 63) & 1 == 1
  }
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
