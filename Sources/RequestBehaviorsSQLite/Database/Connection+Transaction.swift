internal import CRequestBehaviorsSQLite

extension Connection {
  /// Runs the closure in a write transaction and returns its result once the commit has succeeded.
  func write<T>(durability: SQLiteDurability, _ body: (Database) throws -> T) throws -> T {
    try setDurability(durability)
    try run("BEGIN IMMEDIATE")
    isInTransaction = true
    let result: T
    do {
      result = try transact(Database(connection: self, isReadOnly: false), body)
      if mustStop { throw state.isSuspended ? state.suspendedError : CancellationError() }
      // The commit begins. A cancellation is ignored from here on, or the caller would get an error for data that was
      // saved.
      interruption = nil
      try run("COMMIT")
    } catch {
      rollBack()
      throw error
    }
    isInTransaction = false
    knowsSchemaVersion = false
    didCommit()
    return result
  }

  /// Runs the closure on one snapshot of the file, which is that of its first statement.
  func read<T>(_ body: (Database) throws -> T) throws -> T {
    defer { rollBack() }
    return try transact(Database(connection: self, isReadOnly: true), body)
  }

  /// Begins the read transaction when a read first uses the connection: one that uses nothing costs nothing.
  @inline(__always)
  func beginRead() throws {
    guard !isInTransaction else { return }
    try run("BEGIN DEFERRED")
    isInTransaction = true
  }

  private func transact<T>(_ database: Database, _ body: (Database) throws -> T) throws -> T {
    defer { database.end() }
    let result = try body(database)
    try checkTransaction()
    return result
  }

  /// Throws when an error that the closure caught has ended the transaction: what follows would be saved without the
  /// rest.
  func checkTransaction() throws {
    guard isInTransaction, sqlite3_get_autocommit(handle) != 0 else { return }
    if mustStop { throw CancellationError() }
    throw misuse("an earlier error has rolled the transaction back; let errors leave the closure")
  }

  private func rollBack() {
    interruption = nil
    isInTransaction = false
    knowsSchemaVersion = false
    forgetUndoneSchema()
    touched = []
    afterCommit = []
    guard sqlite3_get_autocommit(handle) == 0 else { return }
    do { try run("ROLLBACK") } catch { isBroken = true }
  }

  /// Forgets what depends on a schema that is undone: statements and plans for what is not there any more.
  func forgetUndoneSchema() {
    if changesTemporarySchema || touched.contains("sqlite_master") || touched.contains("sqlite_temp_master") {
      forgetSchema()
    }
    changesTemporarySchema = false
  }

  private func didCommit() {
    let actions = afterCommit
    let tables = touched
    changesTemporarySchema = false
    afterCommit = []
    touched = []
    if !tables.isEmpty { state.changes.publish(tables) }
    for action in actions { action() }
  }

  private func setDurability(_ durability: SQLiteDurability) throws {
    let isFull = durability == .full
    guard isFull != isFullySynchronous else { return }
    // SQLite ignores a change within a transaction; here none is open.
    try run(isFull ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL")
    #if canImport(Darwin)
      try run(isFull ? "PRAGMA fullfsync=ON" : "PRAGMA fullfsync=OFF")
    #endif
    isFullySynchronous = isFull
  }
}
