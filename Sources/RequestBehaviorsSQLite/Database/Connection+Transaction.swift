internal import CRequestBehaviorsSQLite

extension Connection {
  /// Runs the closure in a write transaction and returns its result once the commit has succeeded.
  func write<T>(durability: SQLiteDurability, _ body: (Database) throws -> T) throws -> T {
    try transaction(durability: durability) { try transact(Database(connection: self, isReadOnly: false), body) }
  }

  /// Runs the closure in a write transaction in which SQLite overwrites deleted and replaced content.
  func writeErasing<T>(durability: SQLiteDurability, _ body: (Database) throws -> T) throws -> T {
    let before = try pragma("secure_delete")
    // If this fails, the connection goes on overwriting, which is slower but does no harm.
    defer { try? control("PRAGMA secure_delete=" + (before == "2" ? "FAST" : before ?? "OFF")) }
    try control("PRAGMA secure_delete=ON")
    return try write(durability: durability, body)
  }

  /// Runs the work in a write transaction and returns its result once the commit has succeeded.
  func transaction<T>(durability: SQLiteDurability, _ work: () throws -> T) throws -> T {
    let result: T
    do {
      try setDurability(durability)
      try control("BEGIN IMMEDIATE")
      isInTransaction = true
      result = try work()
      if mustStop { throw failure(SQLITE_INTERRUPT) }
      try checkIsInPlace()
      // The commit begins. A cancellation is ignored from here on, or the caller would get an error for data that was
      // saved.
      interruption = nil
      try control("COMMIT")
    } catch {
      rollBack()
      // The error of a statement may come from files of the database that took the place of this one.
      do { try checkIsInPlace() } catch {
        // No commit would wake the loops. Their next read fails with this error.
        state.changes.publish(nil)
        throw error
      }
      throw error
    }
    isInTransaction = false
    knowsSchemaVersion = false
    didCommit()
    return result
  }

  /// Throws if the file is no longer at its path: the committed data would be lost when the file is closed.
  func checkIsInPlace() throws {
    var hasMoved: Int32 = 0
    let result = sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
    guard result == SQLITE_OK, hasMoved != 0 else { return }
    // SQLite also calls a file moved if the process may not look into the folder.
    if case .hidden = FileIdentity.Look(at: state.file) { return }
    throw SQLiteError.movedFile(at: path)
  }

  /// Runs the closure on one snapshot of the file, which is that of its first statement.
  func read<T>(_ body: (Database) throws -> T) throws -> T {
    defer { rollBack() }
    let result = try transact(Database(connection: self, isReadOnly: true), body)
    // The closure may have caught the error of a statement that was stopped; its result then lacks those rows.
    if mustStop { throw failure(SQLITE_INTERRUPT) }
    return result
  }

  /// Begins the read transaction when a read first uses the connection, so that an empty read costs nothing.
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

  /// Throws when an error that the closure caught has ended the transaction.
  ///
  /// Without the check, the following statements would be saved without those before them.
  func checkTransaction() throws {
    guard isInTransaction, sqlite3_get_autocommit(handle) != 0 else { return }
    if mustStop { throw failure(SQLITE_INTERRUPT) }
    throw misuse("an earlier error has rolled the transaction back; let errors leave the closure")
  }

  /// Undoes the open transaction, if any.
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

  /// Forgets the statements and plans that depend on a schema that was undone.
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
    // The WAL file was to be emptied, but a read prevented it.
    if mustEmptyLog { try? checkpoint() }
  }

  private func setDurability(_ durability: SQLiteDurability) throws {
    guard durability != self.durability else { return }
    let isFull = durability == .full
    // If a statement fails, it may still have taken effect.
    self.durability = nil
    // SQLite ignores a change within a transaction; here none is open.
    try control(isFull ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL")
    #if canImport(Darwin)
      try control(isFull ? "PRAGMA fullfsync=ON" : "PRAGMA fullfsync=OFF")
    #endif
    self.durability = durability
  }
}
