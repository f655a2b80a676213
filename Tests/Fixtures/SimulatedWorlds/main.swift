import Foundation
import RequestBehaviorsTesting

// Runs seeds of the worlds: `SimulatedWorlds COUNT [FIRST]`.
let arguments = CommandLine.arguments.dropFirst().compactMap(UInt64.init)
let count = arguments.first ?? 2_000
let first = arguments.dropFirst().first ?? UInt64.random(in: 1...1_000_000_000)
let start = ContinuousClock.now
var (steps, succeeded, failures) = (0, 0, 0)
for seed in first..<first + count {
  do {
    let summary = try await Simulation(seed: seed) { $0.buildShop() }.run()
    steps += summary.steps
    succeeded += summary.succeededCalls
  } catch {
    failures += 1
    print(error)
    if failures >= 3 { exit(1) }
  }
}
let time = start.duration(to: .now)
let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) * 1e-18
print(
  "\(count) seeds from \(first), \(steps) jobs, \(succeeded) calls that succeeded, \(Int(Double(steps) / seconds)) jobs a second"
)
exit(failures == 0 ? 0 : 1)
