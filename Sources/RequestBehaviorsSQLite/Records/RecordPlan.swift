internal import CRequestBehaviorsSQLite

/// The plan for saving records of one type into one table: its columns, its statements, the column of each coding key.
///
/// A record whose property has no column in the table is refused here.
final class RecordPlan {
  struct Key: Hashable {
    var type: ObjectIdentifier
    var table: SQLiteTable
  }

  private(set) var columns: [TableSchema.Column] = []
  private(set) var schema: TableSchema
  /// Whether a record has a column that the statements do not have yet.
  private(set) var isStale = true
  let table: SQLiteTable
  // The connection owns its plans.
  private unowned let connection: Connection
  private let keys: RowFormat.Keys
  private var indexes: [String: Int32] = [:]
  private var single: Statement?
  private var several: (rows: Int, statement: Statement)?
  /// The statements for rows that lack columns, by the columns that the row has.
  private var partial: [[Int]: Statement] = [:]
  private var keepsKeys: Statement?
  private var keptEncoder: RowEncoder?

  /// The index of a property that is not saved because its column is generated.
  static let ignored: Int32 = -1

  /// The most statements that are kept for rows that lack columns.
  private static let partialLimit = 32

  init(table: SQLiteTable, connection: Connection) throws {
    self.table = table
    self.connection = connection
    keys = connection.configuration.format.keys
    schema = try TableSchema(of: table.name, on: connection)
  }

  deinit { keptEncoder?.forget() }

  /// Returns the encoder for the records.
  ///
  /// It is kept, with the columns of the coding keys it has seen.
  func encoder(for type: Any.Type) throws -> RowEncoder {
    if let keptEncoder { return keptEncoder }
    // Until the plan has columns it has no statement. This one takes no values and is never run.
    let statement = try connection.statement("SELECT 1")
    let binder = RowBinder(statement: statement.pointer, format: connection.configuration.format)
    let encoder = RowEncoder(plan: self, binder: binder, recordType: "\(type)")
    keptEncoder = encoder
    return encoder
  }

  var isEmpty: Bool { columns.isEmpty }

  /// Returns the index of a property's column, and adds the column to the plan if needed.
  func column(for property: String, of type: String) throws -> Int32 {
    if let index = indexes[property] { return index }
    let name = keys.column(for: property)
    var column = schema.column(name)
    if column == nil {
      // Another process may have added the column since the schema was read.
      schema = try TableSchema(of: table.name, on: connection)
      column = schema.column(name)
    }
    guard let column else { throw unknown(name, of: type) }
    guard !column.isGenerated else {
      indexes[property] = Self.ignored
      return Self.ignored
    }
    let index = Int32(columns.count)
    columns.append(column)
    indexes[property] = index
    isStale = true
    return index
  }

  /// Drops the statements because they lack a column.
  func renew() {
    isStale = false
    single = nil
    several = nil
    partial = [:]
    keepsKeys = nil
  }

  /// The number of rows in one statement when many are saved.
  var rowsPerStatement: Int { max(1, min(20, 900 / max(1, columns.count))) }

  /// Returns the statement that saves a number of rows.
  func statement(rows: Int) throws -> Statement {
    if rows == 1, let single { return single }
    if let several, several.rows == rows { return several.statement }
    let sql = UpsertSQL(table: schema.name, columns: columns, key: try conflictKey)
    let statement = try connection.prepare(sql.statement(rows: rows))
    if rows == 1 { single = statement } else { several = (rows, statement) }
    return statement
  }

  /// Returns the statement that saves one row with some of the columns; it takes their parameters of a whole row.
  ///
  /// - Parameter present: The indexes of the columns that the row has, in ascending order.
  /// - Returns: The statement.
  /// - Throws: ``SQLiteError`` if the table names a key that the row lacks.
  func statement(columns present: [Int]) throws -> Statement {
    if let statement = partial[present] { return statement }
    let columns = present.map { self.columns[$0] }
    let key = try schema.key(of: table, among: columns)
    let sql = UpsertSQL(table: schema.name, columns: columns, key: key, parameters: present.map { $0 + 1 })
    let statement = try connection.prepare(sql.statement(rows: 1))
    if partial.count == Self.partialLimit { partial = [:] }
    partial[present] = statement
    return statement
  }

  /// Returns the statement that records a row's key as one to keep; it takes the parameters of a row.
  func keepingStatement() throws -> Statement {
    if let keepsKeys { return keepsKeys }
    let conflictKey = try conflictKey
    let keptTable = try keptTable
    let names = conflictKey.map(SQL.quoted).joined(separator: ",")
    let sources = conflictKey.compactMap { key in
      columns.firstIndex { $0.name.lowercased() == key.lowercased() }.map { "?\($0 + 1)" }
    }
    try connection.runTemporary(
      """
      CREATE TEMP TABLE IF NOT EXISTS \(keptTable.dropFirst(5))
      AS SELECT \(names) FROM main.\(SQL.quoted(schema.name)) LIMIT 0
      """)
    // The last parameter is named, so that the statement has as many parameters as a row.
    let last = "?\(columns.count)"
    let statement = try connection.prepare(
      "INSERT INTO \(keptTable)(\(names)) SELECT \(sources.joined(separator: ",")) WHERE \(last) IS \(last)")
    keepsKeys = statement
    return statement
  }

  /// The temporary table of the keys to keep; there is one for each key of a table.
  var keptTable: String {
    get throws {
      let key = try conflictKey.map { $0 + " " + (schema.column($0)?.declaredType ?? "") }
      return "temp." + SQL.quoted("rb_kept_\(schema.name)(\(key.joined(separator: ",")))")
    }
  }

  /// The columns that identify a row; empty if the records do not have all of them.
  var conflictKey: [String] {
    get throws { try schema.key(of: table, among: columns) }
  }

  private func unknown(_ column: String, of type: String) -> SQLiteError {
    SQLiteError(
      .error,
      "the table \"\(schema.name)\" has no column \"\(column)\" for the property of \(type); "
        + "it has \(schema.columnList)",
      path: connection.path)
  }
}
