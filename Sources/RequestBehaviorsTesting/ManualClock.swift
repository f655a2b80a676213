public import Foundation
public import RequestBehaviors

/// A clock that does not move until a test moves it.
///
/// Pass its ``requestClock`` to the client, and to all other code that takes a `RequestClock`. Then every timeout,
/// expiry and delay happens exactly when the test says so, and tests do not sleep:
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
  private struct State {
    var now: Duration = .zero
    var date: Date
    var nextID: UInt64 = 0
    var sleepers = DueList<Waiter<Void>>()
  }

  private let state: Locked<State>
  private let watchers = LoopbackWatchers()

  /// Creates a clock that starts at a date.
  ///
  /// - Parameter date: The wall-clock date at which it starts; by default 2020-01-01T00:00:00Z.
  public init(date: Date = Date(timeIntervalSince1970: 1_577_836_800)) {
    state = Locked(State(date: date))
  }

  /// The clock to pass to the code under test.
  public var requestClock: RequestClock {
    RequestClock(now: { self.now }, date: { self.date }, sleep: { try await self.sleep(for: $0) })
  }

  /// The monotonic time: the time by which the clock has been advanced since its creation.
  public var now: Duration { state.withLock { $0.now } }

  /// The wall-clock date.
  public var date: Date { state.withLock { $0.date } }

  /// The longest time that has components; all waits are over then.
  private static let end = Duration.seconds(Int64.max)

  /// Moves the monotonic time and the date forward and wakes the sleepers that are due, earliest first.
  ///
  /// The monotonic time ends after `Int64.max` seconds.
  ///
  /// - Parameter duration: The time; a negative duration does not move the clock.
  public func advance(by duration: Duration) {
    guard duration > .zero else { return }
    move(by: duration)
  }

  /// Moves the clock, also by no time: then those wake that began to sleep at its end.
  func move(by duration: Duration) {
    let due = state.withLock { state in
      let step = min(duration, ManualClock.end - state.now)
      state.now += step
      state.date += step.inSeconds
      var due: [Waiter<Void>] = []
      while let next = state.sleepers.removeNext(until: state.now) { due.append(next.value) }
      return due
    }
    for sleeper in due { sleeper.settle(.success(())) }
  }

  /// Sets the wall clock without moving the monotonic time, as a user or a time server does.
  public func setDate(_ date: Date) { state.withLock { $0.date = date } }

  /// The number of sleepers.
  public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

  /// The moment at which the next sleeper is due.
  var nextDeadline: Duration? { state.withLock { $0.sleepers.nextTime() } }

  /// The number of sleeps that have begun.
  var beginCount: UInt64 { state.withLock { $0.nextID } }

  /// A number that changes whenever a sleeper comes or goes.
  var changeCount: UInt64 { state.withLock { $0.nextID &* 2 &- UInt64($0.sleepers.count) } }

  /// Waits until there are at least a number of sleepers, or the task is cancelled.
  ///
  /// Call it before ``advance(by:)``: code that has not begun to sleep does not notice that time has passed.
  public func waitForSleepers(_ count: Int) async {
    await watchers.wait { [self] in sleeperCount >= count }
  }

  private func sleep(for duration: Duration) async throws {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    let waiter = Waiter<Void>()
    try await withTaskCancellationHandler {
      state.withLock { state in
        // A sleeper that was added after its cancellation would stay.
        guard !Task.isCancelled else { return }
        let deadline = state.now + min(duration, ManualClock.end - state.now)
        // Sleepers of one time wake in the order in which they began to sleep.
        state.sleepers.add(waiter, at: deadline, id: id)
      }
      watchers.notify()
      try await waiter.settlement()
    } onCancel: {
      // The sleeper has gone when the cancellation returns.
      state.withLock { $0.sleepers.remove(id) }
      waiter.settle(.failure(CancellationError()))
    }
  }
}

extension RequestClock {
  /// A clock on which every wait ends at once, and which otherwise shows the system's time.
  ///
  /// Use it to test the code after a wait, such as the pause before a retry, when the length of the wait does not
  /// matter. Limits, such as timeouts, deadlines and the delay before a hedge, are not waits: they end at the
  /// system's time. Test them with a ``ManualClock``.
  public static let immediate = RequestClock.system.sleeping { _ in await Task.yield() }
}
