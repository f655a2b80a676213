/// Makes values that are used once.
package enum Nonce {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  /// Returns 22 characters of 6 random bits each: 132 bits.
  package static func make(using generator: inout some RandomNumberGenerator) -> String {
    String(unsafeUninitializedCapacity: 22) { buffer in
      for half in 0..<2 {
        var bits = generator.next()
        for index in 0..<11 {
          // 11 × 6 = 66 bits are wanted of 64: the last character of a half gets 4 of its own and 2 again.
          buffer[half * 11 + index] = alphabet[Int(bits & 63)]
          bits = bits >> 6 | bits << 58
        }
      }
      return 22
    }
  }

  /// Returns 22 characters from the system's generator.
  package static func make() -> String {
    var generator = SystemRandomNumberGenerator()
    return make(using: &generator)
  }
}
