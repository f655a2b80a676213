/// The importance of a log record.
public enum LogLevel: Int, Sendable, Comparable, CaseIterable, CustomStringConvertible {
  /// Steps on the way: the beginning of a call, the beginning and end of each of its sends.
  case debug
  /// Calls that succeeded or were cancelled.
  case info
  /// Calls that failed.
  case error

  /// Whether the left level is less important than the right one.
  public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }

  /// The name of the level.
  public var description: String {
    switch self {
    case .debug: "debug"
    case .info: "info"
    case .error: "error"
    }
  }
}
