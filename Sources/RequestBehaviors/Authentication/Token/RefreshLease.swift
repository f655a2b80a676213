package import Foundation

/// The right to refresh a token, held by one process at a time for 30 seconds unless it is renewed.
///
/// It serves stores without a lock that the system frees when a process ends: a row or an item names the holder. A
/// process that was stopped for longer loses the right and must not act on it; the store says so when it is read.
package struct RefreshLease: Sendable {
  /// The duration in seconds, unless the lease is renewed.
  package static let duration: TimeInterval = 30

  /// The interval at which the holder looks whether the wall clock was set.
  private static let clockInterval = Duration.seconds(1)

  /// A moment on both clocks.
  private struct Time: Sendable {
    /// The seconds since 1970.
    private(set) var date: TimeInterval
    private(set) var now: Duration

    init(_ clock: RequestClock) { (date, now) = (clock.date().timeIntervalSince1970, clock.now()) }

    /// Becomes a later moment; returns whether the wall clock was set in between.
    mutating func moveOn(to later: Time) -> Bool {
      defer { self = later }
      return abs(later.date - date - (later.now - now).inSeconds) >= 1
    }
  }

  /// Takes it at a time in seconds since 1970, unless another process has it; returns whether it did.
  package typealias Take = @Sendable (TimeInterval) async throws -> Bool
  /// Makes it last until 30 seconds after a time.
  package typealias Renew = @Sendable (TimeInterval) async throws -> Void
  /// Gives it back.
  package typealias End = @Sendable () async throws -> Void

  private let clock: RequestClock
  private let take: Take
  private let renew: Renew
  private let end: End

  /// Creates a lease that no process holds yet.
  package init(clock: RequestClock, take: @escaping Take, renew: @escaping Renew, end: @escaping End) {
    self.clock = clock
    self.take = take
    self.renew = renew
    self.end = end
  }

  /// Whether a lease that ends at a time is over.
  ///
  /// An end that is further away than any lease lasts was written by a clock that has been set back since.
  package static func isOver(_ until: TimeInterval, at now: TimeInterval) -> Bool {
    until <= now || until > now + 2 * duration
  }

  /// Runs the work as soon as this process holds the lease.
  ///
  /// - Parameter work: The work.
  /// - Throws: `CancellationError` when the task is cancelled before it has the lease; the errors of taking it.
  package func run(_ work: @Sendable () async -> Void) async throws {
    // A store has no way to wake a waiter, so this asks again and again, less and less often.
    var pause = Duration.milliseconds(5)
    var time = Time(clock)
    while try await !take(time.date) {
      try await clock.sleep(for: pause)
      pause = min(pause * 2, .milliseconds(200))
      // By a date that was just set the lease may seem to be over. Its holder renews it by that date first.
      while time.moveOn(to: Time(clock)) { try await clock.sleep(for: RefreshLease.clockInterval * 3) }
    }
    // Renewed after a third of its time, so that two failures in a row do not lose it.
    let renewal = Task { [clock, renew, taken = time] in
      var (time, renewed) = (taken, taken.now)
      while (try? await clock.sleep(for: RefreshLease.clockInterval)) != nil {
        let isSet = time.moveOn(to: Time(clock))
        guard isSet || time.now - renewed >= .seconds(RefreshLease.duration / 3) else { continue }
        renewed = time.now
        try? await renew(time.date)
      }
    }
    await work()
    renewal.cancel()
    // In a task of its own: a sign-out cancels the work, and the lease must not outlive the work.
    await Task { [end] in try? await end() }.value
  }
}
