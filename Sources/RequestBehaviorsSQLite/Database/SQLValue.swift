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
/// Conforming types are the integers, `Bool`, `Double`, `Float`, `String`, `Substring`, `Date`, `UUID`, `Data`,
/// `[UInt8]`, `URL`, `Decimal`, optionals of these and ``SQLValue`` itself. An enum with a raw value binds its
/// `rawValue`.
public protocol SQLBindable: Sendable {
  /// Returns the value as SQLite stores it.
  ///
  /// - Throws: ``SQLiteError`` if SQLite has no such value.
  func sqlValue() throws -> SQLValue
}

extension SQLValue: SQLBindable, SQLReadable {
  /// Returns the value itself.
  ///
  /// Throws for NaN, which SQLite would store as NULL.
  public func sqlValue() throws -> SQLValue {
    if case .real(let number) = self { return try number.sqlValue() }
    return self
  }

  /// Creates the value that SQLite stores.
  public init(column: borrowing SQLiteColumn) throws { self = try column.storedValue() }
}

/// A value whose bound form depends on the store's ``RowFormat``.
protocol FormattedBindable: SQLBindable {
  func sqlValue(_ format: RowFormat) throws -> SQLValue
}

extension Optional: FormattedBindable where Wrapped: FormattedBindable {
  func sqlValue(_ format: RowFormat) throws -> SQLValue { try self?.sqlValue(format) ?? .null }
}

extension SQLBindable {
  /// Returns the value in the form that a store with this format writes.
  func stored(in format: RowFormat) throws -> SQLValue {
    // Most stores use the default forms, for which the cast is not needed.
    guard format.dates != .text || format.uuids != .blob, let value = self as? any FormattedBindable else {
      return try sqlValue()
    }
    return try value.sqlValue(format)
  }
}
