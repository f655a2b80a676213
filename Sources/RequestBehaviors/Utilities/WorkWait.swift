/// Work that others wait for, and that may wait for other work itself.
///
/// It is a flight of a ``Coalescer``, or the message of a session to its clients that an owner has ended.
protocol AwaitedWork: AnyObject, Sendable {
  /// Whether the work has ended.
  var isOver: Bool { get }
}

/// A wait for the end of work.
///
/// A wait that would close a circle is refused: no work of a circle could end.
struct WorkWait: Sendable {
  /// The works that this task is a part of, the outermost first.
  @TaskLocal static var works: [any AwaitedWork] = []

  private static let graph = Locked(WaitGraph())

  private let waiting: [any AwaitedWork]
  private let work: any AwaitedWork

  /// Records that works wait for the end of another, until ``end()``.
  ///
  /// It is `nil` if the other work is one of them, or waits for one of them, directly or through others.
  ///
  /// - Parameters:
  ///   - waiting: The works that wait; by default those that this task is a part of, without those that are over.
  ///   - work: The other work.
  init?(of waiting: [any AwaitedWork] = WorkWait.worksUnderWay, for work: any AwaitedWork) {
    self.waiting = waiting
    self.work = work
    guard !waiting.isEmpty else { return }
    guard WorkWait.graph.withLock({ $0.begin(waiting, for: work) }) else { return nil }
  }

  /// The works that this task is a part of and that are not over.
  static var worksUnderWay: [any AwaitedWork] {
    let works = works
    return works.isEmpty ? works : works.filter { !$0.isOver }
  }

  /// Returns the works of a task that is a part of one more work.
  static func works(and work: any AwaitedWork) -> [any AwaitedWork] {
    var works = worksUnderWay
    works.append(work)
    return works
  }

  /// Records the end of the wait.
  func end() {
    guard !waiting.isEmpty else { return }
    WorkWait.graph.withLock { $0.end(waiting, for: work) }
  }
}

/// Which works wait for which others.
private struct WaitGraph: Sendable {
  /// How often each work waits for each other one.
  ///
  /// Both are alive for as long as the wait is recorded.
  private var counts: [ObjectIdentifier: [ObjectIdentifier: Int]] = [:]

  mutating func begin(_ waiting: [any AwaitedWork], for work: any AwaitedWork) -> Bool {
    let (waiting, work) = (waiting.map { ObjectIdentifier($0) }, ObjectIdentifier(work))
    guard Set(waiting).isDisjoint(with: all(from: work)) else { return false }
    for one in waiting { counts[one, default: [:]][work, default: 0] += 1 }
    return true
  }

  mutating func end(_ waiting: [any AwaitedWork], for work: any AwaitedWork) {
    let work = ObjectIdentifier(work)
    for one in waiting.map({ ObjectIdentifier($0) }) {
      guard let count = counts[one]?[work] else { continue }
      counts[one]?[work] = count > 1 ? count - 1 : nil
      if counts[one]?.isEmpty == true { counts[one] = nil }
    }
  }

  /// A work, and all works for which it waits, directly or through others.
  private func all(from work: ObjectIdentifier) -> Set<ObjectIdentifier> {
    var found: Set = [work]
    var unread = [work]
    while let next = unread.popLast() {
      for other in (counts[next] ?? [:]).keys where found.insert(other).inserted { unread.append(other) }
    }
    return found
  }
}
