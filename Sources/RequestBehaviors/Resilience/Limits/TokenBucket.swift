/// A rate as a bucket of permits, which fills steadily: values in, value out.
///
/// Each request takes a permit. As many as the bucket holds may go at once; then as many as come in.
public struct TokenBucket: Sendable, Hashable {
  /// How many permits come in a second.
  public let rate: Double
  /// How many permits the bucket holds.
  public let burst: Double
  private var level: Double
  private var filledAt: Duration?
  private(set) var pausedUntil: Duration?

  /// Creates a full bucket.
  ///
  /// - Parameters:
  ///   - rate: How many permits come in a second; at least one in a day.
  ///   - burst: How many permits it holds; at least one.
  public init(rate: Double, burst: Int) {
    self.rate = rate.isFinite ? max(rate, 1 / 86_400) : 1 / 86_400
    self.burst = Double(max(burst, 1))
    level = self.burst
  }

  /// Returns how long it takes until a number of permits are there.
  ///
  /// - Parameters:
  ///   - count: The number, which may be more than the bucket holds where several wait.
  ///   - now: The time.
  /// - Returns: The time until then; zero if they are there.
  public mutating func delay(for count: Int, at now: Duration) -> Duration {
    fill(at: now)
    let missing = Double(count) - level
    // What is missing by no more than an error of rounding is there.
    let wait: Duration = missing > 1e-9 ? Duration(clamping: missing / rate) + .nanoseconds(1) : .zero
    // While it is paused nothing comes in, so the time of filling begins only then.
    guard let pausedUntil, pausedUntil > now else { return wait }
    return pausedUntil - now + wait
  }

  /// Takes a permit if there is one.
  ///
  /// - Parameter now: The time.
  /// - Returns: Whether it was taken.
  public mutating func take(at now: Duration) -> Bool {
    guard delay(for: 1, at: now) == .zero else { return false }
    level -= 1
    return true
  }

  /// Gives no permits until a time, because the server asked for it; a later end wins.
  ///
  /// At the end there is one permit, not a whole burst: those who waited would all come at once.
  public mutating func pause(until end: Duration, at now: Duration) {
    fill(at: now)
    level = min(level, 1)
    pausedUntil = max(end, pausedUntil ?? end)
  }

  private mutating func fill(at now: Duration) {
    var start = filledAt ?? now
    if let pausedUntil { start = max(start, min(pausedUntil, now)) }
    if now > start { level = min(burst, level + (now - start).seconds * rate) }
    filledAt = max(filledAt ?? now, now)
    if let end = pausedUntil, end <= now { pausedUntil = nil }
  }

  /// Whether it is as if nothing had happened.
  mutating func isIdle(at now: Duration) -> Bool {
    fill(at: now)
    return level >= burst && pausedUntil == nil
  }
}
