internal import CRequestBehaviorsSQLite

/// The columns and the primary key of a table, as they are in the file.
struct TableSchema {
  struct Column {
    var name: String
    var declaredType: String
    var keyPosition: Int
    var isGenerated: Bool
    /// Whether `=` treats values as equal whose bytes differ.
    var hasLooseCollation: Bool
  }

  let name: String
  let columns: [Column]
  private let indexes: [String: Int]

  init(of table: String, on connection: Connection) throws {
    columns = try Self.columns(of: table, on: connection)
    indexes = Dictionary(
      columns.enumerated().map { ($1.name.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
    name = table
  }

  /// Returns the column with a name, in any case.
  func column(_ name: String) -> Column? { indexes[name.lowercased()].map { columns[$0] } }

  var primaryKey: [String] {
    columns.filter { $0.keyPosition > 0 }.sorted { $0.keyPosition < $1.keyPosition }.map(\.name)
  }

  /// Returns the columns that identify a row.
  ///
  /// They are the columns that the table names. Without such columns they are its primary key, if all of it is saved.
  ///
  /// - Throws: ``SQLiteError`` when the table names a column that is not saved: each save would insert the row again.
  func key(of table: SQLiteTable, among saved: [Column]) throws -> [String] {
    let key = table.key.isEmpty ? primaryKey : table.key
    let names = Set(saved.map { $0.name.lowercased() })
    guard let missing = key.first(where: { !names.contains($0.lowercased()) }) else { return key }
    guard !table.key.isEmpty else { return [] }
    throw SQLiteError(
      .misuse,
      "the key \"\(missing)\" is not among the columns that are saved into \"\(name)\", which has \(columnList); "
        + "name columns of a unique index that every record has")
  }

  /// The names of all columns, for messages.
  var columnList: String { columns.map(\.name).joined(separator: ", ") }

  private static func columns(of table: String, on connection: Connection) throws -> [Column] {
    // Unlike `table_info`, `table_xinfo` also lists generated columns, which `hidden` tells by a number above 1.
    let statement = try connection.prepare("SELECT name, type, pk, hidden FROM pragma_table_xinfo(?)")
    _ = statement.bind(.text(table), at: 1)
    var columns: [Column] = []
    while try connection.step(statement) {
      let name = sqlite3_column_text(statement.pointer, 0).map { String(cString: $0) } ?? ""
      columns.append(
        Column(
          name: name,
          declaredType: sqlite3_column_text(statement.pointer, 1).map { String(cString: $0) } ?? "",
          keyPosition: Int(sqlite3_column_int64(statement.pointer, 2)),
          isGenerated: sqlite3_column_int64(statement.pointer, 3) > 1,
          hasLooseCollation: hasLooseCollation(name, of: table, on: connection)))
    }
    // SQLite returns no rows, and no error, for a table that does not exist.
    guard !columns.isEmpty else {
      throw SQLiteError(
        .error, "there is no table \"\(table)\"; create it in a migration of the store", path: connection.path)
    }
    return columns
  }

  private static func hasLooseCollation(_ column: String, of table: String, on connection: Connection) -> Bool {
    var collation: UnsafePointer<CChar>?
    let result = sqlite3_table_column_metadata(connection.handle, nil, table, column, nil, &collation, nil, nil, nil)
    guard result == SQLITE_OK, let collation else { return false }
    return String(cString: collation).uppercased() != "BINARY"
  }
}
