import Foundation
import RequestBehaviors

/// Holds arrivals until it is opened, and counts them.
package final class TestGate: Sendable {
  private struct State {
    var isOpen = false
    var arrivals = 0
    var held: [CheckedContinuation<Void, Never>] = []
    var watchers: [(count: Int, waiter: Waiter<Void>)] = []
  }

  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var state = State()

  package init() {}

  /// How many have come.
  package var arrivalCount: Int { lock.withLock { state.arrivals } }

  /// Counts an arrival and returns when the gate is open, whether or not the task is cancelled.
  package func pass() async {
    await withCheckedContinuation { count(holding: $0) }
  }

  /// Counts an arrival that is not held.
  package func arrive() { count(holding: nil) }

  private func count(holding continuation: CheckedContinuation<Void, Never>?) {
    let (isOpen, watchers) = lock.withLock {
      state.arrivals += 1
      if let continuation, !state.isOpen { state.held.append(continuation) }
      let arrivals = state.arrivals
      let due = state.watchers.filter { $0.count <= arrivals }
      state.watchers.removeAll { $0.count <= arrivals }
      return (state.isOpen, due)
    }
    for watcher in watchers { watcher.waiter.settle(.success(())) }
    if isOpen { continuation?.resume() }
  }

  /// Returns as soon as so many have come, or the task is cancelled.
  package func waitForArrivals(_ count: Int) async {
    let waiter = Waiter<Void>()
    let isThere = lock.withLock {
      if state.arrivals >= count { return true }
      state.watchers.append((count, waiter))
      return false
    }
    if !isThere { try? await waiter.value() }
  }

  package func open() {
    let held = lock.withLock {
      state.isOpen = true
      defer { state.held = [] }
      return state.held
    }
    for continuation in held { continuation.resume() }
  }
}
