internal import CSQLite

extension Database {
  /// Returns the records of all rows that the SQL selects.
  ///
  /// Each property takes the column of its name; a type that is a single value, such as `Int` or `Date`, takes the first column.
  ///
  /// ```swift
  /// let recent: [Artwork] = try db.query("SELECT * FROM artwork WHERE seen > \(date) ORDER BY title")
  /// let titles = try db.query("SELECT title FROM artwork", as: String.self)
  /// ```
  ///
  /// - Throws: ``SQLiteError``; `DecodingError` naming the column when a property has none or its value does not fit.
  public func query<Record: Decodable>(_ sql: SQL, as type: Record.Type = Record.self) throws -> [Record] {
    let format = try connection().configuration.format
    return try withStatement(for: sql) { statement, connection in
      var records: [Record] = []
      guard try connection.step(statement) else { return records }
      let decoder = statement.decoder(format: format)
      repeat { records.append(try decoder.record(type)) } while try connection.step(statement)
      return records
    }
  }

  /// Returns the record of the first row that the SQL selects, or nil when there is none.
  public func first<Record: Decodable>(_ sql: SQL, as type: Record.Type = Record.self) throws -> Record? {
    var record: Record?
    let format = try connection().configuration.format
    try forEachStep(of: sql) { statement in
      record = try statement.decoder(format: format).record(type)
      return false
    }
    return record
  }

  /// Calls the closure with the record of each row that the SQL selects, without keeping them all in memory.
  public func forEach<Record: Decodable>(
    _ sql: SQL, as type: Record.Type = Record.self, _ body: (Record) throws -> Void
  ) throws {
    let format = try connection().configuration.format
    var decoder: RowDecoder?
    try forEachStep(of: sql) { statement in
      // The columns are known for sure only after the first step, which may have prepared the statement anew.
      let rows = decoder ?? statement.decoder(format: format)
      decoder = rows
      try body(rows.record(type))
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
  public func find<Record: Decodable>(
    _ type: Record.Type = Record.self, in table: SQLiteTable, key: some SQLBindable
  ) throws -> Record? {
    let connection = try connection()
    let statement = try connection.statementForFinding(in: table)
    guard !statement.isInUse else { return try first(SQL(statement.sql, arguments: [key]), as: type) }
    statement.isInUse = true
    defer {
      statement.reset()
      statement.isInUse = false
    }
    let bound = statement.bind(try key.sqlValue(), at: 1)
    if bound != SQLITE_OK { throw connection.failure(bound, sql: statement.sql) }
    if connection.mustStop { throw connection.failure(SQLITE_INTERRUPT) }
    try connection.checkTransaction()
    guard try connection.step(statement) else { return nil }
    return try statement.decoder(format: connection.configuration.format).record(type)
  }
}

extension Connection {
  /// Returns the statement that selects a row by its key, made once for a table.
  func statementForFinding(in table: SQLiteTable) throws -> Statement {
    if let lastFinder, lastFinder.table == table { return lastFinder.statement }
    let statement = try finders[table] ?? makeFinder(in: table)
    finders[table] = statement
    lastFinder = (table, statement)
    return statement
  }

  private func makeFinder(in table: SQLiteTable) throws -> Statement {
    let schema = try TableSchema(of: table.name, on: self)
    let key = table.key.isEmpty ? schema.primaryKey : table.key
    guard key.count == 1, let column = key.first else {
      throw misuse("the key of \"\(schema.name)\" is not one column; use first(_:as:)")
    }
    return try prepare("SELECT * FROM \(SQL.quoted(schema.name)) WHERE \(SQL.quoted(column)) = ?")
  }
}
