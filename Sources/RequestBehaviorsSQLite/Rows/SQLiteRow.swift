/// A row of a result, whose columns are read by number or name.
///
/// A value is read as the requested type. An error names the column whose value does not fit:
///
/// ```swift
/// let titles = try db.query(
///   "SELECT id, title FROM artwork"
/// ) { row in
///   Title(id: try row[0], text: try row["title"])
/// }
/// ```
///
/// A row can be read until its closure or initializer returns. Reading it later throws.
public struct SQLiteRow {
  @usableFromInline let cursor: RowCursor
  @usableFromInline let number: Int

  @usableFromInline
  init(cursor: RowCursor, number: Int) {
    self.cursor = cursor
    self.number = number
  }

  /// Returns the value of a column by its number; the first is 0.
  ///
  /// - Throws: `DecodingError` naming the column if it does not exist or its value does not fit the type.
  @inlinable
  public subscript<Value: SQLReadable>(index: Int) -> Value {
    get throws { try Value(column: SQLiteColumn(row: self, index: index)) }
  }

  /// Returns the value of a column by its name, in any case; if two columns have the same name, the first counts.
  ///
  /// - Throws: `DecodingError` naming the column if it does not exist or its value does not fit the type.
  @inlinable
  public subscript<Value: SQLReadable>(name: String) -> Value {
    get throws { try Value(column: SQLiteColumn(row: self, index: try cursor.index(of: name))) }
  }

  /// Returns the record of the row; each property is read from the column of its name.
  ///
  /// - Throws: `DecodingError` naming the column if a property has no column or its value does not fit.
  public func decode<Record: Decodable>(_ type: Record.Type = Record.self) throws -> Record {
    guard cursor.number == number else { throw cursor.gone() }
    return try Record(from: cursor.decoder())
  }
}

/// A column of a row, for types that read themselves from one; see ``SQLReadable``.
public struct SQLiteColumn {
  @usableFromInline let cursor: RowCursor
  @usableFromInline let number: Int
  @usableFromInline let index: Int

  @inlinable
  init(row: SQLiteRow, index: Int) {
    cursor = row.cursor
    number = row.number
    self.index = index
  }
}

/// A type that reads itself from a row.
///
/// The database's `query`, `first`, `forEach` and `find` read such a type by its initializer, even if it is also
/// `Decodable`. That takes about two thirds of the time of decoding.
///
/// ```swift
/// extension Artwork: SQLiteRecord {
///   init(row: SQLiteRow) throws {
///     self.init(id: try row["id"], title: try row["title"])
///   }
/// }
/// ```
public protocol SQLiteRecord {
  /// Creates a value from a row, which can be read until the initializer returns.
  init(row: SQLiteRow) throws
}

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
