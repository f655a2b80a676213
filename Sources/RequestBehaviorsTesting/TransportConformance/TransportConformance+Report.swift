extension TransportConformance {
  /// How the cases ended.
  public struct Report: Sendable, CustomStringConvertible {
    /// How one case ended.
    public struct Outcome: Sendable {
      /// How a case ends.
      public enum Result: Sendable, Hashable {
        /// What it says holds.
        case passed
        /// It does not; the text tells what was found.
        case failed(String)
        /// It was not run, for the reason given.
        case excluded(String)
      }

      /// The name of the case.
      public let name: String
      /// How it ended.
      public let result: Result
    }

    /// How each case ended, in order.
    public let outcomes: [Outcome]

    /// The cases that failed.
    public var failures: [Outcome] { outcomes.filter { if case .failed = $0.result { true } else { false } } }

    /// The cases that were not run.
    public var exclusions: [Outcome] { outcomes.filter { if case .excluded = $0.result { true } else { false } } }

    /// How many cases ended in which way, then those that failed and those that were excluded, a line each.
    public var description: String {
      let (failures, exclusions) = (failures, exclusions)
      let passed = outcomes.count - failures.count - exclusions.count
      let head = "\(passed) passed, \(failures.count) failed, \(exclusions.count) excluded"
      let lines = (failures + exclusions).map { outcome in
        switch outcome.result {
        case .passed: "  passed: \(outcome.name)"
        case .failed(let found): "  failed: \(outcome.name): \(found)"
        case .excluded(let reason): "  excluded: \(outcome.name): \(reason)"
        }
      }
      return ([head] + lines).joined(separator: "\n")
    }
  }
}
