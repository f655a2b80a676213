/// A set of HTTP status codes.
///
/// ```swift
/// try await client.send(
///   .get("feed").with(\.acceptableStatuses, .success.union([404])))
/// ```
public struct StatusCodes: Sendable, Hashable, ExpressibleByArrayLiteral {
  private var ranges: [ClosedRange<Int>]

  /// Creates the set of a range's codes.
  public init(_ range: ClosedRange<Int>) { ranges = [range] }

  /// Creates the set of the listed codes.
  public init(arrayLiteral elements: Int...) { ranges = elements.map { $0...$0 } }

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
  public func union(_ other: StatusCodes) -> StatusCodes {
    var joined = self
    joined.ranges += other.ranges
    return joined
  }
}
