import Dispatch
internal import RequestBehaviors

/// Tells those who wait for changes which tables a commit touched.
///
/// A commit costs what it touches and what it wakes, however many wait for other tables.
final class ChangeHub: Sendable {
  /// What a wait for changes comes to.
  enum Wait {
    /// A commit has touched one of the tables; the number of the last commit.
    case isOver(Int)
    /// Nothing follows.
    case isFinished
    /// The waiter gets the number of the commit, or nil at the end.
    case goesOn(id: Int, Waiter<Int?>)
  }

  fileprivate struct State {
    /// How many commits were published; a commit's number is what it made of this.
    var commits = 0
    /// The number of the last commit that touched a table, by the table's lower-case name.
    var touched: [String: Int] = [:]
    /// The number of the last commit of which it is not known what it touched.
    var unknown = 0
    var waiting: [Int: (tables: Set<String>?, waiter: Waiter<Int?>)] = [:]
    var waitingForTable: [String: Set<Int>] = [:]
    var waitingForAny: Set<Int> = []
    var lastWait = 0
    var isFinished = false
    /// Looks for commits of others until ``ChangeHub/goesOnPolling()`` is false; nil where nothing does.
    var poll: (@Sendable () -> Void)?
    var isPolling = false
  }

  private let state = Locked(State())

  /// How many wait.
  var waiterCount: Int { state.withLock { $0.waiting.count } }

  /// The number of the last commit.
  var lastCommit: Int { state.withLock { $0.commits } }

  /// Begins to wait for a commit after the one of a number that touches one of the tables.
  ///
  /// - Parameters:
  ///   - tables: Lower-case names; nil for any table.
  ///   - number: The number of a commit.
  /// - Returns: What the wait comes to.
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

  /// Notes a commit and wakes those who wait for one of its tables.
  ///
  /// - Parameter tables: Lower-case names; nil if it is not known which.
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
    // To wake a thousand takes a millisecond, for which the next write need not wait.
    if due.count > 8 { DispatchQueue.global().async(execute: wake) } else { wake() }
  }

  /// Tells all that nothing follows.
  func finish() {
    let all = state.withLock { state in
      state.isFinished = true
      state.poll = nil
      return state.removeAll()
    }
    for waiter in all { waiter.settle(.success(nil)) }
  }

  /// Has the closure called when one begins to wait, unless it polls.
  func poll(by poll: @escaping @Sendable () -> Void) { state.withLock { $0.poll = poll } }

  /// Whether anything waits still; if not, polling has ended.
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

  /// Removes all who wait, and returns them in the order in which they came.
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
