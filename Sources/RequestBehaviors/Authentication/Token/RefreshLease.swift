package import Foundation

/// The right to refresh a token, held by one process at a time for 30 seconds unless it is renewed.
///
/// Serves stores without a lock that the system frees when a process ends: a row or an item names the holder. A process
/// that was stopped for longer loses the right and must not act on it; the store says so when it is read.
package struct RefreshLease: Sendable {
  /// The duration in seconds, unless the lease is renewed.
  package static let duration: TimeInterval = 30

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
    while try await !take(clock.date().timeIntervalSince1970) {
      try await clock.sleep(for: pause)
      pause = min(pause * 2, .milliseconds(200))
    }
    // Renewed after a third of its time, so that two failures in a row do not lose it.
    let renewal = Task { [clock, renew] in
      while (try? await clock.sleep(for: .seconds(RefreshLease.duration / 3))) != nil {
        try? await renew(clock.date().timeIntervalSince1970)
      }
    }
    await work()
    renewal.cancel()
    // In a task of its own: a sign-out cancels the work, and the lease must not outlive the work.
    await Task { [end] in try? await end() }.value
  }
}
