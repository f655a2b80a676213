import RequestBehaviors

/// A SQLite database file with one writer and several readers, each on its own queue.
///
/// Make one for each file and share it.
///
/// ```swift
/// let store = try SQLiteStore(
///   path: path,
///   migrations: [
///     SQLiteMigration("artworks") { db in
///       try db.createTable("artwork", for: Artwork.self)
///     }
///   ])
/// let counts = try await store.write { db in
///   try db.save(artworks, into: "artwork")
/// }
/// print(counts.inserted)
/// let all: [Artwork] = try await store.read { db in
///   try db.query("SELECT * FROM artwork ORDER BY id")
/// }
/// ```
///
/// The file is in WAL mode: readers see the last commit and never wait for the writer. A write is one `IMMEDIATE`
/// transaction. Several stores, in one process or several, can use one file. Work waits for another store's lock for up
/// to ``SQLiteConfiguration/busyTimeout``.
///
/// When the last store of a file is closed, the `-wal` and `-shm` files beside it are removed. On iOS, tvOS,
/// watchOS and visionOS ``SQLiteConfiguration/fileProtection`` says when the files can be read.
public final class SQLiteStore: Sendable {
  /// The path the store was opened with.
  public let path: String

  /// The settings with which the store was opened.
  public let configuration: SQLiteConfiguration

  let state: StoreState
  let writer: ConnectionLane
  /// Nil where readers cannot run in parallel with the writer: in memory, and on file systems without shared memory.
  let readers: ReaderPool?
  let watchedReads: WatchedReadLimit
  let groups = WriteGroups()
  let overlappingSaves = OverlappingSaves()
  let savedContents: SavedContents

  /// Opens or creates the file and brings its schema up to date, on the calling thread.
  ///
  /// Opening takes about 0.1 ms, without the time of the migrations. ``open(path:configuration:migrations:)`` does the
  /// same on another thread.
  ///
  /// - Parameters:
  ///   - path: The file's path; its folder must exist. `":memory:"` is a database in memory. The store follows symbolic
  ///     links when it opens the file, and keeps all its files beside the one that they lead to. A new file, its `-wal`
  ///     and its `-shm` can be read and written only by their owner. An existing file keeps its permissions.
  ///   - configuration: Durability, waiting, the format of rows.
  ///   - migrations: The steps of the schema, oldest first; append only.
  /// - Throws: ``SQLiteError`` when the file cannot be opened, is damaged, is not a database, or is newer than the
  ///   migrations; the error of a migration.
  public init(
    path: String, configuration: SQLiteConfiguration = SQLiteConfiguration(), migrations: [SQLiteMigration] = []
  ) throws {
    try Self.checkNamesFile(path)
    try configuration.fileProtection?.checkIsSupported()
    self.path = path
    self.configuration = configuration
    savedContents = SavedContents(since: configuration.clock.date())
    let state = StoreState(path: path)
    self.state = state
    let writer = ConnectionLane(label: "RequestBehaviors.SQLite.writer", state: state) {
      try Connection(state: state, configuration: configuration, isReader: false)
    }
    self.writer = writer
    let polls = configuration.changePollInterval != nil
    let usesWAL = try writer.performSync { connection in
      try connection.migrate(migrations)
      // The first look has no version to compare with and would report a commit.
      if polls { _ = try connection.hasOtherCommits() }
      return connection.usesWAL
    }
    readers = usesWAL ? Self.makeReaders(state, configuration) : nil
    watchedReads = WatchedReadLimit(readers: usesWAL ? configuration.maximumReaders : 1)
    if let interval = configuration.changePollInterval { pollForChanges(every: interval) }
  }

  private static func makeReaders(_ state: StoreState, _ configuration: SQLiteConfiguration) -> ReaderPool {
    ReaderPool(maximum: configuration.maximumReaders) {
      ConnectionLane(label: "RequestBehaviors.SQLite.reader", state: state) {
        try Connection(state: state, configuration: configuration, isReader: true)
      }
    }
  }

  /// Opens or creates the file as ``init(path:configuration:migrations:)`` does, without blocking the caller's thread.
  public static func open(
    path: String, configuration: SQLiteConfiguration = SQLiteConfiguration(), migrations: [SQLiteMigration] = []
  ) async throws -> SQLiteStore {
    try await withCheckedThrowingContinuation { continuation in
      BlockingQueue.background {
        continuation.resume(
          with: Result { try SQLiteStore(path: path, configuration: configuration, migrations: migrations) })
      }
    }
  }

  deinit { state.changes.finish() }
}
