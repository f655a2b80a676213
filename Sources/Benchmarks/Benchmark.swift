/// One group of figures: what is measured, and the rows that come of it.
struct Benchmark: Sendable {
  /// What `--only` names.
  let name: String
  /// What is measured, and against what.
  let summary: String
  /// Measures and returns the rows.
  let run: @Sendable (Effort) async throws -> [Row]

  /// All groups, in the order in which they are printed.
  static let all: [Benchmark] =
    [
      .pipeline, .stack, .resilience, .throughput, .streams, .bodies, .oauth1, .tokens, .observation, .sqlite, .cache,
      .events,
    ] + overCurl

  #if canImport(CRequestBehaviorsCurl)
    private static let overCurl: [Benchmark] = [.curl]
  #else
    private static let overCurl: [Benchmark] = []
  #endif
}

/// How much is measured: less with `--quick`, for a look rather than a figure.
struct Effort: Sendable {
  let isQuick: Bool

  /// How many rounds of side-by-side measurements; the median of them is told.
  var rounds: Int { isQuick ? 3 : 9 }

  /// How many rounds of measurements so short that some are not disturbed at all.
  var shortRounds: Int { isQuick ? 20 : 100 }

  /// Returns the number of repetitions to use where the full measurement has so many.
  func scaled(_ count: Int) -> Int { isQuick ? max(1, count / 10) : count }
}

/// One line of the printed table.
struct Row {
  let label: String
  let figure: String
  var ratio: Double?
  var target: Target?

  /// What a figure should be.
  struct Target {
    let text: String
    let isMet: Bool

    static func atMost(_ limit: Double, _ value: Double, _ unit: String = "×") -> Target {
      Target(text: "≤ \(limit.formatted(2)) \(unit)", isMet: value <= limit)
    }

    static func atLeast(_ limit: Double, _ value: Double, _ unit: String = "×") -> Target {
      Target(text: "≥ \(limit.formatted(2)) \(unit)", isMet: value >= limit)
    }
  }
}
