/// A rate as a bucket of permits, which fills steadily: values in, value out.
///
/// Each request takes a permit. As many as the bucket holds may go at once; then as many as come in.
public struct TokenBucket: Sendable, Hashable {
  /// How many permits come in a second.
  public let rate: Double
  /// How many permits the bucket holds.
  public let burst: Double
  /// The time in which one permit comes in.
  private let interval: Duration
  /// The time in which an empty bucket fills.
  private let fillTime: Duration
  /// When the bucket will be full if nothing is taken; `nil` if nothing ever was.
  ///
  /// That is the whole state: each permit that is missing puts it off by an interval.
  private var fullAt: Duration?
  private var pausedUntil: Duration?

  /// Creates a full bucket.
  ///
  /// - Parameters:
  ///   - rate: How many permits come in a second: at least one in a day, also if it is no number. An infinite rate is no
  ///     limit.
  ///   - burst: How many permits it holds; at least one.
  public init(rate: Double, burst: Int) {
    self.rate = rate.isNaN ? 1 / 86_400 : max(rate, 1 / 86_400)
    self.burst = Double(max(burst, 1))
    interval = Duration(flooring: 1 / self.rate)
    fillTime = TokenBucket.time(for: max(burst, 1), interval)
  }

  /// Returns how long it takes until a number of permits are there.
  ///
  /// - Parameters:
  ///   - count: The number, which may be more than the bucket holds where several wait.
  ///   - now: The time.
  /// - Returns: The time until then; zero if they are there.
  public func delay(for count: Int, at now: Duration) -> Duration {
    let missing = count == 1 ? interval : TokenBucket.time(for: count, interval)
    return max(full(at: now) + missing - fillTime - now, .zero)
  }

  /// Takes a permit if there is one.
  ///
  /// - Parameter now: The time.
  /// - Returns: Whether it was taken.
  public mutating func take(at now: Duration) -> Bool {
    let full = full(at: now)
    guard full + interval - fillTime <= now else { return false }
    fullAt = full + interval
    return true
  }

  /// Gives no permits until a time, because the server asked for it; a later end wins.
  ///
  /// At the end there is one permit, not a whole burst: those who waited would all come at once.
  public mutating func pause(until end: Duration, at now: Duration) {
    // While it is paused nothing comes in, so what there is counts as of the end of an earlier pause.
    let start = max(now, pausedUntil ?? now)
    let end = max(end, start)
    let isOneThere = full(at: start) + interval - fillTime <= start
    fullAt = end + (isOneThere ? fillTime - interval : full(at: start) - start)
    pausedUntil = end
  }

  /// Whether it is as if nothing had happened.
  func isIdle(at now: Duration) -> Bool { full(at: now) == now }

  /// When the bucket is full if nothing is taken: now if it is.
  private func full(at now: Duration) -> Duration { fullAt.map { max($0, now) } ?? now }

  /// The time in which a number of permits come in, of any size.
  private static func time(for count: Int, _ interval: Duration) -> Duration {
    // A thousand million permits at the slowest rate are far from what a duration can hold.
    interval * min(count, 1_000_000_000)
  }
}

extension Duration {
  /// Creates a duration of at most a number of seconds, in steps of 10⁻¹⁵ seconds: a tenth of a second is exact.
  fileprivate init(flooring seconds: Double) {
    let whole = seconds.rounded(.down)
    let fraction = Int64(((seconds - whole) * 1e15).rounded(.down))
    self.init(secondsComponent: Int64(whole), attosecondsComponent: fraction * 1_000)
  }
}
