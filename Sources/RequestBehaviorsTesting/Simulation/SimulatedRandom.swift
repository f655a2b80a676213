/// A stream of random numbers that a seed and a name decide.
///
/// Each part of a simulation draws from its own stream, so that leaving one part out does not affect the others.
/// The generator is SplitMix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", 2014).
public struct SimulatedRandom: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Creates a stream.
  ///
  /// - Parameters:
  ///   - seed: The seed of the simulation.
  ///   - name: The name of the stream.
  public init(seed: UInt64, name: String) { state = SimulatedRandom.mix(seed, SimulatedRandom.hash(name)) }

  /// Returns 64 random bits.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    return SimulatedRandom.finish(state)
  }

  /// Returns true with a probability.
  public mutating func chance(_ probability: Double) -> Bool { Double.random(in: 0..<1, using: &self) < probability }

  /// Mixes two numbers to one that looks random.
  static func mix(_ first: UInt64, _ second: UInt64) -> UInt64 {
    finish(finish(first &+ 0x9E37_79B9_7F4A_7C15) ^ second)
  }

  /// The FNV-1a hash of a text, which is the same in every process.
  static func hash(_ text: String) -> UInt64 {
    text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }

  private static func finish(_ value: UInt64) -> UInt64 {
    var bits = value
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }
}
