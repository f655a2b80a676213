internal import CRequestBehaviorsSQLite

/// A cursor that reads the rows of a statement, one after the other.
///
/// It is used by one thread at a time. No property is visible to other modules: exclusive access to such a property
/// would be checked at run time, which for ``number`` alone adds 10 % to a find.
@usableFromInline
final class RowCursor {
  /// The number of the current row; a row with another number can no longer be read.
  private(set) var number = 0
  /// The statement, as long as it has a row.
  private(set) var statement: OpaquePointer?
  private(set) var columnCount: Int32 = 0
  let format: RowFormat
  private var map: ColumnMap?
  private var revision: Int32 = -1
  private var keptDecoder: RowDecoder?
  /// The column after the one that was last read by name.
  ///
  /// Columns are mostly read in order.
  private var expected = 0

  init(format: RowFormat) { self.format = format }

  /// Returns the first row of a run.
  ///
  /// SQLite may have prepared the statement again since the last run.
  func firstRow(of statement: OpaquePointer) -> SQLiteRow {
    self.statement = statement
    noticeColumns(of: statement)
    return nextRow()
  }

  /// Returns the row that the statement has stepped to.
  func nextRow() -> SQLiteRow {
    number += 1
    return SQLiteRow(cursor: self, number: number)
  }

  /// Ends the run: its rows can no longer be read.
  func end() {
    statement = nil
    number += 1
  }

  /// Drops the names and indexes of columns if SQLite has prepared the statement again.
  private func noticeColumns(of statement: OpaquePointer) {
    let now = sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_REPREPARE, 0)
    guard now != revision else { return }
    revision = now
    columnCount = sqlite3_column_count(statement)
    map = nil
    keptDecoder = nil
  }

  /// The columns by their names.
  var columns: ColumnMap {
    if let map { return map }
    let names = (0..<columnCount).map { index in
      sqlite3_column_name(statement, index).map { String(cString: $0) } ?? ""
    }
    let map = ColumnMap(names: names, keys: format.keys)
    self.map = map
    return map
  }

  /// Returns the number of the column with a name.
  @usableFromInline
  func index(of name: String) throws -> Int {
    guard statement != nil else { throw gone() }
    let columns = columns
    if columns.namesAreUnique, expected < columns.names.count, columns.names[expected] == name {
      expected += 1
      return expected - 1
    }
    guard let index = columns.index(ofColumn: name) else { throw noColumn(for: ColumnName(stringValue: name)) }
    expected = Int(index) + 1
    return Int(index)
  }

  /// Returns the decoder of the row.
  ///
  /// It is kept, with the columns of the coding keys it has seen.
  func decoder() -> RowDecoder {
    if let keptDecoder { return keptDecoder }
    let decoder = RowDecoder(cursor: self, columns: columns)
    keptDecoder = decoder
    return decoder
  }

  // MARK: Errors

  func gone() -> DecodingError {
    let rule = "a row was read after its time; read all of it in the closure or initializer that is given it"
    return .dataCorrupted(.init(codingPath: [], debugDescription: rule))
  }

  func noColumn(for key: any CodingKey) -> DecodingError {
    let names = columns.names.joined(separator: ", ")
    return .keyNotFound(
      key, .init(codingPath: [], debugDescription: "the row has no column \"\(key.stringValue)\"; it has \(names)"))
  }

  private struct ColumnName: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}

/// The columns of a result by the names of the properties that they fill.
final class ColumnMap {
  let names: [String]
  /// Whether all columns have different names, in any case.
  let namesAreUnique: Bool
  private let keys: RowFormat.Keys
  private let indexes: [String: Int32]

  init(names: [String], keys: RowFormat.Keys) {
    self.names = names
    self.keys = keys
    // If two columns have the same name, the first counts, as in SQLite itself.
    indexes = Dictionary(
      names.enumerated().map { ($1.lowercased(), Int32($0)) }, uniquingKeysWith: { first, _ in first })
    namesAreUnique = indexes.count == names.count
  }

  /// Returns the column with a name, in any case.
  func index(ofColumn name: String) -> Int32? {
    // Mostly the case is right, and that search is faster.
    if namesAreUnique, let index = names.firstIndex(of: name) { return Int32(index) }
    return indexes[name.lowercased()]
  }

  /// Returns the column of a property, in any case.
  func index(of property: String) -> Int32? {
    indexes[keys.column(for: property).lowercased()] ?? indexes[property.lowercased()]
  }
}
