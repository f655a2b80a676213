import Foundation
import RequestBehaviors

/// Looks for the ends of entries that another outbox or process brings about, for all tasks that wait for entries.
///
/// An outbox itself wakes the tasks that wait for an entry which it ends. A commit of others may have ended any entry.
/// One look for all of them follows such commits, so that a commit does not cost more for each task that waits.
final class OutboxWatch: Sendable {
  /// The number of entries from which looks keep the interval.
  private static let fewEntries = 64

  private struct State {
    /// The numbers of tasks that wait, by entry.
    var waiting: [UUID: Int] = [:]
    /// The task that looks, and the one that has the store notice the commits of others.
    var tasks: [Task<Void, Never>] = []
  }

  private let store: SQLiteStore
  private let clock: RequestClock
  private let interval: Duration
  private let wake: @Sendable (UUID) -> Void
  private let state = Locked(State())

  /// Creates a watch; it does nothing while no task waits.
  ///
  /// - Parameters:
  ///   - store: The store with the entries.
  ///   - clock: The clock of the interval.
  ///   - interval: The shortest time between two looks for many entries. It is also the interval at which commits of
  ///     others are looked for, if the store has none.
  ///   - wake: Wakes the tasks that wait for an entry.
  init(_ store: SQLiteStore, clock: RequestClock, interval: Duration, wake: @escaping @Sendable (UUID) -> Void) {
    self.store = store
    self.clock = clock
    self.interval = max(interval, .milliseconds(1))
    self.wake = wake
  }

  deinit { for task in state.withLock({ $0.tasks }) { task.cancel() } }

  /// Begins to watch an entry; the commits from now on are seen.
  func begin(_ id: UUID) {
    state.withLock { state in
      state.waiting[id, default: 0] += 1
      guard state.tasks.isEmpty else { return }
      let listener = ChangeListener(store.state.changes)
      let looking = Task { [weak self, clock, interval] in
        while await listener.wait(for: [OutboxSchema.entries]), let count = await self?.look() {
          if count > Self.fewEntries { try? await clock.sleep(for: interval) }
        }
        // The store is closed, unless no task waits any more.
        if !Task.isCancelled { self?.wakeAll() }
      }
      state.tasks = [looking]
      guard store.configuration.changePollInterval == nil else { return }
      state.tasks.append(
        Task { [store, clock, interval] in
          while (try? await clock.sleep(for: interval)) != nil { await store.noticeOtherCommits() }
        })
    }
  }

  /// Ends what ``begin(_:)`` began.
  func end(_ id: UUID) {
    let tasks = state.withLock { state -> [Task<Void, Never>] in
      state.waiting[id] = state.waiting[id].flatMap { $0 > 1 ? $0 - 1 : nil }
      guard state.waiting.isEmpty else { return [] }
      defer { state.tasks = [] }
      return state.tasks
    }
    for task in tasks { task.cancel() }
  }

  private var ids: [UUID] { state.withLock { Array($0.waiting.keys) } }

  /// Wakes the tasks whose entry has ended; returns the number of entries that were looked for.
  private func look() async -> Int {
    let ids = ids
    do {
      let ended = try await store.repeatedAfterSuspensions { [store] in
        try await store.read { db in try ids.filter { try !OutboxTable.isLive($0, db) } }
      }
      for id in ended { wake(id) }
    } catch {
      // Each task reads for itself, and throws the error.
      if !Task.isCancelled { wakeAll() }
    }
    return ids.count
  }

  private func wakeAll() {
    for id in ids { wake(id) }
  }
}
