/// A group of figures: its title and the function that measures its rows.
struct Benchmark: Sendable {
  /// The name that `--only` selects.
  let name: String
  /// The title: the measured work and its yardstick.
  let summary: String
  /// Measures and returns the rows.
  let run: @Sendable (Effort) async throws -> [Row]

  /// All groups, in the order in which they are printed.
  static let all: [Benchmark] =
    [
      .pipeline, .stack, .resilience, .throughput, .streams, .bodies, .oauth1, .tokens, .observation, .sqlite, .cache,
      .events, .outbox,
    ] + overCurl

  #if canImport(CRequestBehaviorsCurl)
    private static let overCurl: [Benchmark] = [.curl]
  #else
    private static let overCurl: [Benchmark] = []
  #endif
}

/// The amount of measuring: less with `--quick`, which gives an impression rather than a figure.
struct Effort: Sendable {
  let isQuick: Bool

  /// The number of rounds of side-by-side measurements; their median is reported.
  var rounds: Int { isQuick ? 3 : 9 }

  /// The number of rounds for measurements so short that some are not disturbed at all.
  var shortRounds: Int { isQuick ? 20 : 100 }

  /// Returns the number of repetitions to use for a number in the full measurement.
  func scaled(_ count: Int) -> Int { isQuick ? max(1, count / 10) : count }
}

/// One line of the printed table.
struct Row {
  var label: String
  let figure: String
  var ratio: Double?
  var target: Target?
  /// The target that was set before, for a comparison with earlier runs.
  var former: Target?

  /// The target of a figure.
  struct Target {
    let text: String
    let isMet: Bool

    /// The target, and whether it is met.
    var verdict: String { "\(text) \(isMet ? "met" : "MISSED")" }

    static func atMost(_ limit: Double, _ value: Double, _ unit: String = "×") -> Target {
      Target(text: "≤ \(limit.formatted(2)) \(unit)", isMet: value <= limit)
    }

    static func atLeast(_ limit: Double, _ value: Double, _ unit: String = "×") -> Target {
      Target(text: "≥ \(limit.formatted(2)) \(unit)", isMet: value >= limit)
    }
  }
}
