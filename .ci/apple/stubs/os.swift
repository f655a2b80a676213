// What the sources use of os.
public struct OSLogType: RawRepresentable, Equatable, Sendable {
  public var rawValue: UInt8
  public init(_ rawValue: UInt8) { self.rawValue = rawValue }
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  public static var `default`: OSLogType { .init(0) }
  public static var info: OSLogType { .init(1) }
  public static var debug: OSLogType { .init(2) }
  public static var error: OSLogType { .init(16) }
  public static var fault: OSLogType { .init(17) }
}
public struct OSLogPrivacy: Sendable {
  public static var `public`: OSLogPrivacy { .init() }
  public static var `private`: OSLogPrivacy { .init() }
  public static var auto: OSLogPrivacy { .init() }
}
public struct OSLogStringAlignment: Sendable { public static var none: OSLogStringAlignment { .init() } }
public struct OSLogInterpolation: StringInterpolationProtocol {
  public init(literalCapacity: Int, interpolationCount: Int) {}
  public mutating func appendLiteral(_ literal: String) {}
  public mutating func appendInterpolation(
    _ argumentString: @autoclosure @escaping () -> String, align: OSLogStringAlignment = .none,
    privacy: OSLogPrivacy = .auto
  ) {}
}
public struct OSLogMessage: ExpressibleByStringInterpolation, ExpressibleByStringLiteral {
  public let interpolation: OSLogInterpolation
  public init(stringInterpolation: OSLogInterpolation) { interpolation = stringInterpolation }
  public init(stringLiteral value: String) { interpolation = .init(literalCapacity: 0, interpolationCount: 0) }
}
@frozen public struct Logger: @unchecked Sendable {
  public init(subsystem: String, category: String) {}
  public init() {}
  public func log(level: OSLogType, _ message: OSLogMessage) {}
  public func log(_ message: OSLogMessage) {}
  public func info(_ message: OSLogMessage) {}
}
