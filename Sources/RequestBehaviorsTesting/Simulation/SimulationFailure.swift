/// Why a simulation failed, and how to run it again.
public struct SimulationFailure: Error, Sendable, CustomStringConvertible {
  /// The seed.
  public let seed: UInt64
  /// The kind of the fault, such as the name of a check; the same for the same fault under other seeds.
  public let kind: String
  /// The case that was found.
  public let detail: String
  /// The parts of the world that took part; see ``SimulatedWorld/includes(_:chance:)``.
  public let parts: [String]
  /// The last lines of the log, oldest first, each with its step and its time.
  public let log: [String]

  /// The fault, how to run it again, and the end of the log.
  public var description: String {
    var lines = [
      "\(kind): \(detail)", "seed \(seed); to run it alone: SIMULATION_SEED=\(seed) swift test --filter <this test>",
    ]
    if !parts.isEmpty { lines.append("it takes: \(parts.joined(separator: ", "))") }
    lines.append("the last \(log.count) lines of the log:")
    return (lines + log.map { "  \($0)" }).joined(separator: "\n")
  }
}
