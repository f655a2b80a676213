internal import CRequestBehaviorsSQLite

/// One step of a schema.
///
/// The file's `user_version` counts the steps it has been through, so steps are appended, never changed, moved or
/// removed. Each step runs in its own transaction. If a step throws, the file stays as it was before that step.
public struct SQLiteMigration: Sendable {
  /// A name for error messages.
  public let name: String

  let suspendsForeignKeys: Bool
  let body: @Sendable (Database) throws -> Void

  /// Creates a step.
  ///
  /// - Parameters:
  ///   - name: A name for error messages.
  ///   - suspendsForeignKeys: True for a step that rebuilds a table to which other tables refer: foreign keys are
  ///     checked once, at its end.
  ///   - body: Changes the schema.
  public init(
    _ name: String, suspendsForeignKeys: Bool = false, _ body: @escaping @Sendable (Database) throws -> Void
  ) {
    self.name = name
    self.suspendsForeignKeys = suspendsForeignKeys
    self.body = body
  }
}

extension Connection {
  /// Runs the steps that the file has not been through.
  func migrate(_ migrations: [SQLiteMigration]) throws {
    // Reading the schema shows at once whether the file is a database at all.
    guard !migrations.isEmpty else {
      _ = try version()
      return
    }
    for index in try knownVersion(migrations)..<migrations.count {
      let migration = migrations[index]
      if migration.suspendsForeignKeys {
        try withoutForeignKeys { try migrate(migration, to: index + 1, of: migrations) }
      } else {
        try migrate(migration, to: index + 1, of: migrations)
      }
    }
  }

  /// Returns the version of the file's schema.
  ///
  /// - Throws: ``SQLiteError`` when the version is above that of the migrations, because a newer program has migrated
  ///   it.
  private func knownVersion(_ migrations: [SQLiteMigration]) throws -> Int {
    let version = try version()
    guard (0...migrations.count).contains(version) else {
      throw misuse(
        "the file has schema version \(version), this program knows \(migrations.count); update the program")
    }
    return version
  }

  private func version() throws -> Int { try pragma("user_version").flatMap { Int($0) } ?? 0 }

  private func withoutForeignKeys(_ work: () throws -> Void) throws {
    // A connection that could not turn foreign keys on again is not used again.
    defer { do { try runPragmas("PRAGMA foreign_keys=ON") } catch { isBroken = true } }
    try runPragmas("PRAGMA foreign_keys=OFF")
    try work()
  }

  private func migrate(_ migration: SQLiteMigration, to version: Int, of migrations: [SQLiteMigration]) throws {
    try write(durability: .full) { database in
      // While this process waited for the lock, another one may have run the step, and a newer one further steps.
      guard try knownVersion(migrations) == version - 1 else { return }
      try migration.body(database)
      if migration.suspendsForeignKeys { try checkForeignKeys(migration) }
      try runScript("PRAGMA user_version=\(version)")
    }
    forgetSchema()
  }

  private func checkForeignKeys(_ migration: SQLiteMigration) throws {
    guard let table = try pragma("foreign_key_check") else { return }
    throw SQLiteError(
      .constraint, "migration \"\(migration.name)\" leaves rows in \"\(table)\" that refer to rows that do not exist",
      path: path)
  }
}
