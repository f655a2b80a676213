/// The durations of the latest successful requests, as a pure value.
package struct LatencySamples: Sendable {
  static let minimum = 20
  static let maximum = 100

  private var samples: [Duration] = []
  /// The same durations in ascending order.
  private var sorted: [Duration] = []
  private var oldest = 0

  /// Creates no samples.
  package init() {}

  /// Adds the duration of a request.
  ///
  /// Beyond 100 samples it drops the oldest.
  package mutating func add(_ duration: Duration) {
    if samples.count < LatencySamples.maximum {
      samples.append(duration)
    } else {
      sorted.remove(at: place(of: samples[oldest]))
      samples[oldest] = duration
      oldest = (oldest + 1) % LatencySamples.maximum
    }
    sorted.insert(duration, at: place(of: duration))
  }

  /// Returns the index of the first sorted duration that is not shorter.
  private func place(of duration: Duration) -> Int {
    var (low, high) = (0, sorted.count)
    while low < high {
      let middle = (low + high) / 2
      if sorted[middle] < duration { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Returns the duration that a share of the requests did not exceed.
  ///
  /// - Parameter share: The share, from 0 to 1.
  /// - Returns: The duration; `nil` with fewer than 20 requests.
  package func percentile(_ share: Double) -> Duration? {
    guard sorted.count >= LatencySamples.minimum, !share.isNaN else { return nil }
    let rank = (min(max(share, 0), 1) * Double(sorted.count)).rounded(.up)
    return sorted[min(max(Int(rank) - 1, 0), sorted.count - 1)]
  }
}
