/// A generator of values that are used once.
package enum Nonce {
  /// A set of digits; their number is a power of two.
  package struct Digits: Sendable {
    fileprivate let digits: [UInt8]
    /// The number of digits that hold at least 128 bits.
    fileprivate let count: Int

    /// 22 digits from a set of 64 (RFC 4648 §5).
    package static let base64 = Digits("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", 22)
    /// 32 digits from a set of 16.
    package static let hexadecimal = Digits("0123456789abcdef", 32)

    private init(_ digits: String, _ count: Int) { (self.digits, self.count) = (Array(digits.utf8), count) }
  }

  /// Returns a text of 128 bits.
  ///
  /// - Parameters:
  ///   - digits: The set of digits.
  ///   - words: The bits. They are values, because the thread sanitizer takes a generator without storage that is
  ///     passed here for one that threads share.
  /// - Returns: The text.
  package static func make(_ digits: Digits = .base64, of words: (UInt64, UInt64)) -> String {
    let (mask, width) = (UInt64(digits.digits.count - 1), digits.digits.count.trailingZeroBitCount)
    return String(unsafeUninitializedCapacity: digits.count) { buffer in
      for half in 0..<2 {
        var bits = half == 0 ? words.0 : words.1
        for index in 0..<digits.count / 2 {
          // With 64 digits, 11 of them need 66 bits: the last one of each half gets 4 new bits and reuses 2.
          buffer[half * digits.count / 2 + index] = digits.digits[Int(bits & mask)]
          bits = bits >> width | bits << (64 - width)
        }
      }
      return digits.count
    }
  }

  /// Returns a text of 128 bits from ``RandomSource``.
  ///
  /// - Parameter digits: The set of digits.
  /// - Returns: The text.
  package static func make(_ digits: Digits = .base64) -> String {
    var source = RandomSource()
    return make(digits, of: (source.next(), source.next()))
  }
}
