internal import CSQLite

extension Database {
  /// Steps through the rows of a statement for as long as the closure returns true.
  func forEachStep(of sql: SQL, _ body: (Statement) throws -> Bool) throws {
    try withStatement(for: sql) { statement, connection in
      while try connection.step(statement) {
        guard try body(statement) else { return }
      }
    }
  }

  /// Calls the closure, which steps it, with the statement for the SQL, its values bound.
  func withStatement<T>(for sql: SQL, _ steps: (Statement, Connection) throws -> T) throws -> T {
    let connection = try connection()
    let statement = try usable(sql.text)
    statement.isInUse = true
    defer {
      statement.reset()
      statement.isInUse = false
    }
    try bind(sql.arguments, to: statement)
    return try run(statement, on: connection) { try steps(statement, connection) }
  }

  /// Runs the closure, which steps the statement, and notes the tables it changed.
  func run<T>(_ statement: Statement, on connection: Connection, _ steps: () throws -> T) throws -> T {
    if connection.mustStop { throw connection.failure(SQLITE_INTERRUPT) }
    try connection.checkTransaction()
    let before = sqlite3_total_changes(connection.handle)
    let result = try steps()
    if !statement.isReadOnly {
      let isSchema = statement.writes.contains("sqlite_master")
      if isSchema || sqlite3_total_changes(connection.handle) != before {
        connection.touched.formUnion(statement.writes)
      }
      if isSchema { connection.forgetSchema() }
    }
    return result
  }

  /// Returns the statement for the SQL, unless it would write in a read or end the transaction.
  func usable(_ sql: String) throws -> Statement {
    let statement = try connection().statement(sql)
    if !statement.isReadOnly { try requireWrite(sql: sql) }
    if let word = statement.transactionControl {
      throw SQLiteError(.misuse, "\(word) is the store's: it opens and ends transactions; use savepoint { }", sql: sql)
    }
    return statement
  }

  func requireWrite(sql: String?) throws {
    guard isReadOnly else { return }
    throw SQLiteError(.readOnly, "a read cannot change the database; use store.write", sql: sql)
  }

  private func bind(_ arguments: [any SQLBindable], to statement: Statement) throws {
    let expected = Int(sqlite3_bind_parameter_count(statement.pointer))
    guard expected == arguments.count else {
      throw SQLiteError(
        .misuse, "the SQL has \(expected) parameters and \(arguments.count) values", sql: statement.sql)
    }
    for (index, argument) in arguments.enumerated() {
      let result = statement.bind(try argument.sqlValue(), at: Int32(index + 1))
      if result != SQLITE_OK { throw try connection().failure(result, sql: statement.sql) }
    }
  }
}
