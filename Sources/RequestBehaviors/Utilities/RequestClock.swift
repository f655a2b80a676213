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

    init(
      _ now: @escaping @Sendable () -> Duration, _ date: @escaping @Sendable () -> Date,
      _ sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
      self.now = now
      self.date = date
      self.sleep = sleep
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
    source = Source(now, date, sleep)
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

  /// The system's clocks; the monotonic one goes on while the machine sleeps.
  public static let system: RequestClock = {
    let reference = ContinuousClock.now
    return RequestClock(
      now: { reference.duration(to: .now) },
      date: { Date() },
      sleep: { try await ContinuousClock().sleep(for: $0) }
    )
  }()
}
