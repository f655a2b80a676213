public import Foundation

// How the types of the standard library and Foundation are written in a query.

extension String: QueryValue {}
extension Substring: QueryValue {}
extension Bool: QueryValue {}
extension Int: QueryValue {}
extension Int8: QueryValue {}
extension Int16: QueryValue {}
extension Int32: QueryValue {}
extension Int64: QueryValue {}
extension UInt: QueryValue {}
extension UInt8: QueryValue {}
extension UInt16: QueryValue {}
extension UInt32: QueryValue {}
extension UInt64: QueryValue {}
extension Double: QueryValue {}
extension Float: QueryValue {}

extension UUID: QueryValue {
  /// The usual form with hyphens.
  public var queryValues: [String] { [uuidString] }
}

extension URL: QueryValue {
  /// The whole URL.
  public var queryValues: [String] { [absoluteString] }
}

extension Date: QueryValue {
  /// The date as ISO 8601 in UTC, such as `2026-01-31T12:00:00Z`.
  public var queryValues: [String] { [formatted(.iso8601)] }
}

extension Decimal: QueryValue {
  /// The number with a decimal point.
  public var queryValues: [String] { [description] }
}

extension Array: QueryValue where Element: QueryValue {
  /// The texts of the elements in order.
  public var queryValues: [String] { flatMap(\.queryValues) }
}

extension Optional: QueryValue where Wrapped: QueryValue {
  /// The texts of the value, none for `nil`.
  public var queryValues: [String] { self?.queryValues ?? [] }
}
