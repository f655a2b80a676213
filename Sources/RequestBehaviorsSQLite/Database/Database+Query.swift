internal import CRequestBehaviorsSQLite

extension Database {
  /// Returns the records of all rows that the SQL selects.
  ///
  /// Each property takes the column of its name; a type that is a single value, such as `Int` or `Date`, takes the first column.
  ///
  /// ```swift
  /// let recent: [Artwork] = try db.query(
  ///   "SELECT * FROM artwork WHERE seen > \(date) ORDER BY title")
  /// let titles = try db.query(
  ///   "SELECT title FROM artwork", as: String.self)
  /// ```
  ///
  /// - Throws: ``SQLiteError``; `DecodingError` naming the column when a property has none or its value does not fit.
  @inlinable
  public func query<Record: Decodable>(_ sql: SQL, as type: Record.Type = Record.self) throws -> [Record] {
    var records: [Record] = []
    try forEachRow(of: sql) { row in
      records.append(try row.record(type))
      return true
    }
    return records
  }

  /// Returns the record of the first row that the SQL selects, or nil when there is none.
  @inlinable
  public func first<Record: Decodable>(_ sql: SQL, as type: Record.Type = Record.self) throws -> Record? {
    var record: Record?
    try forEachRow(of: sql) { row in
      record = try row.record(type)
      return false
    }
    return record
  }

  /// Calls the closure with the record of each row that the SQL selects, without keeping them all in memory.
  @inlinable
  public func forEach<Record: Decodable>(
    _ sql: SQL, as type: Record.Type = Record.self, _ body: (Record) throws -> Void
  ) throws {
    try forEachRow(of: sql) { row in
      try body(row.record(type))
      return true
    }
  }

  /// Returns the record of the row with this primary key, or nil when there is none.
  ///
  /// - Parameters:
  ///   - type: The record's type.
  ///   - table: The table, whose key is one column.
  ///   - key: The key's value.
  /// - Returns: The record, or nil.
  /// - Throws: As ``query(_:as:)``.
  @inlinable
  public func find<Record: Decodable>(
    _ type: Record.Type = Record.self, in table: SQLiteTable, key: some SQLBindable
  ) throws -> Record? {
    var record: Record?
    try withRow(in: table, key: key) { record = try $0.record(type) }
    return record
  }
}

// What is generic above is inlined, so that it is compiled for the record's type; the work itself is not.
extension Database {
  /// Calls the closure with each row that the SQL selects for as long as it returns true.
  @usableFromInline
  func forEachRow(of sql: SQL, _ body: (RowDecoder) throws -> Bool) throws {
    let format = try connection().configuration.format
    try withStatement(for: sql) { statement, connection in
      guard try connection.step(statement) else { return }
      // The columns are known for sure only after the first step, which may have prepared the statement anew.
      let row = statement.decoder(format: format)
      while try body(row), try connection.step(statement) {}
    }
  }

  /// Calls the closure with the row that has this key, if there is one.
  @usableFromInline
  func withRow(in table: SQLiteTable, key: some SQLBindable, _ body: (RowDecoder) throws -> Void) throws {
    let connection = try connection()
    let statement = try connection.statementForFinding(in: table)
    guard !statement.isInUse else {
      return try forEachRow(of: SQL(verbatim: statement.sql, arguments: [key])) { row in
        try body(row)
        return false
      }
    }
    statement.isInUse = true
    defer {
      statement.reset()
      statement.isInUse = false
    }
    let bound = statement.bind(try key.stored(in: connection.configuration.format), at: 1)
    if bound != SQLITE_OK { throw connection.failure(bound, sql: statement.sql) }
    if connection.mustStop { throw connection.failure(SQLITE_INTERRUPT) }
    try connection.checkTransaction()
    guard try connection.step(statement) else { return }
    try body(statement.decoder(format: connection.configuration.format))
  }
}

/// The statement that selects a row of a table by its key.
final class Finder {
  let table: SQLiteTable
  let statement: Statement

  init(table: SQLiteTable, statement: Statement) {
    self.table = table
    self.statement = statement
  }
}

extension Connection {
  /// Returns the statement that selects a row by its key, made once for a table.
  func statementForFinding(in table: SQLiteTable) throws -> Statement {
    try checkSchemaVersion()
    if let lastFinder, lastFinder.table == table { return lastFinder.statement }
    let finder = try finders[table] ?? Finder(table: table, statement: prepareFinder(in: table))
    finders[table] = finder
    lastFinder = finder
    return finder.statement
  }

  private func prepareFinder(in table: SQLiteTable) throws -> Statement {
    let schema = try TableSchema(of: table.name, on: self)
    let key = table.key.isEmpty ? schema.primaryKey : table.key
    guard key.count == 1, let column = key.first else {
      throw misuse("the key of \"\(schema.name)\" is not one column; use first(_:as:)")
    }
    return try prepare("SELECT * FROM \(SQL.quoted(schema.name)) WHERE \(SQL.quoted(column)) = ?")
  }
}
