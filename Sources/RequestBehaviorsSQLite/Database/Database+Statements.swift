internal import CRequestBehaviorsSQLite

extension Database {
  /// Steps through the rows of a statement as long as the closure returns true.
  func forEachStep(of sql: SQL, _ body: (Statement) throws -> Bool) throws {
    try withStatement(for: sql) { statement, connection in
      while try connection.step(statement) {
        guard try body(statement) else { return }
      }
    }
  }

  /// Calls the closure with the statement for the SQL and its bound values; the closure steps it.
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

  /// Runs the closure, which steps the statement, and records the tables it changed.
  func run<T>(_ statement: Statement, on connection: Connection, _ steps: () throws -> T) throws -> T {
    try connection.begin(statement)
    defer {
      if !statement.isReadOnly {
        // Even if a statement fails halfway: the closure may catch the error. SQLite counts changes when the statement
        // is reset.
        statement.reset()
        connection.noteChanges(by: statement)
        if statement.changesSchema { connection.forgetSchema() }
      }
    }
    return try steps()
  }

  /// Returns the statement for the SQL, unless it would write in a read or end the transaction.
  func usable(_ sql: String) throws -> Statement {
    let statement = try connection().statement(sql)
    // SQLite does not refuse a statement again that the library has already prepared for itself.
    if statement.isControl { throw try connection().misuse(Authorization.rule(ofControl: sql), sql: sql) }
    if !statement.isReadOnly { try requireWrite(sql: sql) }
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
      let value = try argument.stored(in: connection().configuration.format)
      let result = statement.bind(value, at: Int32(index + 1))
      if result != SQLITE_OK { throw try connection().failure(result, sql: statement.sql) }
    }
  }
}
