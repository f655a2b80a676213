/// The events of a simulation: a digest of everything, and the last lines.
struct SimulationLog {
  private(set) var digest: UInt64 = 0
  private var lines: [String] = []
  private let kept = 60

  /// Adds a number to the digest.
  mutating func mix(_ number: UInt64) { digest = SimulatedRandom.mix(digest, number) }

  /// Adds a line.
  mutating func add(_ line: String) {
    mix(SimulatedRandom.hash(line))
    if lines.count >= 2 * kept { lines.removeFirst(kept) }
    lines.append(line)
  }

  /// The last lines, oldest first.
  var tail: [String] { Array(lines.suffix(kept)) }
}
