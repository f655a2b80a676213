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
