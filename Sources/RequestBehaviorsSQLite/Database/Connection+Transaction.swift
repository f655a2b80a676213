internal import CRequestBehaviorsSQLite

extension Connection {
  /// Runs the closure in a write transaction and returns its result once the commit has succeeded.
  func write<T>(durability: SQLiteDurability, _ body: (Database) throws -> T) throws -> T {
    let result: T
    do {
      try setDurability(durability)
      try control("BEGIN IMMEDIATE")
      isInTransaction = true
      result = try transact(Database(connection: self, isReadOnly: false), body)
      if mustStop { throw failure(SQLITE_INTERRUPT) }
      // The commit begins. A cancellation is ignored from here on, or the caller would get an error for data that was
      // saved.
      interruption = nil
      try control("COMMIT")
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
    try control("BEGIN DEFERRED")
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
    if mustStop { throw failure(SQLITE_INTERRUPT) }
    throw misuse("an earlier error has rolled the transaction back; let errors leave the closure")
  }

  /// Undoes the transaction that is open, if any.
  func rollBack() {
    interruption = nil
    isInTransaction = false
    knowsSchemaVersion = false
    forgetUndoneSchema()
    touched = []
    afterCommit = []
    guard sqlite3_get_autocommit(handle) == 0 else { return }
    do { try control("ROLLBACK") } catch { isBroken = true }
  }

  /// Undoes the innermost savepoint; the whole transaction if that fails, so that no part of it is committed.
  func undoSavepoint() {
    guard sqlite3_get_autocommit(handle) == 0 else { return }
    do {
      try control("ROLLBACK TO nested")
      try control("RELEASE nested")
    } catch {
      do { try control("ROLLBACK") } catch { isBroken = true }
    }
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
    guard durability != self.durability else { return }
    let isFull = durability == .full
    // A statement that fails may have taken effect.
    self.durability = nil
    // SQLite ignores a change within a transaction; here none is open.
    try control(isFull ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL")
    #if canImport(Darwin)
      try control(isFull ? "PRAGMA fullfsync=ON" : "PRAGMA fullfsync=OFF")
    #endif
    self.durability = durability
  }
}
