internal import CRequestBehaviorsSQLite
import Foundation

extension SQLiteStore {
  /// Copies the database to another file, which is created or replaced; reads and writes go on meanwhile.
  ///
  /// The copy is one consistent snapshot.
  ///
  /// - Parameter path: Where the copy goes; its folder must exist.
  /// - Throws: ``SQLiteError`` when the copy cannot be written; what was at the path may then be incomplete.
  public func backup(to path: String) async throws {
    guard Self.file(at: path) == nil || Self.file(at: path) != Self.file(at: self.path) else {
      throw SQLiteError(.misuse, "the backup would replace the database itself; choose another path", path: path)
    }
    try await perform(on: anyReader) { try $0.backup(to: path) }
  }

  /// Which file is at a path, by whatever name; nil if there is none.
  private static func file(at path: String) -> [Int]? {
    guard
      let attributes = try? FileManager.default.attributesOfItem(
        atPath: URL(filePath: path).resolvingSymlinksInPath().path)
    else { return nil }
    return [attributes[.systemNumber], attributes[.systemFileNumber]].map { ($0 as? NSNumber)?.intValue ?? 0 }
  }

  /// Rewrites the file without its free pages.
  public func vacuum() async throws {
    try await perform(on: writer) { try $0.run("VACUUM") }
  }

  /// Moves all commits from the WAL file into the database file and empties the WAL file.
  ///
  /// SQLite does so by itself as the WAL grows; this is for a moment before the file is copied by other means.
  ///
  /// - Throws: ``SQLiteError/Code/busy`` when readers kept it from finishing.
  public func checkpoint() async throws {
    try await perform(on: writer) { connection in
      let result = sqlite3_wal_checkpoint_v2(connection.handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
      if result != SQLITE_OK { throw connection.failure(result) }
    }
  }

  /// Ends running work, undoing its transactions, and refuses new work until ``resume()``.
  ///
  /// For a file in an iOS app group: iOS ends an app that is suspended while it holds a lock there (0xDEAD10CC).
  public func suspend() async {
    state.setSuspended(true)
    for lane in lanes { await lane.drain() }
  }

  /// Allows work again after ``suspend()``.
  public func resume() { state.setSuspended(false) }

  /// Lets running and waiting work end, tidies up and closes the file; later use throws.
  public func close() async {
    await readers?.drain()
    await writer.drain()
    state.close()
    for lane in readers?.all ?? [] { await lane.close() }
    await writer.close { connection in
      try? connection.runScript("PRAGMA optimize")
      sqlite3_wal_checkpoint_v2(connection.handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
    }
    state.changes.finish()
  }

  private var lanes: [ConnectionLane] { (readers?.all ?? []) + [writer] }
}

extension Connection {
  fileprivate func backup(to path: String) throws {
    var target: OpaquePointer?
    defer { sqlite3_close_v2(target) }
    let opened = sqlite3_open_v2(path, &target, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, configuration.vfs)
    guard opened == SQLITE_OK, let target else { throw SQLiteError(opened, handle: target, path: path) }
    guard let backup = sqlite3_backup_init(target, "main", handle, "main") else {
      throw SQLiteError(sqlite3_errcode(target), handle: target, path: path)
    }
    // The open read pins one snapshot, so that writes meanwhile do not start the copy anew.
    try run("BEGIN DEFERRED")
    try run("SELECT count(*) FROM sqlite_master")
    defer { try? run("ROLLBACK") }
    var result = SQLITE_OK
    while result == SQLITE_OK, !mustStop { result = sqlite3_backup_step(backup, 256) }
    sqlite3_backup_finish(backup)
    if mustStop { throw failure(SQLITE_INTERRUPT) }
    guard result == SQLITE_DONE else { throw SQLiteError(result, handle: target, path: path) }
  }
}
