/// Random numbers that are the same for the same seed: SplitMix64.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Creates a generator.
  public init(seed: UInt64) { state = seed }

  /// Returns the next number.
  public mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// Creates the generator of one of many tasks: their turns are not the same in every run, so each has its own.
  public init(seed: UInt64, task: Int) { self.init(seed: seed &* 1_000_000 &+ UInt64(truncatingIfNeeded: task)) }

  /// Lets other tasks go first, so many times at most.
  ///
  /// This only varies the interleaving: no test may count on what others have done by then.
  public mutating func yield(upTo count: Int) async {
    for _ in 0..<Int.random(in: 0...count, using: &self) { await Task.yield() }
  }

  /// Returns random octets, as many as the count at most.
  public mutating func octets(upTo count: Int) -> [UInt8] {
    (0..<Int.random(in: 0...count, using: &self)).map { _ in UInt8.random(in: 0...255, using: &self) }
  }
}
