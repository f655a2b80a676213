/// A type that a single column can be read as.
///
/// Conforming types are the integers, `Bool`, `Double`, `Float`, `String`, `Date`, `UUID`, `Data`, `[UInt8]`, `URL`,
/// `Decimal`, optionals of these and ``SQLValue``. An enum with a raw value needs only the conformance. Another type
/// reads itself from one of these:
///
/// ```swift
/// extension Price: SQLReadable {
///   init(column: borrowing SQLiteColumn) throws {
///     cents = try Int(column: column)
///   }
/// }
/// ```
///
/// As a record, such a type is read from the row's first column.
public protocol SQLReadable: SQLiteRecord {
  /// Creates a value from a column, which can be read until the initializer returns.
  init(column: borrowing SQLiteColumn) throws
}

extension SQLReadable {
  /// Creates a value from the row's first column.
  @inlinable
  public init(row: SQLiteRow) throws { self = try row[0] }
}
