import Foundation
package import RequestBehaviors

/// Waits until behaviors have recorded so many decisions.
///
/// A behavior records a wait when the request is already in the queue.
package final class RecordedEvents: CallObserver {
  private struct State {
    var messages: [String] = []
    var watchers: [(count: Int, prefix: String, waiter: Waiter<Void>)] = []

    func count(_ prefix: String) -> Int { messages.count { $0.hasPrefix(prefix) } }
  }

  package let order = BehaviorOrder.observation
  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var state = State()

  package init() {}

  package func eventRecorded(_ event: Call.Event, of call: Call) {
    let due = lock.withLock {
      state.messages.append(event.message)
      let (due, rest) = (
        state.watchers.filter { state.count($0.prefix) >= $0.count },
        state.watchers.filter { state.count($0.prefix) < $0.count }
      )
      state.watchers = rest
      return due
    }
    for watcher in due { watcher.waiter.settle(.success(())) }
  }

  /// How many messages begin with a text.
  package func count(_ prefix: String) -> Int { lock.withLock { state.count(prefix) } }

  /// Returns as soon as so many messages begin with a text, or the task is cancelled.
  package func waitFor(_ count: Int, _ prefix: String) async {
    let waiter = Waiter<Void>()
    let isThere = lock.withLock {
      if state.count(prefix) >= count { return true }
      state.watchers.append((count, prefix, waiter))
      return false
    }
    if !isThere { try? await waiter.value() }
  }
}
