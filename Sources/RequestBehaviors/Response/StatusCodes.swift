/// A set of HTTP status codes.
///
/// ```swift
/// try await client.send(
///   .get("feed").with(\.acceptableStatuses, .success.union([404])))
/// ```
public struct StatusCodes: Sendable, Hashable, ExpressibleByArrayLiteral {
  // Ascending, with a gap between two of them, so that equal sets have equal ranges.
  private let ranges: [ClosedRange<Int>]

  /// Creates the set of a range's codes.
  public init(_ range: ClosedRange<Int>) { ranges = [range] }

  /// Creates the set of the listed codes.
  public init(arrayLiteral elements: Int...) { self.init(joining: elements.map { $0...$0 }) }

  private init(joining ranges: [ClosedRange<Int>]) {
    var joined: [ClosedRange<Int>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = joined.last, range.lowerBound <= last.upperBound || range.lowerBound - 1 == last.upperBound {
        joined[joined.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
      } else {
        joined.append(range)
      }
    }
    self.ranges = joined
  }

  /// The codes 200 to 299 (RFC 9110 §15.3).
  public static let success = StatusCodes(200...299)

  /// Every code.
  public static let all = StatusCodes(0...999)

  /// Whether the set has a code.
  public func contains(_ code: Int) -> Bool {
    for range in ranges where range.contains(code) { return true }
    return false
  }

  /// Returns the codes that are in this set or in another.
  public func union(_ other: StatusCodes) -> StatusCodes { StatusCodes(joining: ranges + other.ranges) }
}
