import Foundation
import RequestBehaviorsTesting

// Runs seeds of the worlds: `SimulatedWorlds COUNT [FIRST [WORLD]]`. Seed and world are printed where one fails.
let worlds: [(name: String, build: @Sendable (SimulatedWorld) throws -> Void)] = [
  ("shop", { $0.buildShop() }), ("tokens", { $0.buildTokens() }), ("cache", { $0.buildCache() }),
  ("streams", { $0.buildStreams() }), ("portal", { $0.buildPortal() }), ("store", { try $0.buildStore() }),
  ("downloads", { try $0.buildDownloads() }), ("batch", { $0.buildBatch() }),
  ("signatures", { $0.buildSignatures() }), ("outbox", { try $0.buildOutbox() }),
]
let arguments = Array(CommandLine.arguments.dropFirst())
let count = arguments.first.flatMap(UInt64.init) ?? 2_000
let first = arguments.dropFirst().first.flatMap(UInt64.init) ?? UInt64.random(in: 1...1_000_000_000)
let chosen = worlds.filter { arguments.count < 3 || $0.name == arguments[2] }
guard !chosen.isEmpty else {
  print("there is no world \(arguments[2]); there are \(worlds.map(\.name).joined(separator: ", "))")
  exit(2)
}
let start = ContinuousClock.now
let tally = Tally(first..<first + count)
let printsDigests = ProcessInfo.processInfo.environment["SIMULATION_DIGESTS"] != nil
// Two at a time; each has a thread of its own.
await withTaskGroup(of: Void.self) { group in
  for _ in 0..<2 {
    group.addTask {
      while let seed = tally.next() {
        let world = chosen[Int(seed % UInt64(chosen.count))]
        do {
          let summary = try await Simulation(seed: seed, world.build).run()
          tally.add(summary)
          if printsDigests { print(seed, world.name, summary.digest) }
        } catch {
          print("\(error)\nto run it alone: swift run SimulatedWorlds 1 \(seed) \(world.name)")
          tally.addFailure()
        }
      }
    }
  }
}
let time = start.duration(to: .now)
let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) * 1e-18
print(tally.summary(seconds: seconds))
exit(tally.failures == 0 ? 0 : 1)
