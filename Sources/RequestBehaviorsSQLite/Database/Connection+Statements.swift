internal import CRequestBehaviorsSQLite

extension Connection {
  /// Returns the statement for SQL that holds exactly one, prepared once and kept.
  func statement(_ sql: String) throws -> Statement {
    if let statement = statements.statement(for: sql) { return statement }
    let statement = try prepare(sql)
    statements.insert(statement)
    return statement
  }

  func prepare(_ sql: String) throws -> Statement {
    var sql = sql
    var holdsMore = false
    authorization.begin()
    defer { authorization.end() }
    let pointer: OpaquePointer? = try sql.withUTF8 { bytes in
      let text = UnsafeRawPointer(bytes.baseAddress)?.assumingMemoryBound(to: CChar.self)
      var pointer: OpaquePointer?
      var tail: UnsafePointer<CChar>?
      let result = sqlite3_prepare_v3(
        handle, text, Int32(clamping: bytes.count), UInt32(SQLITE_PREPARE_PERSISTENT), &pointer, &tail)
      if result != SQLITE_OK { throw failure(result, sql: String(decoding: bytes, as: UTF8.self)) }
      // The rest may be a comment, which is no statement.
      if let text, let tail { holdsMore = try statementFollows(tail, Int32(clamping: bytes.count - (tail - text))) }
      return pointer
    }
    guard let pointer else { throw misuse("there is no statement in the SQL", sql: sql) }
    let isControl = authorization.isControl
    let statement = Statement(
      pointer: pointer, sql: sql, format: configuration.format, reads: authorization.takeReads(),
      writes: authorization.takeWrites(), isControl: isControl)
    guard !holdsMore else {
      throw misuse("the SQL holds more than one statement; use execute(script:) for scripts without values", sql: sql)
    }
    return statement
  }

  private func statementFollows(_ text: UnsafePointer<CChar>, _ count: Int32) throws -> Bool {
    var text = text
    var left = count
    // An empty statement, such as a second semicolon, does not count either.
    while left > 0 {
      var pointer: OpaquePointer?
      var tail: UnsafePointer<CChar>?
      let result = sqlite3_prepare_v2(handle, text, left, &pointer, &tail)
      defer { sqlite3_finalize(pointer) }
      guard result == SQLITE_OK, pointer == nil, let tail, tail > text else { return true }
      left -= Int32(clamping: tail - text)
      text = tail
    }
    return false
  }

  /// Forgets all that depends on the schema.
  func forgetSchema() {
    statements.removeAll()
    plans.removeAll()
    lastPlan = nil
    finders.removeAll()
    lastFinder = nil
    schemas.removeAll()
  }

  /// Notes the tables that the statement reads.
  ///
  /// - Throws: If the work must stop, or an error that the closure caught has ended the transaction.
  func begin(_ statement: Statement) throws {
    if mustStop { throw failure(SQLITE_INTERRUPT) }
    try checkTransaction()
    // Replaced, because changing it in place would have every access to it checked: 1.5 % of a find.
    if let tables = tablesRead { tablesRead = tables.union(statement.reads) }
  }

  /// Runs the statement to its next row; returns false at the end.
  func step(_ statement: Statement) throws -> Bool {
    switch sqlite3_step(statement.pointer) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let result: throw failure(result, sql: statement.sql)
    }
  }

  /// Notes the tables that a statement has written to since changes were noted last; also when it has failed.
  func noteChanges(by statement: Statement) {
    let changes = sqlite3_total_changes(handle)
    let hasChanged = changes != notedChanges
    notedChanges = changes
    guard hasChanged || statement.changesSchema else { return }
    // If SQLite prepared the statement again, it reported again what the statement and its triggers write to.
    statement.notice(authorization.takeWrites())
    touched.formUnion(statement.writes)
  }

  /// Leaves out changes that have been noted otherwise, or are the library's own.
  func ignoreChanges() { notedChanges = sqlite3_total_changes(handle) }

  /// Runs a statement of the library's own that returns no rows.
  func run(_ sql: String) throws {
    authorization.isStore = true
    defer { authorization.isStore = false }
    let statement = try self.statement(sql)
    defer { statement.reset() }
    while try step(statement) {}
  }

  /// Runs a statement that begins or ends a transaction or savepoint, or sets what commits survive.
  ///
  /// It cannot be cancelled: SQLite may notice that only after the statement took effect, and then report it as if it
  /// had not. Its wait for another's lock can.
  func control(_ sql: String) throws {
    isControlling = true
    defer { isControlling = false }
    try run(sql)
  }

  /// Changes the schema of the library's own temporary objects, of which subscribers are not notified.
  func runTemporary(_ script: String) throws {
    let before = touched
    defer { touched = before }
    changesTemporarySchema = true
    try runScript(script)
  }

  func runScript(_ script: String) throws {
    authorization.begin()
    defer {
      authorization.end()
      ignoreChanges()
    }
    let result = sqlite3_exec(handle, script, nil, nil, nil)
    touched.formUnion(authorization.takeWrites())
    if result != SQLITE_OK { throw failure(result, sql: script) }
  }

  /// Runs a pragma of the library's own and returns the first column of its first row.
  @discardableResult
  func pragma(_ name: String) throws -> String? {
    let statement = try prepare("PRAGMA \(name)")
    guard try step(statement) else { return nil }
    return sqlite3_column_text(statement.pointer, 0).map { String(cString: $0) }
  }
}
