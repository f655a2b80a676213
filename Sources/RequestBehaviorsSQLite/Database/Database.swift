internal import CRequestBehaviorsSQLite

/// The database inside a transaction.
///
/// The reads and writes of ``SQLiteStore`` pass one to their closure. It is valid until the closure returns; every use
/// after that throws.
///
/// ```swift
/// try await store.write { db in
///   try db.save(artworks, into: "artwork")
///   try db.execute("DELETE FROM artwork WHERE seen < \(lastWeek)")
/// }
/// ```
///
/// Values reach SQLite only as bound parameters. An error that leaves the closure rolls everything back.
public final class Database {
  private var current: Connection?
  let isReadOnly: Bool

  init(connection: Connection, isReadOnly: Bool) {
    current = connection
    self.isReadOnly = isReadOnly
  }

  func end() { current = nil }

  /// The failures that the commit survives; nil in a read and after the closure.
  package var durability: SQLiteDurability? { isReadOnly ? nil : current?.durability }

  /// Returns whether the database belongs to the store and its closure still runs.
  package func belongs(to store: SQLiteStore) -> Bool { current?.state === store.state }

  /// The connection, for as long as the closure runs.
  func connection() throws -> Connection {
    guard let current else {
      throw SQLiteError(.misuse, "the Database was used after its closure had returned; do the work inside the closure")
    }
    if isReadOnly { try current.beginRead() }
    return current
  }

  /// Runs a statement.
  ///
  /// - Parameter sql: One statement; a second one is an error.
  /// - Returns: The number of rows that it inserted, updated or deleted itself. Rows changed by triggers do not count.
  /// - Throws: ``SQLiteError``, for example when a constraint is violated.
  @discardableResult
  public func execute(_ sql: SQL) throws -> Int {
    let connection = try connection()
    let before = sqlite3_total_changes(connection.handle)
    try forEachStep(of: sql) { _ in true }
    return sqlite3_total_changes(connection.handle) == before ? 0 : Int(sqlite3_changes(connection.handle))
  }

  /// Runs several statements that have no parameters, such as those that create a schema.
  ///
  /// Never put values into the text: they would be neither bound nor escaped.
  public func execute(script: String) throws {
    let connection = try connection()
    try requireWrite(sql: script)
    try connection.checkTransaction()
    try connection.runScript(script)
    try connection.checkTransaction()
    connection.forgetSchema()
  }

  /// Calls the closure after the transaction has committed, on the store's queue.
  ///
  /// The closure is not called when the transaction, or the savepoint, is undone.
  ///
  /// - Throws: ``SQLiteError`` in a read, which commits nothing.
  public func afterCommit(_ action: @escaping @Sendable () -> Void) throws {
    try requireWrite(sql: nil)
    try connection().afterCommit.append(action)
  }

  /// The row id of the row that this connection inserted last, or 0.
  public var lastInsertedRowID: Int64 { current.map { sqlite3_last_insert_rowid($0.handle) } ?? 0 }
}
