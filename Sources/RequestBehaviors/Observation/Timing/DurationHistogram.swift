/// A histogram of durations with fixed memory, which computes percentiles.
///
/// Its buckets grow in width. Each is at most 1/32 as wide as the durations in it, so that a percentile is at most
/// about 3 % too high. The range is one microsecond to about 19 hours; durations outside count at its ends.
///
/// ```swift
/// var histogram = DurationHistogram()
/// for milliseconds in 1...100 {
///   histogram.record(.milliseconds(milliseconds))
/// }
/// print(histogram.percentile(95))  // about 95 ms
/// ```
public struct DurationHistogram: Sendable, Hashable {
  /// The number of recorded durations.
  public private(set) var count = 0

  /// The shortest recorded duration; zero if nothing was recorded.
  public private(set) var minimum = Duration.zero

  /// The longest recorded duration; zero if nothing was recorded.
  public private(set) var maximum = Duration.zero

  /// The sum of the recorded durations, at most `Int64.max` seconds.
  public private(set) var total = Duration.zero

  private var buckets: [UInt32] = []

  /// Creates an empty histogram.
  public init() {}

  /// The mean of the recorded durations; zero if nothing was recorded.
  public var mean: Duration { count == 0 ? .zero : total / count }

  /// Records a duration; a negative one counts as zero.
  public mutating func record(_ duration: Duration) {
    let duration = max(.zero, duration)
    if buckets.isEmpty { buckets = Array(repeating: 0, count: Self.bucketCount) }
    let bucket = Self.bucket(of: Self.microseconds(duration))
    buckets[bucket] = buckets[bucket] == .max ? .max : buckets[bucket] + 1
    minimum = count == 0 ? duration : min(minimum, duration)
    maximum = max(maximum, duration)
    total = total.boundedSum(with: duration)
    if count < .max { count += 1 }
  }

  /// Adds the durations of another histogram.
  public mutating func merge(_ other: DurationHistogram) {
    guard other.count > 0 else { return }
    guard count > 0 else {
      self = other
      return
    }
    for index in buckets.indices {
      let (sum, overflow) = buckets[index].addingReportingOverflow(other.buckets[index])
      buckets[index] = overflow ? .max : sum
    }
    minimum = min(minimum, other.minimum)
    maximum = max(maximum, other.maximum)
    total = total.boundedSum(with: other.total)
    count = [count, other.count].boundedSum
  }

  /// Returns the duration that the given percentage of the recorded durations does not exceed.
  ///
  /// - Parameter percent: A value from 0 to 100; other values count as the nearer limit.
  /// - Returns: The upper end of the bucket that contains it, between ``minimum`` and ``maximum``; zero if nothing was
  ///   recorded.
  /// - Complexity: O(1): the number of buckets is fixed.
  public func percentile(_ percent: Double) -> Duration {
    let share = percent.isNaN ? 0 : min(max(percent, 0), 100) / 100
    let recorded = buckets.reduce(0) { $0 + Int($1) }
    let rank = max(1, Int((share * Double(recorded)).rounded(.up)))
    var seen = 0
    for (index, bucket) in buckets.enumerated() {
      seen += Int(bucket)
      guard seen >= rank else { continue }
      return min(max(.microseconds(Self.upperEnd(of: index)), minimum), maximum)
    }
    return maximum
  }

  // MARK: Buckets

  /// The number of bits that select a bucket within a power of two: 32 buckets.
  private static let precisionBits = 5
  private static let largestExponent = 36
  private static let bucketCount = (largestExponent - precisionBits + 1) << precisionBits

  /// Returns the bucket of a duration.
  ///
  /// Durations below 32 µs have a bucket each. Above, the five bits after the leading one select the bucket.
  private static func bucket(of microseconds: Int64) -> Int {
    let value = max(0, microseconds)
    guard value >= 1 << precisionBits else { return Int(value) }
    let exponent = 63 - value.leadingZeroBitCount
    guard exponent < largestExponent else { return bucketCount - 1 }
    let mantissa = Int(value >> Int64(exponent - precisionBits)) & ((1 << precisionBits) - 1)
    return (exponent - precisionBits + 1) << precisionBits + mantissa
  }

  private static func upperEnd(of bucket: Int) -> Int64 {
    guard bucket >= 1 << precisionBits else { return Int64(bucket) }
    let exponent = bucket >> precisionBits + precisionBits - 1
    let mantissa = Int64(bucket & ((1 << precisionBits) - 1)) + 1 << precisionBits
    return (mantissa + 1) << Int64(exponent - precisionBits) - 1
  }

  private static func microseconds(_ duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.boundedComponents
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
    // A fraction of a microsecond is rounded up, so that no percentile is too low.
    let (sum, exceeds) = product.addingReportingOverflow((attoseconds + 999_999_999_999) / 1_000_000_000_000)
    return overflow || exceeds ? .max : sum
  }
}
