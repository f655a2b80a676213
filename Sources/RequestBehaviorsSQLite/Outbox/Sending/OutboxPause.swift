/// The times in which nothing is sent, because no request reaches the server or there is no token for an owner.
struct OutboxPause: Sendable {
  private static let longest = 60

  /// The time, on the monotonic clock, at which one request finds out whether the server can be reached again.
  private(set) var until: Duration?
  private var count = 0

  var isActive: Bool { until != nil }

  /// Begins a pause, each one longer than the one before; returns its length, or nil within one.
  mutating func begin(now: Duration) -> Duration? {
    // Requests that were sent together tell the same thing once.
    if let until, until > now { return nil }
    let length = Duration.seconds(min(1 << min(count, 6), Self.longest))
    until = now + length
    count += 1
    return length
  }

  /// Returns whether the pause lasts.
  func lasts(at now: Duration) -> Bool { until.map { $0 > now } ?? false }

  /// Ends the pauses; returns whether there was one.
  mutating func end() -> Bool {
    defer { (until, count) = (nil, 0) }
    return until != nil
  }

  /// Returns whether another request may be sent.
  ///
  /// - Parameters:
  ///   - running: The number of requests under way.
  ///   - limit: The number of requests that may be under way.
  ///   - now: The time on the monotonic clock.
  /// - Returns: Whether it may.
  func permits(running: Int, limit: Int, now: Duration) -> Bool {
    guard let until else { return running < max(1, limit) }
    return now >= until && running == 0
  }
}
