import Foundation

/// Tasks that wait for a condition which others bring about.
final class LoopbackWatchers: Sendable {
  private struct Watcher {
    let condition: @Sendable () -> Bool
    let continuation: CheckedContinuation<Void, Never>
  }

  private struct State {
    var nextID = 0
    var watchers: [Int: Watcher] = [:]
    var cancelled: Set<Int> = []
  }

  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var state = State()

  /// Returns when the condition holds, which is checked now and at each ``notify()``, or the task is cancelled.
  func wait(until condition: @escaping @Sendable () -> Bool) async {
    let id = lock.withLock {
      state.nextID += 1
      return state.nextID
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = lock.withLock {
          if state.cancelled.contains(id) || condition() { return true }
          state.watchers[id] = Watcher(condition: condition, continuation: continuation)
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      cancel(id)
    }
    lock.withLock { _ = state.cancelled.remove(id) }
  }

  /// Lets those go on whose condition holds now; to be called, without a lock that a condition takes, after a change.
  func notify() {
    let content = lock.withLock {
      if state.watchers.isEmpty { return [Watcher]() }
      let ids = state.watchers.filter { $0.value.condition() }.keys
      return ids.compactMap { state.watchers.removeValue(forKey: $0) }
    }
    for watcher in content { watcher.continuation.resume() }
  }

  private func cancel(_ id: Int) {
    let watcher = lock.withLock {
      state.cancelled.insert(id)
      return state.watchers.removeValue(forKey: id)
    }
    watcher?.continuation.resume()
  }
}
