internal import CRequestBehaviorsSQLite

extension Connection {
  /// Returns the statement for SQL that holds exactly one; it is prepared once and kept.
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
      // The rest may be a comment, which is not a statement.
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

  /// Forgets everything that depends on the schema.
  func forgetSchema() {
    statements.removeAll()
    plans.removeAll()
    lastPlan = nil
    finders.removeAll()
    lastFinder = nil
    schemas.removeAll()
  }

  /// Records the tables that the statement reads.
  ///
  /// - Throws: An error if the work must stop, or if an error that the closure caught has ended the transaction.
  func begin(_ statement: Statement) throws {
    if mustStop { throw failure(SQLITE_INTERRUPT) }
    try checkTransaction()
    // The set is replaced: a change in place would have every access to it checked, which costs 1.5 % of a find.
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

  /// Records the tables that a statement has written to since the last call, even if the statement failed.
  func noteChanges(by statement: Statement) {
    let changes = sqlite3_total_changes(handle)
    let hasChanged = changes != notedChanges
    notedChanges = changes
    guard hasChanged || statement.changesSchema else { return }
    // If SQLite prepared the statement anew, it also reported anew the tables that the statement and its triggers write
    // to.
    statement.notice(authorization.takeWrites())
    touched.formUnion(statement.writes)
  }

  /// Leaves out changes that were recorded otherwise, or that the library itself made.
  func ignoreChanges() { notedChanges = sqlite3_total_changes(handle) }

  /// Runs one of the library's own statements, which returns no rows.
  func run(_ sql: String) throws {
    try asStore {
      let statement = try self.statement(sql)
      defer { statement.reset() }
      while try step(statement) {}
    }
  }

  /// Runs a statement that begins or ends a transaction or savepoint, or sets what commits survive.
  ///
  /// It cannot be cancelled: SQLite may notice a cancellation only after the statement took effect, and then report a
  /// failure all the same. Its wait for another connection's lock can be cancelled.
  func control(_ sql: String) throws {
    isControlling = true
    defer { isControlling = false }
    try run(sql)
  }

  /// Changes the schema of the library's own temporary objects, without notifying subscribers.
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

  /// Runs the library's own pragmas, of which a user's closure may not set some.
  func runPragmas(_ script: String) throws { try asStore { try runScript(script) } }

  /// Runs one of the library's own pragmas and returns the first column of its first row.
  @discardableResult
  func pragma(_ name: String) throws -> String? {
    try asStore {
      let statement = try prepare("PRAGMA \(name)")
      guard try step(statement) else { return nil }
      return sqlite3_column_text(statement.pointer, 0).map { String(cString: $0) }
    }
  }

  /// Runs statements that only the store may run.
  private func asStore<Result>(_ work: () throws -> Result) rethrows -> Result {
    authorization.isStore = true
    defer { authorization.isStore = false }
    return try work()
  }
}
