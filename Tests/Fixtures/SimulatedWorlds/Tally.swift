import Foundation
import RequestBehaviors
import RequestBehaviorsTesting

/// Gives out seeds, until three have failed, and counts what came of them.
final class Tally: Sendable {
  private struct State {
    var seeds: Range<UInt64>
    var runs = 0
    var steps = 0
    var succeeded = 0
    var failures = 0
  }

  private let first: UInt64
  private let state: Locked<State>

  init(_ seeds: Range<UInt64>) {
    first = seeds.lowerBound
    state = Locked(State(seeds: seeds))
  }

  var failures: Int { state.withLock { $0.failures } }

  func next() -> UInt64? {
    state.withLock { $0.failures < 3 ? $0.seeds.popFirst() : nil }
  }

  func add(_ summary: Simulation.Summary) {
    state.withLock { state in
      state.runs += 1
      state.steps += summary.steps
      state.succeeded += summary.succeededCalls
    }
  }

  func addFailure() { state.withLock { $0.failures += 1 } }

  func summary(seconds: Double) -> String {
    state.withLock { state in
      "\(state.runs) seeds from \(first) hold, \(state.failures) fail, \(state.steps) jobs, "
        + "\(state.succeeded) calls that succeeded, \(Int(Double(state.steps) / seconds)) jobs a second, \(Int(seconds)) s"
    }
  }
}
