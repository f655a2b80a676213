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
