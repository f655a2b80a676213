internal import CRequestBehaviorsSQLite
import Foundation
import RequestBehaviors

extension SQLiteStore {
  /// Copies the database to another file, which is created or replaced; reads and writes continue.
  ///
  /// The copy is one consistent snapshot. A new file can be read and written only by its owner; an existing file keeps
  /// its permissions.
  ///
  /// To go back to a copy, close all stores of the file, in all processes; then remove the file with its `-wal` and
  /// `-shm`, and put the copy in its place. SQLite finds these two by their names, and would apply those of the old
  /// file to the copy.
  ///
  /// - Parameter path: The path of the copy; its folder must exist.
  /// - Throws: ``SQLiteError`` when the copy cannot be written; a file at that path may then be incomplete.
  public func backup(to path: String) async throws {
    try Self.checkNamesFile(path)
    guard FileIdentity(path) == nil || FileIdentity(path) != FileIdentity(state.file) else {
      throw SQLiteError(.misuse, "the backup would replace the database itself; choose another path", path: path)
    }
    try await perform(on: anyReader) { try $0.backup(to: path) }
  }

  /// Throws for a path that SQLite would take for another file or for a temporary one.
  static func checkNamesFile(_ path: String) throws {
    if path.isEmpty {
      throw SQLiteError(
        .misuse,
        "the path is empty: SQLite would keep what is saved in a temporary file and delete that at the end; "
          + "give a path, or \":memory:\" for a database in memory",
        path: path)
    }
    if path.utf8.contains(0) {
      throw SQLiteError(.misuse, "the path holds a NUL, where SQLite would cut it off", path: path)
    }
  }

  /// Rewrites the file without its free pages.
  public func vacuum() async throws {
    try await perform(on: writer) { try $0.run("VACUUM") }
  }

  /// Moves all commits from the WAL file into the database file and empties the WAL file.
  ///
  /// SQLite does so by itself as the WAL grows. Call it before the file is copied by other means.
  ///
  /// Open reads, in this and in other processes, keep it from finishing. It waits for them for up to
  /// ``SQLiteConfiguration/busyTimeout``; writes go on meanwhile.
  ///
  /// - Throws: ``SQLiteError/Code/busy`` when reads kept it from finishing; ``SQLiteError/Code/readOnly`` when the file
  ///   was removed or replaced.
  public func checkpoint() async throws {
    let deadline = ContinuousClock.now + configuration.busyTimeout
    while true {
      do {
        return try await perform(on: writer) { try $0.checkpoint() }
      } catch let error as SQLiteError where error.code == .busy && ContinuousClock.now < deadline {
        // The wait is here and not in SQLite's busy handler, which would hold the writer meanwhile.
        try await Task.sleep(for: .milliseconds(5))
      }
    }
  }

  /// Runs a write that leaves in the file no trace of the rows that it deletes or replaces.
  ///
  /// SQLite overwrites the deleted content. The WAL file still holds pages as they were before; it is emptied after the
  /// commit if `emptiesLog` is true. Open reads can prevent that, and ``checkpoint()`` waits for them. If they take
  /// longer, one of the next writes empties the file.
  ///
  /// - Parameters:
  ///   - durability: The failures that the commit survives; `nil` for the configuration's.
  ///   - emptiesLog: Whether the WAL file is emptied.
  ///   - body: Does the work, as in ``write(durability:_:)``.
  /// - Returns: The closure's result, after the commit.
  /// - Throws: As ``write(durability:_:)``. Failing to empty the WAL file is no error.
  package func writeErasing<T: Sendable>(
    durability: SQLiteDurability? = nil, emptiesLog: Bool, _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    let returned = Returned<T>()
    try await perform(on: writer) { [durability = durability ?? configuration.durability] connection in
      returned.value = try connection.writeErasing(durability: durability, body)
      if emptiesLog { connection.mustEmptyLog = true }
    }
    if emptiesLog { try? await checkpoint() }
    return try returned.get()
  }

  /// Ends running work, undoing its transactions, and refuses new work until ``resume()``.
  ///
  /// Use it for a file in an iOS app group: iOS ends a suspended app that holds a lock there (0xDEAD10CC).
  public func suspend() async {
    state.setSuspended(true)
    for lane in lanes { await lane.drain() }
  }

  /// Allows work again after ``suspend()``.
  public func resume() { state.setSuspended(false) }

  /// Waits until running and waiting work has ended, tidies up and closes the file.
  ///
  /// Later use throws.
  public func close() async {
    await readers?.drain()
    await writer.drain()
    state.close()
    for lane in readers?.all ?? [] { await lane.close() }
    await writer.close { connection in
      // The files beside the path are those of another database by now.
      guard (try? connection.checkIsInPlace()) != nil else { return }
      // Do not wait for other connections: the last one to close the file tidies up too.
      connection.waitsForLocks = false
      try? connection.runScript("PRAGMA optimize")
      try? connection.checkpoint()
    }
    state.changes.finish()
  }

  private var lanes: [ConnectionLane] { (readers?.all ?? []) + [writer] }
}

extension Connection {
  /// Moves all commits into the database file and empties the WAL file.
  ///
  /// If reads prevent it, throws busy without waiting.
  func checkpoint() throws {
    try checkIsInPlace()
    let waits = waitsForLocks
    waitsForLocks = false
    defer { waitsForLocks = waits }
    let result = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
    if result != SQLITE_OK { throw failure(result) }
    mustEmptyLog = false
  }

  fileprivate func backup(to path: String) throws {
    var target: OpaquePointer?
    defer { sqlite3_close_v2(target) }
    if path != ":memory:" { try PrivateFile.create(RealPath.of(path), configuration.fileProtection) }
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | (configuration.fileProtection?.openFlag ?? 0)
    let opened = sqlite3_open_v2(path, &target, flags, configuration.vfs)
    guard opened == SQLITE_OK, let target else { throw SQLiteError(opened, handle: target, path: path) }
    // The open read holds one snapshot, so that concurrent writes do not restart the copy.
    defer { rollBack() }
    try control("BEGIN DEFERRED")
    try run("SELECT count(*) FROM sqlite_master")
    guard let backup = sqlite3_backup_init(target, "main", handle, "main") else {
      throw SQLiteError(sqlite3_errcode(target), handle: target, path: path)
    }
    var result = SQLITE_OK
    while result == SQLITE_OK, !mustStop { result = sqlite3_backup_step(backup, 256) }
    sqlite3_backup_finish(backup)
    if mustStop { throw failure(SQLITE_INTERRUPT) }
    guard result == SQLITE_DONE else { throw SQLiteError(result, handle: target, path: path) }
  }
}
