public import Foundation

/// The source of every wait and date in the library.
///
/// Production code uses ``system``. Tests inject a clock that they move manually (`ManualClock` in
/// `RequestBehaviorsTesting`), so that they test timeouts, expiries and delays without sleeping.
///
/// ```swift
/// var configuration = RequestConfiguration(baseURL: baseURL)
/// configuration.clock = manualClock.requestClock
/// ```
public struct RequestClock: Sendable {
  // One reference, because every call has two clocks.
  private let source: Source

  private final class Source: Sendable {
    let now: @Sendable () -> Duration
    let date: @Sendable () -> Date
    let sleep: @Sendable (Duration) async throws -> Void
    /// The wait of a scheduled closure.
    let scheduled: @Sendable (Duration) async throws -> Void

    /// The shared timer of all scheduled closures; `nil` if each has a task of its own.
    let actions: TimedActions?

    init(
      _ now: @escaping @Sendable () -> Duration, _ date: @escaping @Sendable () -> Date,
      _ sleep: @escaping @Sendable (Duration) async throws -> Void,
      _ scheduled: @escaping @Sendable (Duration) async throws -> Void, _ actions: TimedActions?
    ) {
      self.now = now
      self.date = date
      self.sleep = sleep
      self.scheduled = scheduled
      self.actions = actions
    }
  }

  /// Creates a clock from closures.
  ///
  /// - Parameters:
  ///   - now: Returns the monotonic time since an arbitrary reference.
  ///   - date: Returns the wall-clock date.
  ///   - sleep: Returns after the duration, or throws `CancellationError` as soon as its task is cancelled.
  public init(
    now: @escaping @Sendable () -> Duration,
    date: @escaping @Sendable () -> Date,
    sleep: @escaping @Sendable (Duration) async throws -> Void
  ) {
    source = Source(now, date, sleep, sleep, nil)
  }

  private init(_ source: Source) { self.source = source }

  /// Returns the clock with another `sleep`; scheduled closures keep the original one.
  package func sleeping(_ sleep: @escaping @Sendable (Duration) async throws -> Void) -> RequestClock {
    RequestClock(Source(source.now, source.date, sleep, source.scheduled, source.actions))
  }

  /// Returns the monotonic time since an arbitrary reference; it never jumps when the wall clock is set.
  public func now() -> Duration { source.now() }

  /// Returns the wall-clock date, for comparison with a server's dates.
  public func date() -> Date { source.date() }

  /// Waits for the duration.
  ///
  /// - Parameter duration: The time to wait; zero or less returns at once.
  /// - Throws: `CancellationError` as soon as the task is cancelled.
  public func sleep(for duration: Duration) async throws {
    try Task.checkCancellation()
    guard duration > .zero else { return }
    try await source.sleep(duration)
  }

  /// Calls a closure after a duration, unless the timer is cancelled before.
  ///
  /// Use it for a limit that is rarely reached. On the system's clock one task waits for all closures, so that
  /// scheduling and cancelling cost no task. On other clocks each closure has a task of its own.
  ///
  /// ```swift
  /// let timer = request.call.clock.schedule(after: .seconds(1)) {
  ///   spinner.start()
  /// }
  /// defer { timer.cancel() }
  /// return try await next(request)
  /// ```
  ///
  /// - Parameters:
  ///   - duration: The time to wait; with zero or less the closure is called as soon as possible.
  ///   - action: The closure; it must not block.
  /// - Returns: A timer that can cancel the closure.
  public func schedule(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> Timer {
    if let actions = source.actions {
      let id = actions.add(after: duration, action)
      return Timer { actions.remove(id) }
    }
    let task = Task {
      try Task.checkCancellation()
      if duration > .zero { try await source.scheduled(duration) }
      action()
    }
    return Timer { task.cancel() }
  }

  /// A scheduled closure; see ``RequestClock/schedule(after:_:)``.
  public struct Timer: Sendable {
    private let end: @Sendable () -> Void

    fileprivate init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    /// Cancels the closure, unless it has been called.
    public func cancel() { end() }
  }

  /// The system's clocks; the monotonic one continues while the machine sleeps.
  public static let system: RequestClock = {
    let reference = ContinuousClock.now
    let clock = RequestClock(
      now: { reference.duration(to: .now) },
      date: { Date() },
      sleep: { duration in
        // A longer time than the system's clock can count to would end the process, so the wait has pieces of a day.
        var rest = duration
        while rest > .zero {
          let piece = min(rest, .seconds(86_400))
          try await ContinuousClock().sleep(for: piece)
          rest -= piece
        }
      }
    )
    return clock.sharingTimer()
  }()

  /// Returns the clock with one shared timer for all scheduled closures, as the system's clock has.
  package func sharingTimer() -> RequestClock {
    RequestClock(Source(source.now, source.date, source.sleep, source.scheduled, TimedActions(self)))
  }
}
