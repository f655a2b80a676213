import Foundation

/// Read-only connections, opened when they are needed.
final class ReaderPool: @unchecked Sendable {
  typealias Job = @Sendable (ConnectionLane) -> Void

  // `idle`, `opened` and `waiting` are protected by `lock`.
  private let lock = NSLock()
  private var idle: [ConnectionLane] = []
  private var lanes: [ConnectionLane] = []
  private var waiting: [Job] = []
  private var firstWaiting = 0
  private let maximum: Int
  private let makeLane: @Sendable () -> ConnectionLane

  init(maximum: Int, makeLane: @escaping @Sendable () -> ConnectionLane) {
    self.maximum = max(1, maximum)
    self.makeLane = makeLane
  }

  /// Runs the job on the reader that was used last, on a new one, or on the first that becomes free.
  func enqueue(_ job: @escaping Job) {
    guard let lane = lock.withLock({ take(orAppend: job) }) else { return }
    lane.enqueue { self.run(job, on: $0) }
  }

  var all: [ConnectionLane] { lock.withLock { lanes } }

  private func take(orAppend job: @escaping Job) -> ConnectionLane? {
    if let lane = idle.popLast() { return lane }
    if lanes.count < maximum {
      let lane = makeLane()
      lanes.append(lane)
      return lane
    }
    waiting.append(job)
    return nil
  }

  private func run(_ job: Job, on lane: ConnectionLane) {
    job(lane)
    guard let next = lock.withLock({ next(for: lane) }) else { return }
    // Queued anew rather than run here: a drain of the queue must not wait for a backlog without end.
    lane.enqueue { self.run(next, on: $0) }
  }

  private func next(for lane: ConnectionLane) -> Job? {
    guard firstWaiting < waiting.count else {
      waiting.removeAll(keepingCapacity: true)
      firstWaiting = 0
      idle.append(lane)
      return nil
    }
    defer { firstWaiting += 1 }
    return waiting[firstWaiting]
  }
}
