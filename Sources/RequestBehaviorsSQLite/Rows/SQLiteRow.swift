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
