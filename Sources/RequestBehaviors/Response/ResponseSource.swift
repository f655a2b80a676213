/// Where a response came from.
public struct ResponseSource: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The name of the source.
  public let rawValue: String

  /// Creates a source.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The network.
  public static let network = ResponseSource(rawValue: "network")
  /// A mock transport.
  public static let mock = ResponseSource(rawValue: "mock")
  /// A cache; the library has none yet.
  public static let cache = ResponseSource(rawValue: "cache")
  /// The response to an identical request in flight; no behavior of the library joins requests yet.
  public static let coalesced = ResponseSource(rawValue: "coalesced")

  /// The name of the source.
  public var description: String { rawValue }
}
