internal import CRequestBehaviorsSQLite
import Foundation

extension Database {
  /// Saves records as rows: inserts those with new keys, updates those that differ.
  ///
  /// Each property goes to the column of its name. A property that is nil is saved as NULL. A column without a property
  /// keeps its value, and has its default in a new row; so does the column of a property that a record's own
  /// `encode(to:)` leaves out. A row that already has the same values is not written.
  ///
  /// - Parameters:
  ///   - records: The records.
  ///   - table: The table, such as `"artwork"`.
  /// - Returns: The numbers of rows that were inserted, updated and left unchanged.
  /// - Throws: ``SQLiteError`` with ``SQLiteError/row`` when a value cannot be stored, a property has no column or a
  ///   constraint is violated. If the error leaves the transaction, no record of the call is saved.
  @discardableResult
  public func save<Record: Encodable>(_ records: [Record], into table: SQLiteTable) throws -> SQLiteSaveCounts {
    try save(records, into: table, scope: nil)
  }

  /// Saves records as rows and deletes the other rows of a set, which then holds exactly the records.
  ///
  /// - Parameters:
  ///   - records: The records; an empty array deletes the whole set.
  ///   - table: The table. It has a key, and the records have all its columns.
  ///   - scope: The rows to delete unless they are among the saved ones.
  /// - Returns: The numbers of rows that were inserted, updated, left unchanged and deleted.
  /// - Throws: As ``save(_:into:)-([Record],_)``.
  @discardableResult
  public func save<Record: Encodable>(
    _ records: [Record], into table: SQLiteTable, deletingOthers scope: SQLiteScope
  ) throws -> SQLiteSaveCounts {
    try save(records, into: table, scope: scope)
  }

  private func save<Record: Encodable>(
    _ records: [Record], into table: SQLiteTable, scope: SQLiteScope?
  ) throws -> SQLiteSaveCounts {
    let connection = try connection()
    try requireWrite(sql: nil)
    try connection.checkTransaction()
    guard let first = records.first else { return try deleteAll(in: scope, of: table) }
    let plan = try connection.plan(for: Record.self, table)
    var writer = try RecordWriter(plan: plan, connection: connection, sample: first)
    var counts = try writer.save(records)
    if let scope { counts.deleted = try deleteOthers(in: scope, plan) { try writer.keep(records) } }
    return counts
  }

  /// Saves a record as a row: inserts the row if its key is new, updates it if it differs.
  @discardableResult
  public func save(_ record: some Encodable, into table: SQLiteTable) throws -> SQLiteSaveCounts {
    try save([record], into: table, scope: nil)
  }

  private func deleteAll(in scope: SQLiteScope?, of table: SQLiteTable) throws -> SQLiteSaveCounts {
    var counts = SQLiteSaveCounts()
    guard let scope else { return counts }
    counts.deleted = try execute("DELETE FROM \(identifier: table.name) WHERE (\(sql: scope.condition))")
    return counts
  }

  /// Deletes the rows in the set whose keys the closure did not record.
  func deleteOthers(in scope: SQLiteScope, _ plan: RecordPlan, noting: () throws -> Void) throws -> Int {
    let connection = try connection()
    let key = try plan.conflictKey
    guard !key.isEmpty else {
      throw connection.misuse(
        "rows of \"\(plan.schema.name)\" can be deleted only if the table has a key and the records name all of it")
    }
    defer { connection.ignoreChanges() }
    _ = try plan.keepingStatement()
    let kept = try plan.keptTable
    try connection.run("DELETE FROM \(kept)")
    try noting()
    let names = key.map(SQL.quoted)
    let unknown = names.map { "\($0) IS NULL" }.joined(separator: " OR ")
    let keyless = "SELECT count(*) FROM \(kept) WHERE \(unknown)"
    guard try connection.scalar(keyless) == 0 else {
      throw connection.misuse("a record of \"\(plan.schema.name)\" has no key, so it is not known which rows to delete")
    }
    let list = names.joined(separator: ",")
    connection.ignoreChanges()
    // A row with an unknown key is not a saved one, but SQL's NOT IN is not true for NULL.
    let others = "((\(list)) NOT IN (SELECT \(list) FROM \(kept)) OR \(unknown))"
    return try execute(
      "DELETE FROM \(identifier: plan.schema.name) WHERE (\(sql: scope.condition)) AND \(sql: SQL(verbatim: others))")
  }
}

extension Connection {
  /// Returns the plan for saving records of a type.
  ///
  /// It is made once.
  func plan(for type: Any.Type, _ table: SQLiteTable) throws -> RecordPlan {
    try checkSchemaVersion()
    let key = RecordPlan.Key(type: ObjectIdentifier(type), table: table)
    if let lastPlan, lastPlan.key == key { return lastPlan.plan }
    let plan = try plans[key] ?? RecordPlan(table: table, connection: self)
    plans[key] = plan
    lastPlan = (key, plan)
    return plan
  }

  /// Drops the cached plans and schemas if this or another process has changed the schema since the last transaction.
  ///
  /// The version is checked once in a transaction, whose snapshot has one schema. Its own changes drop the caches at
  /// once.
  func checkSchemaVersion() throws {
    guard !knowsSchemaVersion else { return }
    let version = try scalar("PRAGMA schema_version")
    if version != schemaVersion { forgetSchema() }
    schemaVersion = version
    knowsSchemaVersion = true
  }

  /// Returns the table's schema as it is now.
  func currentSchema(of table: String) throws -> TableSchema {
    try checkSchemaVersion()
    if let schema = schemas[table] { return schema }
    let schema = try TableSchema(of: table, on: self)
    schemas[table] = schema
    return schema
  }

  /// Runs a statement that saves rows, and returns how many it inserted, updated and left unchanged.
  func save(by statement: Statement, rows: Int) throws -> SQLiteSaveCounts {
    if mustStop { throw failure(SQLITE_INTERRUPT) }
    updatedRows = 0
    let result = sqlite3_step(statement.pointer)
    noteChanges(by: statement)
    guard result == SQLITE_DONE else { throw failure(result, sql: statement.sql) }
    let changed = Int(sqlite3_changes(handle))
    var counts = SQLiteSaveCounts()
    counts.updated = min(updatedRows, changed)
    counts.inserted = changed - counts.updated
    counts.unchanged = rows - changed
    return counts
  }

  func scalar(_ sql: String) throws -> Int {
    let statement = try self.statement(sql)
    defer { statement.reset() }
    return try step(statement) ? Int(sqlite3_column_int64(statement.pointer, 0)) : 0
  }
}
