/// The generator xoshiro256++ 1.0 of Blackman and Vigna (<https://prng.di.unimi.it>), for numbers that are no secrets.
///
/// Its state has 256 bits, so that two processes do not get the same numbers. Its next numbers can be computed from
/// those before.
package struct Xoshiro256: RandomNumberGenerator {
  private var state: (UInt64, UInt64, UInt64, UInt64)

  /// Creates a generator with a state.
  ///
  /// - Parameter state: Four words, of which at least one is not zero.
  package init(state: (UInt64, UInt64, UInt64, UInt64)) { self.state = state }

  /// Creates a generator with a state from another one, which must not give four zeros.
  package init(seededBy other: inout some RandomNumberGenerator) {
    self.init(state: (other.next(), other.next(), other.next(), other.next()))
  }

  /// Returns 64 random bits.
  package mutating func next() -> UInt64 {
    let result = Xoshiro256.rotate(state.0 &+ state.3, by: 23) &+ state.0
    let shifted = state.1 << 17
    state.2 ^= state.0
    state.3 ^= state.1
    state.1 ^= state.2
    state.0 ^= state.3
    state.2 ^= shifted
    state.3 = Xoshiro256.rotate(state.3, by: 45)
    return result
  }

  private static func rotate(_ word: UInt64, by count: UInt64) -> UInt64 { word << count | word >> (64 - count) }
}
