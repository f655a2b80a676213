public import Foundation

/// A value as SQLite stores it.
public enum SQLValue: Hashable, Sendable {
  /// SQL's NULL.
  case null
  /// A signed 64-bit integer.
  case integer(Int64)
  /// A 64-bit floating-point number; NaN cannot be stored.
  case real(Double)
  /// UTF-8 text, which may hold NUL characters.
  case text(String)
  /// Bytes.
  case blob(Data)
}

/// A value that can be bound to a parameter of a statement.
///
/// Conforming types are the integers, `Bool`, `Double`, `Float`, `String`, `Substring`, `Date`, `UUID`, `Data`, `[UInt8]`, `URL`,
/// `Decimal`, optionals of these and ``SQLValue`` itself. An enum with a raw value binds its `rawValue`.
public protocol SQLBindable: Sendable {
  /// Returns the value as SQLite stores it, or throws when SQLite has no such value.
  func sqlValue() throws -> SQLValue
}

extension SQLValue: SQLBindable {
  /// Returns the value itself; throws for NaN, which SQLite would store as NULL.
  public func sqlValue() throws -> SQLValue {
    if case .real(let number) = self { return try number.sqlValue() }
    return self
  }
}

extension Optional: SQLBindable where Wrapped: SQLBindable {
  /// Returns NULL for nil, the wrapped value's form otherwise.
  public func sqlValue() throws -> SQLValue { try self?.sqlValue() ?? .null }
}

extension RawRepresentable where Self: SQLBindable, RawValue: SQLBindable {
  /// Returns the raw value's form.
  public func sqlValue() throws -> SQLValue { try rawValue.sqlValue() }
}
