/// Work that others wait for, and that may wait for other work itself.
///
/// It is a flight of a ``Coalescer``, a batch of a ``BatchBehavior``, a validation of a stored response, the message of
/// a session to its clients that an owner has ended, an operation on a token store, or a task of an outbox that serves
/// entries.
package protocol AwaitedWork: AnyObject, Sendable {
  /// Whether the work has ended.
  var isOver: Bool { get }
}

/// A wait for the end of work.
///
/// A wait that would close a circle is refused: no work of a circle could end.
package struct WorkWait: Sendable {
  /// The work that this task is a part of.
  ///
  /// Work that a task begins for others is not a part of the task's own work: what waits for it is recorded.
  @TaskLocal package static var current: (any AwaitedWork)?

  private static let graph = Locked(WaitGraph())

  private let waiting: (any AwaitedWork)?
  private let work: any AwaitedWork

  /// Records that work waits for the end of other work, until ``end()``.
  ///
  /// It is `nil` if both are the same, or the other work waits for this one, directly or through others.
  ///
  /// - Parameters:
  ///   - waiting: The work that waits; by default the one that this task is a part of. Work that is over does not wait.
  ///   - work: The other work.
  package init?(of waiting: (any AwaitedWork)? = WorkWait.current, for work: any AwaitedWork) {
    let waiting = waiting.flatMap { $0.isOver ? nil : $0 }
    self.waiting = waiting
    self.work = work
    guard let waiting else { return }
    guard WorkWait.graph.withLock({ $0.begin(waiting, for: work) }) else { return nil }
  }

  /// Records the end of the wait.
  package func end() {
    guard let waiting else { return }
    WorkWait.graph.withLock { $0.end(waiting, for: work) }
  }
}

/// Which works wait for which others.
private struct WaitGraph: Sendable {
  /// How often each work waits for each other one.
  ///
  /// Both are alive for as long as the wait is recorded.
  private var counts: [ObjectIdentifier: [ObjectIdentifier: Int]] = [:]

  mutating func begin(_ waiting: any AwaitedWork, for work: any AwaitedWork) -> Bool {
    let (waiting, work) = (ObjectIdentifier(waiting), ObjectIdentifier(work))
    guard !isWaiting(work, for: waiting) else { return false }
    counts[waiting, default: [:]][work, default: 0] += 1
    return true
  }

  mutating func end(_ waiting: any AwaitedWork, for work: any AwaitedWork) {
    let (waiting, work) = (ObjectIdentifier(waiting), ObjectIdentifier(work))
    guard let count = counts[waiting]?[work] else { return }
    counts[waiting]?[work] = count > 1 ? count - 1 : nil
    if counts[waiting]?.isEmpty == true { counts[waiting] = nil }
  }

  /// Whether work is, or waits for, other work, directly or through others.
  private func isWaiting(_ work: ObjectIdentifier, for other: ObjectIdentifier) -> Bool {
    var found: Set = [work]
    var unread = [work]
    while let next = unread.popLast() {
      if next == other { return true }
      for following in (counts[next] ?? [:]).keys where found.insert(following).inserted { unread.append(following) }
    }
    return false
  }
}
