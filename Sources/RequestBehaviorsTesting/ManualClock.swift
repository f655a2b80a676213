public import Foundation
public import RequestBehaviors

/// A clock that does not move until a test moves it.
///
/// Hand its ``requestClock`` to the client (and to whatever else takes a `RequestClock`); then every timeout, expiry
/// and delay happens exactly when the test says so, and no test sleeps:
///
/// ```swift
/// let clock = ManualClock()
/// configuration.clock = clock.requestClock
/// let client = NetworkClient(
///   configuration: configuration, transport: mock)
/// async let user: User = client.send(.get("me"))
/// await clock.waitForSleepers(1)  // the client waits for something
/// clock.advance(by: .seconds(60))  // its time has come
/// ```
public final class ManualClock: Sendable {
  private struct Sleeper {
    var deadline: Duration
    var continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var now: Duration = .zero
    var date: Date
    var nextID: UInt64 = 0
    var sleepers: [UInt64: Sleeper] = [:]
    var cancelled: Set<UInt64> = []
  }

  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var state: State
  private let watchers = LoopbackWatchers()

  /// Creates a clock that shows a date.
  ///
  /// - Parameter date: The wall-clock date it shows first; by default 2020-01-01T00:00:00Z.
  public init(date: Date = Date(timeIntervalSince1970: 1_577_836_800)) {
    state = State(date: date)
  }

  /// The clock to hand to what is tested.
  public var requestClock: RequestClock {
    RequestClock(now: { self.now }, date: { self.date }, sleep: { try await self.sleep(for: $0) })
  }

  /// The monotonic time: how far the clock has been advanced since it was created.
  public var now: Duration { lock.withLock { state.now } }

  /// The wall-clock date.
  public var date: Date { lock.withLock { state.date } }

  /// Moves both the monotonic time and the date forward and wakes those whose time has come, earliest first.
  ///
  /// - Parameter duration: How far; a negative duration moves nothing.
  public func advance(by duration: Duration) {
    guard duration > .zero else { return }
    let due = lock.withLock {
      state.now += duration
      state.date += TimeInterval(duration.components.seconds) + TimeInterval(duration.components.attoseconds) * 1e-18
      // Those of one time in the order in which they came.
      let due = state.sleepers.filter { $0.value.deadline <= state.now }.sorted {
        ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key)
      }
      for (id, _) in due { state.sleepers[id] = nil }
      return due
    }
    for (_, sleeper) in due { sleeper.continuation.resume() }
  }

  /// Sets the wall clock without moving the monotonic time, as a user or a time server does.
  public func setDate(_ date: Date) { lock.withLock { state.date = date } }

  /// How many waits are under way.
  public var sleeperCount: Int { lock.withLock { state.sleepers.count } }

  /// Waits until at least a number of waits are under way, or the task is cancelled.
  ///
  /// Call it before ``advance(by:)``: code that has not begun to wait does not notice that time has passed.
  public func waitForSleepers(_ count: Int) async {
    await watchers.wait { [self] in sleeperCount >= count }
  }

  private func sleep(for duration: Duration) async throws {
    let id = lock.withLock {
      state.nextID += 1
      return state.nextID
    }
    defer { lock.withLock { _ = state.cancelled.remove(id) } }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in begin(id, for: duration, continuation) }
    } onCancel: {
      cancel(id)
    }
  }

  private func begin(_ id: UInt64, for duration: Duration, _ continuation: CheckedContinuation<Void, any Error>) {
    let isCancelled = lock.withLock {
      if state.cancelled.contains(id) { return true }
      state.sleepers[id] = Sleeper(deadline: state.now + duration, continuation: continuation)
      return false
    }
    if isCancelled { return continuation.resume(throwing: CancellationError()) }
    watchers.notify()
  }

  private func cancel(_ id: UInt64) {
    let sleeper = lock.withLock {
      let sleeper = state.sleepers.removeValue(forKey: id)
      if sleeper == nil { state.cancelled.insert(id) }
      return sleeper
    }
    sleeper?.continuation.resume(throwing: CancellationError())
  }
}

extension RequestClock {
  /// A clock on which every wait is over at once, and which otherwise shows the system's time.
  ///
  /// For tests of what happens after a wait, when the length of the wait is of no interest.
  public static let immediate = RequestClock(
    now: RequestClock.system.now, date: RequestClock.system.date, sleep: { _ in await Task.yield() })
}
