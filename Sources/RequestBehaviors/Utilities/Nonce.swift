/// Makes values that are used once.
package enum Nonce {
  /// Digits, a power of two of them.
  package struct Digits: Sendable {
    fileprivate let digits: [UInt8]
    /// How many make up 128 bits or a few more.
    fileprivate let count: Int

    /// 22 digits of 64 (RFC 4648 §5).
    package static let base64 = Digits("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", 22)
    /// 32 digits of 16.
    package static let hexadecimal = Digits("0123456789abcdef", 32)

    private init(_ digits: String, _ count: Int) { (self.digits, self.count) = (Array(digits.utf8), count) }
  }

  /// Makes a text of 128 random bits.
  ///
  /// - Parameters:
  ///   - digits: The digits to choose from.
  ///   - generator: Gives the bits.
  /// - Returns: The text.
  package static func make(
    _ digits: Digits = .base64, using generator: inout some RandomNumberGenerator
  ) -> String {
    let (mask, width) = (UInt64(digits.digits.count - 1), digits.digits.count.trailingZeroBitCount)
    return String(unsafeUninitializedCapacity: digits.count) { buffer in
      for half in 0..<2 {
        var bits = generator.next()
        for index in 0..<digits.count / 2 {
          // Of 64 digits, 11 want 66 bits: the last one of a half gets 4 bits of its own and 2 again.
          buffer[half * digits.count / 2 + index] = digits.digits[Int(bits & mask)]
          bits = bits >> width | bits << (64 - width)
        }
      }
      return digits.count
    }
  }

  /// Makes a text of 128 bits of the system's generator.
  ///
  /// - Parameter digits: The digits to choose from.
  /// - Returns: The text.
  package static func make(_ digits: Digits = .base64) -> String {
    var generator = SystemRandomNumberGenerator()
    return make(digits, using: &generator)
  }
}
