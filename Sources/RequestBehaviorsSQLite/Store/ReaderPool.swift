import Dispatch
import RequestBehaviors

/// A pool of read-only connections, which are opened when they are needed.
final class ReaderPool: WorkQueue {
  private typealias Receiver = @Sendable (ConnectionLane) -> Void

  private struct State {
    var idle: [ConnectionLane] = []
    var lanes: [ConnectionLane] = []
    var waiting = Line<Receiver>()
    var handedOut = 0
  }

  private let state = Locked(State())
  private let maximum: Int
  private let makeLane: @Sendable () -> ConnectionLane

  init(maximum: Int, makeLane: @escaping @Sendable () -> ConnectionLane) {
    self.maximum = max(1, maximum)
    self.makeLane = makeLane
  }

  var all: [ConnectionLane] { state.withLock { $0.lanes } }

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
    let last = state.withLock { $0.handedOut + $0.waiting.count }
    while state.withLock({ $0.handedOut < last }) {
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
    let borrowed = Locked<ConnectionLane?>(nil)
    let ready = DispatchSemaphore(value: 0)
    borrow { lane in
      borrowed.withLock { $0 = lane }
      ready.signal()
    }
    // A simulation has one thread: what the other readers are to do has not run yet.
    while RandomSource.isReplaced, borrowed.withLock({ $0 == nil }) { for lane in all { lane.runQueued() } }
    ready.wait()
    return borrowed.withLock { $0 } ?? makeLane()
  }

  /// Hands a reader to the closure, now or when one becomes free.
  private func borrow(_ receive: @escaping Receiver) {
    let lane = state.withLock { state -> ConnectionLane? in
      if let lane = state.idle.popLast() { return lane }
      if state.lanes.count < maximum {
        state.lanes.append(makeLane())
        return state.lanes.last
      }
      state.waiting.append(receive)
      return nil
    }
    if let lane { receive(lane) }
  }

  private func giveBack(_ lane: ConnectionLane) {
    let receive = state.withLock { state -> Receiver? in
      guard let receive = state.waiting.popFirst() else {
        state.idle.append(lane)
        return nil
      }
      state.handedOut += 1
      return receive
    }
    receive?(lane)
  }
}
