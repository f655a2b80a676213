import Foundation

/// Tells whoever listens which tables a commit touched.
final class ChangeHub: @unchecked Sendable {
  private struct Entry {
    weak var listener: ChangeListener?
  }

  // What follows is protected by `lock`.
  private let lock = NSLock()
  private var entries: [Entry] = []
  private var isFinished = false

  /// Returns a subscriber that is notified of all commits from now on, for as long as it is kept.
  func listen() -> ChangeListener {
    let listener = ChangeListener()
    let isLate = lock.withLock {
      entries.removeAll { $0.listener == nil }
      entries.append(Entry(listener: listener))
      return isFinished
    }
    if isLate { listener.finish() }
    return listener
  }

  func publish(_ touched: Set<String>) {
    for listener in listeners { listener.note(touched) }
  }

  /// Tells all that nothing follows.
  func finish() {
    lock.withLock { isFinished = true }
    for listener in listeners { listener.finish() }
  }

  var listeners: [ChangeListener] { lock.withLock { entries.compactMap(\.listener) } }
}

/// The commits that one subscriber has not seen yet.
final class ChangeListener: @unchecked Sendable {
  private struct Waiter {
    /// Lower-case names of the tables that it waits for; nil for any.
    var tables: Set<String>?
    var continuation: CheckedContinuation<Bool, Never>
  }

  // What follows is protected by `lock`.
  private let lock = NSLock()
  private var touched: Set<String> = []
  private var isFinished = false
  private var waiters: [Int: Waiter] = [:]
  private var nextWaiter = 0

  /// Waits until a commit has touched one of the tables since the last call; several commits since then count as one.
  ///
  /// - Parameter tables: Lower-case names; nil for any table.
  /// - Returns: False when the store is closed or the task cancelled.
  func wait(for tables: Set<String>?) async -> Bool {
    let id = lock.withLock {
      nextWaiter += 1
      return nextWaiter
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer: Bool? = lock.withLock {
          if takeTouched(tables) { return true }
          if isFinished || Task.isCancelled { return false }
          waiters[id] = Waiter(tables: tables, continuation: continuation)
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      let waiter = lock.withLock { waiters.removeValue(forKey: id) }
      waiter?.continuation.resume(returning: false)
    }
  }

  /// Forgets the commits so far.
  func forget() { lock.withLock { touched = [] } }

  func note(_ tables: Set<String>) {
    let due = lock.withLock {
      touched.formUnion(tables)
      let due = waiters.filter { takeTouched($0.value.tables) }
      for id in due.keys { waiters[id] = nil }
      return due.values
    }
    for waiter in due { waiter.continuation.resume(returning: true) }
  }

  func finish() {
    let all = lock.withLock {
      isFinished = true
      defer { waiters = [:] }
      return waiters.values
    }
    for waiter in all { waiter.continuation.resume(returning: false) }
  }

  private func takeTouched(_ tables: Set<String>?) -> Bool {
    let isDue = tables.map { !$0.isDisjoint(with: touched) } ?? !touched.isEmpty
    if isDue { touched = [] }
    return isDue
  }
}
