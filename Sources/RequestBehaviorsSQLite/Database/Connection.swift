internal import CRequestBehaviorsSQLite
import Foundation

/// One open connection; used by one thread at a time.
final class Connection {
  let handle: OpaquePointer
  let state: StoreState
  let configuration: SQLiteConfiguration
  let isReader: Bool
  var path: String { state.path }

  /// The current work; its cancellation stops statements until the commit begins.
  var interruption: Interruption?
  /// The tables that the current transaction has changed.
  var touched: Set<String> = []
  var afterCommit: [() -> Void] = []
  /// The tables that the current read has read; nil if they are not recorded.
  var tablesRead: Set<String>?
  /// Whether the current transaction has created temporary objects, which a rollback undoes.
  var changesTemporarySchema = false
  var isInTransaction = false
  /// Whether the running statement begins or ends a transaction or savepoint, which a cancellation does not stop.
  var isControlling = false
  /// The failures that commits survive; nil when they are not known.
  var durability: SQLiteDurability? = .normal
  var isBroken = false
  var busyDeadline: ContinuousClock.Instant?
  /// When the current work began to wait for a lock.
  private var waitBegan: ContinuousClock.Instant?
  /// When the wait of the last work began, if it ended without the lock.
  private var lockedSince: ContinuousClock.Instant?
  /// Whether work waits for locks of other connections; if not, it fails with busy at once.
  var waitsForLocks = true
  var plans: [RecordPlan.Key: RecordPlan] = [:]
  /// The plan and the finder that were last used, because looking up a table's name costs as much as a small save.
  var lastPlan: (key: RecordPlan.Key, plan: RecordPlan)?
  var finders: [SQLiteTable: Finder] = [:]
  var lastFinder: Finder?
  var schemas: [String: TableSchema] = [:]
  var schemaVersion = 0
  /// Whether the WAL file still holds pages with data that was erased since.
  var mustEmptyLog = false
  /// The last `data_version` that was read; nil before.
  var dataVersion: Int?
  /// Whether the last look for commits of others found the file at its path.
  var wasInPlace = true
  /// Whether the current transaction has checked the schema's version.
  var knowsSchemaVersion = false
  /// The number of rows that the current upsert has updated.
  ///
  /// The other changed rows were inserted.
  var updatedRows = 0
  var statements = StatementCache()
  var authorization = Authorization()
  /// SQLite's count of changes when they were last recorded.
  var notedChanges: Int32 = 0

  init(state: StoreState, configuration: SQLiteConfiguration, isReader: Bool) throws {
    self.state = state
    self.configuration = configuration
    self.isReader = isReader
    try state.checkFile()
    let access = isReader ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    let flags = access | SQLITE_OPEN_NOMUTEX | (configuration.fileProtection?.openFlag ?? 0)
    var opened: OpaquePointer?
    // It is created here first, because SQLite would give a new file the permissions of the umask.
    if !isReader, state.file != ":memory:" { try PrivateFile.create(state.file, configuration.fileProtection) }
    let result = sqlite3_open_v2(state.file, &opened, flags, configuration.vfs)
    guard result == SQLITE_OK, let opened else {
      defer { sqlite3_close_v2(opened) }
      throw SQLiteError(result, handle: opened, path: state.path)
    }
    // SQLite opens a file that it may not write as read-only, and only a later write would fail.
    guard isReader || sqlite3_db_readonly(opened, "main") == 0 else {
      sqlite3_close_v2(opened)
      throw SQLiteError(
        .readOnly,
        "the file can only be read, because of its permissions or those of its file system; "
          + "a store needs to write: copy the file to where this program may write", path: state.path)
    }
    handle = opened
    state.noteFile()
    do {
      try configure()
    } catch {
      try checkIsInPlace()
      throw SQLiteError.naming(unwritableFolderOf: state.file, or: error)
    }
    // The file may have been replaced while it was opened. The noted file, or the `-wal`, is then that of another.
    try state.checkFile()
    try checkIsInPlace()
  }

  deinit {
    plans.removeAll()
    lastPlan = nil
    finders.removeAll()
    lastFinder = nil
    schemas.removeAll()
    statements.removeAll()
    sqlite3_close_v2(handle)
  }

  private func configure() throws {
    sqlite3_extended_result_codes(handle, 1)
    // Apple's SQLite keeps the -wal and -shm files when the last connection is closed. Without them there is one file
    // to copy, protect and remove.
    var keepsWAL: Int32 = 0
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_PERSIST_WAL, &keepsWAL)
    _ = rb_sqlite3_db_flag(handle, SQLITE_DBCONFIG_DQS_DML, 0)
    _ = rb_sqlite3_db_flag(handle, SQLITE_DBCONFIG_DQS_DDL, 0)
    _ = rb_sqlite3_db_flag(handle, SQLITE_DBCONFIG_DEFENSIVE, 1)
    installCallbacks()
    try runPragmas("PRAGMA trusted_schema=\(configuration.trustsSchema ? "ON" : "OFF")")
    try runPragmas("PRAGMA cell_size_check=ON; PRAGMA foreign_keys=ON")
    // Each connection caches up to 8 MB of pages. With SQLite's default of 2 MB every scan of a larger table rereads
    // them.
    try runPragmas("PRAGMA cache_size=-8000")
    if isReader { return try runPragmas("PRAGMA query_only=ON") }
    // FAST would leave deleted content in the pages that become free.
    if configuration.overwritesDeleted { try runPragmas("PRAGMA secure_delete=ON") }
    // A new file becomes a WAL file through a rollback journal. EXTRA also syncs the removal of that journal. If a
    // power cut brought it back, SQLite would undo the creation of the file and everything saved since.
    try runPragmas("PRAGMA synchronous=EXTRA")
    let mode = try switchToWAL()
    if mode != "wal", mode != "memory", mode != "off" { try runPragmas("PRAGMA journal_mode=TRUNCATE") }
    try runPragmas("PRAGMA synchronous=NORMAL; PRAGMA journal_size_limit=4194304")
  }

  /// Turns the file into a WAL file; waits for other connections that do so, because SQLite calls no busy handler here.
  private func switchToWAL() throws -> String? {
    let deadline = ContinuousClock.now + configuration.busyTimeout
    while true {
      do {
        return try pragma("journal_mode=WAL")
      } catch let error as SQLiteError where error.code == .busy && ContinuousClock.now < deadline {
        Self.waitABit()
      }
    }
  }

  /// Whether readers see a snapshot of their own beside a writer.
  var usesWAL: Bool { (try? pragma("journal_mode")) == "wal" }

  // MARK: Callbacks

  private func installCallbacks() {
    let context = Unmanaged.passUnretained(self).toOpaque()
    sqlite3_busy_handler(handle, { Connection.of($0).waitForLock(attempt: Int($1)) ? 1 : 0 }, context)
    sqlite3_progress_handler(handle, 1000, { Connection.of($0).isToBeStopped ? 1 : 0 }, context)
    sqlite3_set_authorizer(
      handle,
      { context, action, name, value, _, _ in
        guard let name else { return SQLITE_OK }
        let isAllowed = Connection.of(context).authorization.allows(action, name, isSetting: value != nil)
        return isAllowed ? SQLITE_OK : SQLITE_DENY
      }, context)
    // Upserts call it for each row that they update, because SQLite counts updated and inserted rows together.
    sqlite3_create_function_v2(
      handle, UpsertSQL.updateCounter, 0, SQLITE_UTF8 | SQLITE_DIRECTONLY, context,
      { context, _, _ in
        Connection.of(sqlite3_user_data(context)).updatedRows += 1
        sqlite3_result_int(context, 1)
      }, nil, nil, nil)
    guard configuration.trace != nil else { return }
    sqlite3_trace_v2(
      handle, UInt32(SQLITE_TRACE_PROFILE),
      { _, context, statement, nanoseconds in
        Connection.of(context).traced(statement.map { OpaquePointer($0) }, nanoseconds)
        return 0
      }, context)
  }

  // The context is a live connection: SQLite calls back only while the connection is used or closed.
  private static func of(_ context: UnsafeMutableRawPointer?) -> Connection {
    Unmanaged<Connection>.fromOpaque(context.unsafelyUnwrapped).takeUnretainedValue()
  }

  private func traced(_ statement: OpaquePointer?, _ nanoseconds: UnsafeMutableRawPointer?) {
    guard let sql = statement.flatMap({ sqlite3_sql($0) }), let nanoseconds else { return }
    let duration = Duration.nanoseconds(nanoseconds.loadUnaligned(as: Int64.self))
    configuration.trace?(SQLiteTraceEvent(sql: String(cString: sql), duration: duration))
  }

  /// Whether the current work was cancelled or the store suspended.
  var mustStop: Bool { interruption.map { $0.isCancelled || state.isSuspended } ?? false }

  /// Whether the running statement is to stop.
  private var isToBeStopped: Bool { mustStop && !isControlling }

  private func waitForLock(attempt: Int) -> Bool {
    let now = ContinuousClock.now
    if attempt == 0 {
      // Work that was in the queue behind a wait for the same lock has waited for it too. Otherwise the last of many
      // would wait that many times as long.
      let began = lockedSince.map { max($0, interruption?.queuedAt ?? now) } ?? now
      (waitBegan, lockedSince) = (began, nil)
      busyDeadline = began + configuration.busyTimeout
    }
    guard waitsForLocks, !mustStop, let busyDeadline, now < busyDeadline else { return false }
    Self.waitABit()
    return true
  }

  /// Does work, and keeps in mind since when another connection has the lock that it did not get.
  func run<T>(_ work: (Connection) throws -> T) throws -> T {
    waitBegan = nil
    do {
      let result = try work(self)
      lockedSince = nil
      return result
    } catch {
      lockedSince = (error as? SQLiteError)?.code == .busy ? waitBegan : nil
      throw error
    }
  }

  /// Waits for a moment before the next try to get a lock.
  ///
  /// SQLite's own handler backs off to 100 ms; short waits with jitter cut the worst wait about twentyfold.
  private static func waitABit() { Thread.sleep(forTimeInterval: .random(in: 0.0002...0.0008)) }

  // MARK: Errors

  /// Returns the error for a result code; `CancellationError` if a cancellation stopped the work.
  func failure(_ result: Int32, sql: String? = nil) -> any Error {
    let primary = result & 0xFF
    if primary == SQLITE_AUTH, let refusal = authorization.takeRefusal() { return misuse(refusal, sql: sql) }
    if primary == SQLITE_INTERRUPT || primary == SQLITE_BUSY, let interruption {
      // If a suspension is over by now, the error is SQLite's own: it must not be taken for a cancellation.
      if interruption.isCancelled { return CancellationError() }
      if state.isSuspended { return state.suspendedError }
    }
    return SQLiteError(result, handle: handle, sql: sql, path: path)
  }

  func misuse(_ message: String, sql: String? = nil) -> SQLiteError {
    SQLiteError(.misuse, message, sql: sql, path: path)
  }
}
