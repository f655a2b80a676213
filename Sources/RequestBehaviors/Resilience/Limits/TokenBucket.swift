/// A rate as a bucket of permits, which fills steadily.
///
/// Each request takes a permit. As many requests as the bucket holds permits may go at once. After that, requests go at
/// the rate at which permits come in. The type is a pure value.
public struct TokenBucket: Sendable, Hashable {
  /// The number of permits that come in per second.
  public let rate: Double
  /// The number of permits that the bucket holds.
  public let burst: Double
  /// The time in which one permit comes in.
  private let interval: Duration
  /// The time in which an empty bucket fills.
  private let fillTime: Duration
  /// When the bucket will be full if no permit is taken; `nil` if none was ever taken.
  ///
  /// It is the whole state of the bucket: each missing permit moves it later by an interval.
  private var fullAt: Duration?
  private var pausedUntil: Duration?

  /// The lowest rate: one permit per day.
  static let lowestRate = 1.0 / 86_400

  /// Creates a full bucket.
  ///
  /// - Parameters:
  ///   - rate: The number of permits that come in per second: at least one per day, also for NaN. An infinite rate is
  ///     no limit.
  ///   - burst: The number of permits that it holds; at least one.
  public init(rate: Double, burst: Int) {
    self.rate = rate.isNaN ? TokenBucket.lowestRate : max(rate, TokenBucket.lowestRate)
    self.burst = Double(max(burst, 1))
    interval = Duration(flooring: 1 / self.rate)
    fillTime = TokenBucket.time(for: max(burst, 1), interval)
  }

  /// Returns the time until a number of permits are available.
  ///
  /// - Parameters:
  ///   - count: The number, which may be more than the bucket holds if several requests wait.
  ///   - now: The time.
  /// - Returns: The time until then; zero if they are available.
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

  /// Holds all permits until a time, because the server asked for it.
  ///
  /// Of two pauses, the later end wins.
  ///
  /// At the end there is one permit, not a whole burst. With a burst, the waiting requests would all go at once.
  public mutating func pause(until end: Duration, at now: Duration) {
    // No permit comes in during a pause, so the permits are counted as of the end of an earlier pause.
    let start = max(now, pausedUntil ?? now)
    let end = max(end, start)
    let isOneThere = full(at: start) + interval - fillTime <= start
    fullAt = end + (isOneThere ? fillTime - interval : full(at: start) - start)
    pausedUntil = end
  }

  /// Whether the bucket is full.
  func isIdle(at now: Duration) -> Bool { full(at: now) == now }

  /// Returns when the bucket is full if no permit is taken: now if it is full.
  private func full(at now: Duration) -> Duration { fullAt.map { max($0, now) } ?? now }

  /// Returns the time in which a number of permits come in.
  ///
  /// The number may be of any size.
  private static func time(for count: Int, _ interval: Duration) -> Duration {
    // A thousand million permits at the slowest rate still fit into a duration.
    interval * min(count, 1_000_000_000)
  }
}

extension Duration {
  /// Creates a duration of a number of seconds, rounded down to 10⁻¹⁵ seconds: a tenth of a second is exact.
  fileprivate init(flooring seconds: Double) {
    let whole = seconds.rounded(.down)
    let fraction = Int64(((seconds - whole) * 1e15).rounded(.down))
    self.init(secondsComponent: Int64(whole), attosecondsComponent: fraction * 1_000)
  }
}
