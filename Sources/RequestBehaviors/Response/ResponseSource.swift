/// The source of a response.
public struct ResponseSource: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The name of the source.
  public let rawValue: String

  /// Creates a source.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The network.
  public static let network = ResponseSource(rawValue: "network")
  /// A mock transport.
  public static let mock = ResponseSource(rawValue: "mock")
  /// A cache that had a fresh response.
  public static let cache = ResponseSource(rawValue: "cache")
  /// A cache whose stored response the server confirmed.
  public static let revalidated = ResponseSource(rawValue: "revalidated")
  /// A cache that had a stale response which may be used.
  public static let stale = ResponseSource(rawValue: "stale")
  /// The response to an identical request in flight, which a ``CoalescingBehavior`` joined.
  public static let coalesced = ResponseSource(rawValue: "coalesced")

  /// The name of the source.
  public var description: String { rawValue }
}
