import Foundation
import RequestBehaviors

/// One run of a world, from its first job to its last check.
struct SimulationRun {
  let world: SimulatedWorld
  let stepLimit: Int

  func run() throws -> Simulation.Summary {
    world.begin()
    try runUntilEnd { world.isOver }
    world.network.endTroubles()
    for (name, work) in world.lastly {
      let activity = world.finally(name, work)
      try runUntilEnd { activity.result != nil }
      if let error = activity.error { throw failure(name, "it failed: \(error)") }
    }
    try drain()
    for (name, holds) in world.checks {
      try check(name, holds, "it does not hold at the end")
    }
    if let (kind, detail) = world.problem() { throw failure(kind, detail) }
    if let stray = scheduler.strays.first {
      throw failure("another thread resumed a task", SimulationRun.explanation(of: stray))
    }
    let succeeded = world.calls.count(where: \.hasSucceeded)
    world.forgetResults()
    if let held = world.heldCalls.first {
      throw failure("a call is not released", "\(held) is still held by something")
    }
    return Simulation.Summary(
      steps: scheduler.steps, time: scheduler.time.now, digest: scheduler.log.digest,
      succeededCalls: succeeded)
  }

  private var scheduler: SimulationScheduler { world.scheduler }

  private func runUntilEnd(_ isDone: () -> Bool) throws {
    while true {
      switch try scheduler.run(limit: stepLimit, afterStep: checkStep, until: isDone) {
      case .done: return
      case .tooManySteps:
        throw failure("it does not end", "after \(scheduler.steps) jobs; open: \(openNames)")
      case .nothingToDo:
        if world.beginWhatWaits() || scheduler.waitForOutside() { continue }
        throw failure("nothing is left to wait for", "but these have not ended: \(openNames)")
      }
    }
  }

  /// Runs what is ready, and what wakes up within an hour, so that background work can end.
  private func drain() throws {
    let end = scheduler.time.now + .seconds(3_600)
    let ending = try scheduler.run(limit: stepLimit, afterStep: checkStep) { [scheduler] in
      !scheduler.hasReadyJobs && (scheduler.time.wakeUps.first.map { $0 > end } ?? true)
    }
    guard ending == .tooManySteps else { return }
    throw failure("it does not end", "after \(scheduler.steps) jobs, although all calls have ended")
  }

  private func check(_ name: String, _ holds: () throws -> Bool, _ detail: String) throws {
    var detail = detail
    do {
      if try holds() { return }
    } catch {
      detail = "\(error)"
    }
    throw failure(name, detail)
  }

  private func checkStep() throws {
    guard scheduler.steps % 64 == 0 else { return }
    for (name, holds) in world.constantChecks {
      try check(name, holds, "it does not hold after \(scheduler.steps) jobs")
    }
  }

  private var openNames: String { world.open.map(\.name).joined(separator: ", ") }

  private func failure(_ kind: String, _ detail: String) -> SimulationFailure {
    var detail = detail
    if let stray = scheduler.strays.first { detail += "; besides, \(SimulationRun.explanation(of: stray))" }
    return SimulationFailure(
      seed: world.seed, kind: kind, detail: detail, parts: world.includedParts, log: scheduler.log.tail)
  }

  private static func explanation(of stray: String) -> String {
    "a task of \"\(stray)\" was resumed by another thread: it slept in real time (Task.sleep), yielded in an "
      + "actor (Task.yield), went to the MainActor, or used a queue, a thread or a file; wait on request.call.clock, or leave it out of the world"
  }
}
