import Foundation

/// When a request that has no response yet is sent a second time.
public struct HedgingPolicy: Sendable, Hashable {
  /// How long to wait for the first.
  public enum Delay: Sendable, Hashable {
    /// Always as long.
    case fixed(Duration)
    /// As long as this share of the latest requests to the origin took, such as 0.95; not at all before there were 20.
    case percentile(Double)
  }

  /// How long to wait for the first.
  public var delay: Delay

  /// Creates a policy.
  ///
  /// - Parameter delay: How long to wait for the first; by default as long as 95 of 100 requests took.
  public init(delay: Delay = .percentile(0.95)) { self.delay = delay }
}

/// How long the latest successful requests took: values in, value out.
struct LatencySamples: Sendable {
  static let minimum = 20
  static let maximum = 100

  private var samples: [Duration] = []
  /// The same in ascending order.
  private var sorted: [Duration] = []
  private var oldest = 0

  /// Adds how long a request took; of more than 100 the oldest is forgotten.
  mutating func add(_ duration: Duration) {
    if samples.count < LatencySamples.maximum {
      samples.append(duration)
    } else {
      sorted.remove(at: place(of: samples[oldest]))
      samples[oldest] = duration
      oldest = (oldest + 1) % LatencySamples.maximum
    }
    sorted.insert(duration, at: place(of: duration))
  }

  /// The index of the first of those in order that are not shorter.
  private func place(of duration: Duration) -> Int {
    var (low, high) = (0, sorted.count)
    while low < high {
      let middle = (low + high) / 2
      if sorted[middle] < duration { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Returns what a share of the requests did not exceed.
  ///
  /// - Parameter share: The share, from 0 to 1.
  /// - Returns: `nil` with too few requests.
  func percentile(_ share: Double) -> Duration? {
    guard sorted.count >= LatencySamples.minimum, !share.isNaN else { return nil }
    let rank = (min(max(share, 0), 1) * Double(sorted.count)).rounded(.up)
    return sorted[min(max(Int(rank) - 1, 0), sorted.count - 1)]
  }
}

/// How long requests to each origin took, by which hedging decides when to send a second one.
public final class LatencyHistory: Sendable {
  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var samples: [LimitKey: LatencySamples] = [:]

  /// Creates an empty history.
  public init() {}

  func add(_ duration: Duration, of key: LimitKey) {
    lock.withLock {
      if samples.count > 256 { samples = [:] }
      samples[key, default: LatencySamples()].add(duration)
    }
  }

  func percentile(_ share: Double, of key: LimitKey) -> Duration? {
    lock.withLock { samples[key]?.percentile(share) }
  }

  /// Forgets all.
  public func reset() { lock.withLock { samples = [:] } }
}
