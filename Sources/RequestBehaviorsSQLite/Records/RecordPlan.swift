internal import CRequestBehaviorsSQLite

/// How records of one type are saved into one table: the columns, the statements, the place of each coding key.
final class RecordPlan {
  struct Key: Hashable {
    var type: ObjectIdentifier
    var table: SQLiteTable
  }

  private(set) var columns: [TableSchema.Column] = []
  private(set) var schema: TableSchema
  /// Set when a record named a column the statements do not have yet.
  private(set) var isStale = true
  let table: SQLiteTable
  // The connection owns its plans.
  private unowned let connection: Connection
  private let keys: RowFormat.Keys
  private var indexes: [String: Int32] = [:]
  private var single: Statement?
  private var several: (rows: Int, statement: Statement)?
  private var keepsKeys: Statement?
  private var keptEncoder: RowEncoder?

  /// The index of a property whose column is generated, and which is therefore not saved.
  static let ignored: Int32 = -1

  init(table: SQLiteTable, connection: Connection) throws {
    self.table = table
    self.connection = connection
    keys = connection.configuration.format.keys
    schema = try TableSchema(of: table.name, on: connection)
  }

  deinit { keptEncoder?.forget() }

  /// Returns the encoder for the records, kept with the places of the coding keys it has seen.
  func encoder(for type: Any.Type) throws -> RowEncoder {
    if let keptEncoder { return keptEncoder }
    // Until the plan has columns there is no statement; this one takes no values and is never run.
    let statement = try connection.statement("SELECT 1")
    let binder = RowBinder(statement: statement.pointer, format: connection.configuration.format)
    let encoder = RowEncoder(plan: self, binder: binder, recordType: "\(type)")
    keptEncoder = encoder
    return encoder
  }

  var isEmpty: Bool { columns.isEmpty }

  /// Returns the index of a property's column, which becomes part of the plan if it was not.
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

  /// Drops the statements, which lack a column.
  func renew() {
    isStale = false
    single = nil
    several = nil
    keepsKeys = nil
  }

  /// How many rows one statement takes when many are saved.
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

  /// Returns the statement that notes a row's key among those to keep; it takes the parameters of a row.
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
    let last = "?\(columns.count)"
    let statement = try connection.prepare(
      "INSERT INTO \(keptTable)(\(names)) SELECT \(sources.joined(separator: ",")) WHERE \(last) IS \(last)")
    keepsKeys = statement
    return statement
  }

  /// The temporary table of the keys to keep, one for each key that a table has.
  var keptTable: String {
    get throws {
      let key = try conflictKey.map { $0 + " " + (schema.column($0)?.declaredType ?? "") }
      return "temp." + SQL.quoted("rb_kept_\(schema.name)(\(key.joined(separator: ",")))")
    }
  }

  /// The columns that identify a row, as far as the records name them all.
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

/// Writes the statements that save rows.
struct UpsertSQL {
  let table: String
  let columns: [TableSchema.Column]
  /// The conflict target; empty for a table without key, or when the rows do not name the whole key.
  let key: [String]

  /// The function that notes that a row is updated, and returns 1.
  static let updateCounter = "rb_updated"

  /// Returns an `INSERT` for a number of rows that updates rows of the same key only where they differ.
  ///
  /// The guard makes saving unchanged rows free: no page is written, `changes()` is 0.
  func statement(rows: Int) -> String {
    let row = "(" + repeatElement("?", count: columns.count).joined(separator: ",") + ")"
    let names = columns.map { SQL.quoted($0.name) }.joined(separator: ",")
    let values = repeatElement(row, count: rows).joined(separator: ",")
    return "INSERT INTO \(SQL.quoted(table))(\(names)) VALUES\(values)" + conflictClause
  }

  private var conflictClause: String {
    guard !key.isEmpty else { return "" }
    let target = key.map(SQL.quoted).joined(separator: ",")
    let keys = Set(key.map { $0.lowercased() })
    let others = columns.filter { !keys.contains($0.name.lowercased()) }
    guard !others.isEmpty else { return " ON CONFLICT(\(target)) DO NOTHING" }
    let assignments = others.map { "\(SQL.quoted($0.name))=excluded.\(SQL.quoted($0.name))" }
    // Under another collation "a" IS "A", and the change of case would be lost.
    let old = others.map { SQL.quoted($0.name) + ($0.hasLooseCollation ? " COLLATE BINARY" : "") }
    let new = others.map { "excluded." + SQL.quoted($0.name) }
    return " ON CONFLICT(\(target)) DO UPDATE SET \(assignments.joined(separator: ","))"
      + " WHERE CASE WHEN (\(old.joined(separator: ","))) IS NOT (\(new.joined(separator: ",")))"
      // Of a CASE, unlike of AND, SQLite promises to evaluate only what it needs.
      + " THEN \(Self.updateCounter)() ELSE 0 END"
  }
}
