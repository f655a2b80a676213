public import Foundation

/// The source of every wait and date in the library.
///
/// Production code uses ``system``. Tests inject a clock that they move by hand (`ManualClock` in
/// `RequestBehaviorsTesting`), so that timeouts, expiries and delays are tested without sleeping.
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

    /// One wait for all closures; `nil` where each has a task of its own.
    let actions: TimedActions?

    init(
      _ now: @escaping @Sendable () -> Duration, _ date: @escaping @Sendable () -> Date,
      _ sleep: @escaping @Sendable (Duration) async throws -> Void, _ actions: TimedActions?
    ) {
      self.now = now
      self.date = date
      self.sleep = sleep
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
    self.init(now: now, date: date, sleep: sleep, actions: nil)
  }

  private init(
    now: @escaping @Sendable () -> Duration, date: @escaping @Sendable () -> Date,
    sleep: @escaping @Sendable (Duration) async throws -> Void, actions: TimedActions?
  ) {
    source = Source(now, date, sleep, actions)
  }

  /// Returns the clock with other sleeps; what is scheduled stays as it was.
  func sleeping(_ sleep: @escaping @Sendable (Duration) async throws -> Void) -> RequestClock {
    RequestClock(now: source.now, date: source.date, sleep: sleep, actions: source.actions)
  }

  /// Returns the monotonic time since an arbitrary reference; it never jumps when the wall clock is set.
  public func now() -> Duration { source.now() }

  /// Returns the wall-clock date, for what is compared with a server's dates.
  public func date() -> Date { source.date() }

  /// Waits for the duration.
  ///
  /// - Parameter duration: How long to wait; zero or less returns at once.
  /// - Throws: `CancellationError` as soon as the task is cancelled.
  public func sleep(for duration: Duration) async throws {
    try Task.checkCancellation()
    guard duration > .zero else { return }
    try await source.sleep(duration)
  }

  /// Calls a closure after the duration, unless that is cancelled before.
  ///
  /// For a limit that is rarely reached: on the system's clock one task waits for all of them, so that setting and
  /// cancelling it costs no task. On other clocks each sleeps in a task of its own.
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
  ///   - duration: How long to wait; zero or less calls it as soon as possible.
  ///   - action: What to do; it must not block.
  /// - Returns: What cancels it.
  public func schedule(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> Timer {
    if let actions = source.actions {
      let id = actions.add(after: duration, action)
      return Timer { actions.remove(id) }
    }
    let task = Task {
      try await sleep(for: duration)
      action()
    }
    return Timer { task.cancel() }
  }

  /// A closure that is to be called at some time; see ``RequestClock/schedule(after:_:)``.
  public struct Timer: Sendable {
    private let end: @Sendable () -> Void

    fileprivate init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    /// Lets the closure not be called, if it has not been.
    public func cancel() { end() }
  }

  /// The system's clocks; the monotonic one goes on while the machine sleeps.
  public static let system: RequestClock = {
    let reference = ContinuousClock.now
    let clock = RequestClock(
      now: { reference.duration(to: .now) },
      date: { Date() },
      sleep: { try await ContinuousClock().sleep(for: $0) }
    )
    return clock.sharingTimer()
  }()

  /// Returns the clock with one wait for all that is scheduled on it, as the system's clock has.
  package func sharingTimer() -> RequestClock {
    RequestClock(now: source.now, date: source.date, sleep: source.sleep, actions: TimedActions(self))
  }
}
