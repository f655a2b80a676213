internal import CRequestBehaviorsSQLite

extension Database {
  /// Returns the value that the closure makes of the row with this key, or nil if there is no such row.
  ///
  /// - Parameters:
  ///   - table: The table, whose key is one column.
  ///   - key: The key's value.
  ///   - read: Makes a value of the row, which can be read until it returns.
  /// - Returns: The value, or nil.
  /// - Throws: As ``query(_:_:)``.
  @inlinable
  public func find<Value>(
    in table: SQLiteTable, key: some SQLBindable, _ read: (SQLiteRow) throws -> Value
  ) throws -> Value? {
    // The closure is called here, where it is inlined too. Passing it on would add 2 % to a find.
    guard let (row, statement) = try row(in: table, key: key) else { return nil }
    defer { statement.endFind() }
    return try read(row)
  }

  /// Returns the row with this key and its statement, which stays at the row until ``Statement/endFind()``.
  ///
  /// Returns nil if there is no such row.
  @usableFromInline
  func row(in table: SQLiteTable, key: some SQLBindable) throws -> (SQLiteRow, Statement)? {
    let connection = try connection()
    let statement = try connection.statementForFinding(in: table)
    statement.isInUse = true
    var isFound = false
    defer { if !isFound { statement.endFind() } }
    let bound = statement.bind(try key.stored(in: connection.configuration.format), at: 1)
    if bound != SQLITE_OK { throw connection.failure(bound, sql: statement.sql) }
    try connection.begin(statement)
    isFound = try connection.step(statement)
    guard isFound else { return nil }
    return (statement.cursor.firstRow(of: statement.pointer), statement)
  }
}

extension Statement {
  /// Ends the use of a statement that finds a row; its key stays bound until another replaces it.
  @usableFromInline
  func endFind() {
    rewind()
    isInUse = false
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
  /// Returns an idle statement that selects a row by its key; one is kept for each table.
  func statementForFinding(in table: SQLiteTable) throws -> Statement {
    try checkSchemaVersion()
    if let lastFinder, lastFinder.table == table, !lastFinder.statement.isInUse { return lastFinder.statement }
    let finder = try finders[table] ?? Finder(table: table, statement: prepareFinder(in: table))
    finders[table] = finder
    lastFinder = finder
    // A find may run inside the closure of another find, whose row must stay readable.
    return finder.statement.isInUse ? try statement(finder.statement.sql) : finder.statement
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
