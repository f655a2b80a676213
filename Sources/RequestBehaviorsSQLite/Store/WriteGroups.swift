internal import CRequestBehaviorsSQLite
internal import RequestBehaviors

/// A write that may run again, and may be committed together with others.
///
/// It is used on the writer's queue only, except for its interruption.
final class GroupedWrite: @unchecked Sendable {
  let durability: SQLiteDurability
  let interruption: Interruption
  let body: @Sendable (Database) throws -> Void
  /// Throws if the write must not be committed any more.
  private let check: @Sendable () throws -> Void
  /// Runs on the lane after the commit.
  let after: (@Sendable (ConnectionLane) -> Void)?
  private let continuation: CheckedContinuation<Void, any Error>
  private var hasBegun = false
  private var isAnswered = false
  /// The result of the write; nil until its transaction has ended.
  var result: Result<Void, any Error>?

  init(
    durability: SQLiteDurability, interruption: Interruption, continuation: CheckedContinuation<Void, any Error>,
    check: @escaping @Sendable () throws -> Void = {}, body: @escaping @Sendable (Database) throws -> Void,
    after: (@Sendable (ConnectionLane) -> Void)? = nil
  ) {
    self.durability = durability
    self.interruption = interruption
    self.continuation = continuation
    self.check = check
    self.body = body
    self.after = after
  }

  var isOpen: Bool { result == nil && !isAnswered }

  /// Returns whether the write is to run, perhaps again.
  ///
  /// A caller that was cancelled while it waited already has its error.
  func begin() -> Bool {
    if !hasBegun {
      hasBegun = interruption.begin()
      isAnswered = !hasBegun
    } else if interruption.isCancelled {
      result = .failure(CancellationError())
    }
    return isOpen
  }

  /// The error of a write that must not be committed any more; `nil` if it may be.
  var reasonToLeave: (any Error)? {
    if interruption.isCancelled { return CancellationError() }
    do { try check() } catch { return error }
    return nil
  }

  /// Resumes the caller, after the work that follows the commit.
  func resume(on lane: ConnectionLane) {
    guard let result else { return }
    if case .success = result { after?(lane) }
    continuation.resume(with: result)
  }
}

/// Commits writes that wait at the same time together: one commit, and for full durability one wait for the disk.
final class WriteGroups: Sendable {
  /// The largest number of writes in a transaction.
  private static let maximumWrites = 64

  private let waiting = Locked<[GroupedWrite]>([])

  /// The number of writes that wait.
  var count: Int { waiting.withLock { $0.count } }

  /// Adds a write to those that wait for the writer.
  func add(_ write: GroupedWrite, to lane: ConnectionLane) {
    waiting.withLock { waiting in
      waiting.append(write)
      // Each transaction gets its place in the queue when its first write comes. A place that it got only after an
      // earlier transaction would be behind the end of a store that is being closed.
      if waiting.count % Self.maximumWrites == 1 { lane.enqueue(runNext) }
    }
  }

  /// Runs the waiting writes of one transaction and returns a closure that resumes their callers.
  private func runNext(_ lane: ConnectionLane) -> () -> Void {
    let writes = waiting.withLock { waiting in
      let writes = Array(waiting.prefix(Self.maximumWrites))
      waiting.removeFirst(writes.count)
      return writes
    }
    run(writes, on: lane)
    return {
      // The others do not wait for work that follows the commit.
      for write in writes where write.after == nil { write.resume(on: lane) }
      for write in writes where write.after != nil { write.resume(on: lane) }
    }
  }

  /// Runs the writes until each has ended.
  private func run(_ writes: [GroupedWrite], on lane: ConnectionLane) {
    // Few writes fail, and a savepoint for each would be a tenth of their cost.
    var usesSavepoints = false
    while true {
      let open = writes.filter(\.isOpen)
      guard open.count > 1 else { return runSingly(open, on: lane) }
      do {
        // The latest of them has waited for the shortest time.
        let latest = open.map(\.interruption.queuedAt).max() ?? .now
        try lane.perform(Interruption(queuedAt: latest)) { try $0.write(open, usesSavepoints: usesSavepoints) }
      } catch is WriteHasFailed {
        usesSavepoints = true
      } catch let undone as WritesHaveLeft {
        // The others run again without them.
        for (write, error) in undone.writes { write.result = .failure(error) }
      } catch let undone as GroupIsUndone {
        undone.write?.result = .failure(undone.error)
        // Only a cancellation concerns one write alone. Another error, such as a full disk, may affect the others too.
        guard undone.write != nil, undone.error is CancellationError else { return runSingly(writes, on: lane) }
      } catch {
        for write in open where write.begin() { write.result = .failure(error) }
      }
    }
  }

  private func runSingly(_ writes: [GroupedWrite], on lane: ConnectionLane) {
    for write in writes where write.isOpen && write.begin() {
      write.result = Result {
        try lane.perform(write.interruption) { connection in
          try connection.write(durability: write.durability) { db in
            try write.body(db)
            if let reason = write.reasonToLeave { throw reason }
          }
        }
      }
    }
  }
}

/// The error of a transaction of several writes that was undone as a whole.
private struct GroupIsUndone: Error {
  /// The write that undid it; nil if the commit failed.
  var write: GroupedWrite?
  var error: any Error
}

/// The error of a transaction that was undone because a write failed that had no savepoint.
private struct WriteHasFailed: Error {}

/// The error of a transaction that was undone because some of its writes must not be committed any more.
private struct WritesHaveLeft: Error {
  var writes: [(GroupedWrite, any Error)]
}

extension Connection {
  /// The number of changed rows from which a transaction takes no further writes: the commit then costs little beside
  /// them.
  private static let rowsOfGroup: Int32 = 1000

  /// Runs writes in one transaction, and records how each ended.
  ///
  /// A write that is left open has not run, or was undone with the transaction.
  ///
  /// - Parameters:
  ///   - group: The writes.
  ///   - usesSavepoints: Whether each runs in a savepoint of its own, so that one that fails leaves the others alone.
  /// - Throws: The error of all writes if the transaction could not begin; `WriteHasFailed`, `GroupIsUndone` or
  ///   `WritesHaveLeft` if it was undone.
  fileprivate func write(_ group: [GroupedWrite], usesSavepoints: Bool) throws {
    var results: [(GroupedWrite, Result<Void, any Error>)] = []
    var hasBegun = false
    let shared = interruption
    do {
      try transaction(durability: group.contains { $0.durability == .full } ? .full : .normal) {
        hasBegun = true
        let changes = sqlite3_total_changes(handle)
        for write in group where sqlite3_total_changes(handle) &- changes < Self.rowsOfGroup && write.begin() {
          interruption = write.interruption
          let result = Result { try run(write.body, inSavepoint: usesSavepoints) }
          interruption = shared
          if case .failure(let error) = result {
            // After some errors, such as a full disk, SQLite has undone the whole transaction.
            if sqlite3_get_autocommit(handle) != 0 { throw GroupIsUndone(write: write, error: error) }
            if !usesSavepoints { throw WriteHasFailed() }
          }
          results.append((write, result))
        }
        // A caller may have been cancelled, or a user may have signed out, while the others of the group ran.
        let left = results.compactMap { write, _ in write.reasonToLeave.map { (write, $0) } }
        if !left.isEmpty { throw WritesHaveLeft(writes: left) }
      }
    } catch let error where error is GroupIsUndone || error is WritesHaveLeft || error is WriteHasFailed {
      throw error
    } catch {
      throw hasBegun ? GroupIsUndone(error: error) : error
    }
    // A write has ended only when the commit has succeeded.
    for (write, result) in results { write.result = result }
  }

  private func run(_ body: (Database) throws -> Void, inSavepoint: Bool) throws {
    let database = Database(connection: self, isReadOnly: false)
    defer { database.end() }
    func work() throws {
      try body(database)
      try checkTransaction()
      if mustStop { throw failure(SQLITE_INTERRUPT) }
    }
    if inSavepoint { try database.savepoint(work) } else { try work() }
  }
}
