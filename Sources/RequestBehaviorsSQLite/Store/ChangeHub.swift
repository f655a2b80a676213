internal import RequestBehaviors

/// Tells the waiters which tables a commit touched.
///
/// The cost of a commit depends on the tables that it touches and the waiters that it wakes, not on the number of
/// waiters for other tables.
final class ChangeHub: Sendable {
  /// The result of starting to wait for changes.
  enum Wait {
    /// A commit has already touched one of the tables; the number of the last commit.
    case isOver(Int)
    /// No commit will follow.
    case isFinished
    /// The wait goes on: the waiter gets the number of the commit, or nil at the end.
    case goesOn(id: Int, Waiter<Int?>)
  }

  fileprivate struct State {
    /// The number of published commits.
    ///
    /// A commit's number is this count after it was published.
    var commits = 0
    /// The number of the last commit that touched a table, by the table's lower-case name.
    var touched: [String: Int] = [:]
    /// The number of the last commit whose tables are not known.
    var unknown = 0
    var waiting: [Int: (tables: Set<String>?, waiter: Waiter<Int?>)] = [:]
    var waitingForTable: [String: Set<Int>] = [:]
    var waitingForAny: Set<Int> = []
    var lastWait = 0
    var isFinished = false
    /// Starts to look for commits of other processes until ``ChangeHub/goesOnPolling()`` is false; nil without polling.
    var poll: (@Sendable () -> Void)?
    var isPolling = false
  }

  private let state = Locked(State())

  /// The number of waiters.
  var waiterCount: Int { state.withLock { $0.waiting.count } }

  /// The number of the last commit.
  var lastCommit: Int { state.withLock { $0.commits } }

  /// Begins to wait for a commit that is later than the given one and touches one of the tables.
  ///
  /// - Parameters:
  ///   - tables: Lower-case names; nil for any table.
  ///   - number: The number of a commit.
  /// - Returns: The state of the wait.
  func wait(for tables: Set<String>?, after number: Int) -> Wait {
    let (wait, poll) = state.withLock { state -> (Wait, (@Sendable () -> Void)?) in
      if state.hasTouched(tables, after: number) { return (.isOver(state.commits), nil) }
      if state.isFinished { return (.isFinished, nil) }
      let (id, waiter) = state.add(tables)
      guard !state.isPolling else { return (.goesOn(id: id, waiter), nil) }
      state.isPolling = state.poll != nil
      return (.goesOn(id: id, waiter), state.poll)
    }
    poll?()
    return wait
  }

  /// Ends a wait that was cancelled.
  func leave(_ id: Int) { state.withLock { _ = $0.remove(id) } }

  /// Records a commit and wakes the waiters for its tables.
  ///
  /// - Parameter tables: Lower-case names; nil if they are not known.
  func publish(_ tables: Set<String>?) {
    let (number, due) = state.withLock { state -> (Int, [Waiter<Int?>]) in
      state.commits += 1
      guard let tables else {
        state.unknown = state.commits
        return (state.commits, state.removeAll())
      }
      var ids = state.waitingForAny
      for table in tables {
        state.touched[table] = state.commits
        if let waiting = state.waitingForTable[table] { ids.formUnion(waiting) }
      }
      return (state.commits, ids.sorted().compactMap { state.remove($0) })
    }
    let wake = { @Sendable in for waiter in due { waiter.settle(.success(number)) } }
    // Waking a thousand waiters takes a millisecond. The next write need not wait for that.
    if due.count > 8 { BlockingQueue.background(wake) } else { wake() }
  }

  /// Tells all waiters that no commit will follow.
  func finish() {
    let all = state.withLock { state in
      state.isFinished = true
      state.poll = nil
      return state.removeAll()
    }
    for waiter in all { waiter.settle(.success(nil)) }
  }

  /// Sets the closure that starts polling when a wait begins.
  func poll(by poll: @escaping @Sendable () -> Void) { state.withLock { $0.poll = poll } }

  /// Whether there are still waiters; if not, polling ends.
  func goesOnPolling() -> Bool {
    state.withLock { state in
      state.isPolling = !state.waiting.isEmpty
      return state.isPolling
    }
  }
}

extension ChangeHub.State {
  func hasTouched(_ tables: Set<String>?, after number: Int) -> Bool {
    guard commits > number, unknown <= number, let tables else { return commits > number }
    return tables.contains { touched[$0, default: 0] > number }
  }

  mutating func add(_ tables: Set<String>?) -> (Int, Waiter<Int?>) {
    lastWait += 1
    let waiter = Waiter<Int?>()
    waiting[lastWait] = (tables, waiter)
    guard let tables else {
      waitingForAny.insert(lastWait)
      return (lastWait, waiter)
    }
    for table in tables { waitingForTable[table, default: []].insert(lastWait) }
    return (lastWait, waiter)
  }

  mutating func remove(_ id: Int) -> Waiter<Int?>? {
    guard let (tables, waiter) = waiting.removeValue(forKey: id) else { return nil }
    waitingForAny.remove(id)
    for table in tables ?? [] {
      waitingForTable[table]?.remove(id)
      if waitingForTable[table]?.isEmpty == true { waitingForTable[table] = nil }
    }
    return waiter
  }

  /// Removes all waiters and returns them in the order in which they began to wait.
  mutating func removeAll() -> [Waiter<Int?>] {
    defer { (waiting, waitingForTable, waitingForAny) = ([:], [:], []) }
    return waiting.sorted { $0.key < $1.key }.map(\.value.waiter)
  }
}

/// The commits that one subscriber has not seen yet.
final class ChangeListener: Sendable {
  private let hub: ChangeHub
  private let seen: Locked<Int>

  /// Creates a subscriber that sees all commits from now on.
  init(_ hub: ChangeHub) {
    self.hub = hub
    seen = Locked(hub.lastCommit)
  }

  /// Waits until a commit has touched one of the tables since the last call; several commits since then count as one.
  ///
  /// - Parameter tables: Lower-case names; nil for any table.
  /// - Returns: False when the store is closed or the task cancelled.
  func wait(for tables: Set<String>?) async -> Bool {
    switch hub.wait(for: tables, after: seen.withLock { $0 }) {
    case .isOver(let number): return note(number)
    case .isFinished: return false
    case .goesOn(let id, let waiter):
      do {
        guard let number = try await waiter.value() else { return false }
        return note(number)
      } catch {
        hub.leave(id)
        return false
      }
    }
  }

  /// Forgets the commits so far.
  func forget() { _ = note(hub.lastCommit) }

  private func note(_ number: Int) -> Bool {
    seen.withLock { $0 = max($0, number) }
    return true
  }
}
