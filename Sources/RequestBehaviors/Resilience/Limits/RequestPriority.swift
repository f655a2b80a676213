/// The urgency of a request among those that wait for the same permit.
///
/// The greater value goes first.
public struct RequestPriority: RawRepresentable, Hashable, Comparable, Sendable {
  /// The urgency.
  public let rawValue: Int

  /// Creates a priority.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Background work, for which no user waits.
  public static let low = RequestPriority(rawValue: -100)
  /// The default priority.
  public static let normal = RequestPriority(rawValue: 0)
  /// Work whose result a user is waiting for.
  public static let high = RequestPriority(rawValue: 100)

  /// Work that requests wait for, such as getting their token: it goes before all of them.
  static let prerequisite = RequestPriority(rawValue: .max)

  /// Whether the left one is less urgent.
  public static func < (left: RequestPriority, right: RequestPriority) -> Bool { left.rawValue < right.rawValue }
}
