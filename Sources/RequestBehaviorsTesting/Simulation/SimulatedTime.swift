import Foundation
import RequestBehaviors

/// The virtual time of a simulation: it passes when no job is ready.
///
/// Any thread may use it, so that a task that has left the simulation's thread does no harm before it is reported.
final class SimulatedTime: Sendable {
  private struct State {
    var now: Duration = .zero
    var lastID: UInt64 = 0
    var sleepers = DueList<Waiter<Void>>()
    var random: SimulatedRandom
  }

  private let state: Locked<State>

  /// The wall-clock date at which every simulation begins: 2020-01-01T00:00:00Z.
  static let start = Date(timeIntervalSince1970: 1_577_836_800)

  init(seed: UInt64) { state = Locked(State(random: SimulatedRandom(seed: seed, name: "time"))) }

  /// How much time has passed.
  var now: Duration { state.withLock { $0.now } }

  /// The clock that clients get.
  ///
  /// - Parameter sharesTimer: Whether scheduled closures share one timer, as they do on the system's clock.
  /// - Returns: The clock.
  func clock(sharingTimer sharesTimer: Bool) -> RequestClock {
    let clock = RequestClock(
      now: { self.now },
      date: {
        let parts = self.now.boundedComponents
        return SimulatedTime.start + TimeInterval(parts.seconds) + TimeInterval(parts.attoseconds) * 1e-18
      },
      sleep: { try await self.sleep(for: $0) })
    return sharesTimer ? clock.sharingTimer() : clock
  }

  /// The times at which sleepers wake up, earliest first.
  var wakeUps: [Duration] { state.withLock { $0.sleepers.times } }

  /// Lets time pass until the next sleeper wakes up.
  ///
  /// - Returns: Whether there is one.
  func passToNextSleeper() -> Bool { pass(atMost: nil) }

  /// Lets time pass until the next sleeper wakes up, if that is soon enough.
  ///
  /// Of the sleepers of one time one wakes up; which one is random.
  ///
  /// - Parameter limit: The longest time that may pass; `nil` for any.
  /// - Returns: Whether a sleeper woke up.
  @discardableResult
  func pass(atMost limit: Duration?) -> Bool {
    let sleeper = state.withLock { state -> Waiter<Void>? in
      let end = limit.map { state.now.boundedSum(with: $0) }
      guard let next = state.sleepers.removeNext(until: end) else { return nil }
      state.now = max(state.now, next.time)
      return next.value
    }
    sleeper?.settle(.success(()))
    return sleeper != nil
  }

  private func sleep(for duration: Duration) async throws {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    let waiter = Waiter<Void>()
    try await withTaskCancellationHandler {
      state.withLock { state in
        // A sleeper that was added after its cancellation would stay.
        if Task.isCancelled { return }
        state.sleepers.add(waiter, at: state.now.boundedSum(with: duration), id: id, place: state.random.next())
      }
      try await waiter.settlement()
    } onCancel: {
      state.withLock { $0.sleepers.remove(id) }
      waiter.settle(.failure(CancellationError()))
    }
  }
}
