import Dispatch
import Foundation
import RequestBehaviors

/// A pool of read-only connections, which are opened when they are needed.
final class ReaderPool: WorkQueue, @unchecked Sendable {
  private typealias Receiver = @Sendable (ConnectionLane) -> Void

  // All that follows, except the constants, is protected by `lock`.
  private let lock = NSLock()
  private var idle: [ConnectionLane] = []
  private var lanes: [ConnectionLane] = []
  private var waiting: [Receiver] = []
  private var handedOut = 0
  private let maximum: Int
  private let makeLane: @Sendable () -> ConnectionLane

  init(maximum: Int, makeLane: @escaping @Sendable () -> ConnectionLane) {
    self.maximum = max(1, maximum)
    self.makeLane = makeLane
  }

  var all: [ConnectionLane] { lock.withLock { lanes } }

  /// Runs the job on the reader that was used last, on a new one, or on the first that becomes free.
  func enqueue(_ job: @escaping ConnectionLane.Job) {
    borrow { lane in
      lane.enqueue {
        // The reader is given back before the caller is resumed. The caller's next read then finds this reader's thread
        // awake and need not wake another.
        let answer = job($0)
        self.giveBack($0)
        return answer
      }
    }
  }

  /// Waits until all jobs so far have ended, including those that still wait.
  ///
  /// Later jobs are not waited for.
  func drain() async {
    let last = lock.withLock { handedOut + waiting.count }
    while lock.withLock({ handedOut < last }) {
      for lane in all { await lane.drain() }
    }
    for lane in all { await lane.drain() }
  }

  /// Waits for a reader and runs the closure with it on this thread.
  func withLane<T>(_ body: (ConnectionLane) throws -> T) throws -> T {
    let lane = waitForLane()
    defer { giveBack(lane) }
    return try body(lane)
  }

  private func waitForLane() -> ConnectionLane {
    // The semaphore orders the two threads' use of `borrowed`.
    nonisolated(unsafe) var borrowed: ConnectionLane?
    let ready = DispatchSemaphore(value: 0)
    borrow { lane in
      borrowed = lane
      ready.signal()
    }
    // A simulation has one thread: what the other readers are to do has not run yet.
    while RandomSource.isReplaced, borrowed == nil { for lane in all { lane.runQueued() } }
    ready.wait()
    return borrowed ?? makeLane()
  }

  /// Hands a reader to the closure, now or when one becomes free.
  private func borrow(_ receive: @escaping Receiver) {
    let lane = lock.withLock { () -> ConnectionLane? in
      if let lane = idle.popLast() { return lane }
      if lanes.count < maximum {
        lanes.append(makeLane())
        return lanes.last
      }
      waiting.append(receive)
      return nil
    }
    if let lane { receive(lane) }
  }

  private func giveBack(_ lane: ConnectionLane) {
    let receive = lock.withLock { () -> Receiver? in
      guard !waiting.isEmpty else {
        idle.append(lane)
        return nil
      }
      handedOut += 1
      return waiting.removeFirst()
    }
    receive?(lane)
  }
}
