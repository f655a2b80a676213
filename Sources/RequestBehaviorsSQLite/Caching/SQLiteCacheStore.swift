public import Foundation
public import RequestBehaviors
public import RequestBehaviorsCaching

/// A cache in a SQLite file, which outlives the process and is limited by a number of bytes.
///
/// ```swift
/// let cache = try SQLiteCacheStore(path: path)
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.caching(cache)])
/// ```
///
/// Bodies of up to 64 KiB are in the file, larger ones beside it in the folder `<path>-bodies`, or beside the file to
/// which a symbolic link leads. Keep the folder with the file; it is also the sign that a damaged file was a cache. A
/// hit writes nothing: the time of a use is kept in memory and saved with the next write. The least recently used
/// response is removed first. Several processes can use one file.
///
/// On a completely full disk nothing more is stored, because a removal takes room too; requests go on without the
/// cache.
///
/// Its contents are disposable: a cache that is damaged, or was made by a newer version, is replaced by an empty one. A
/// file at the path that was no cache is left alone, and opening it throws. The file is not encrypted; only its owner
/// can read it. What is removed or replaced is overwritten in the file. Each body has a checksum, and a response with a
/// damaged body is not used.
///
/// Removals are counted in the file. A response is not stored if another process removes its URL or its owner, after a
/// change or a sign-out, while the response is under way; see `CacheStore/mark()`.
public final class SQLiteCacheStore: CacheStore {
  /// The path of the file.
  public let path: String

  /// The most bytes that are stored, bodies and fields.
  public let capacity: Int

  /// The most bytes of a body that the store accepts.
  public let maximumBodySize: Int

  let clock: RequestClock
  let configuration: SQLiteConfiguration
  let bodies: CacheBodies
  /// The path of the file without symbolic links, which stays the same if the working directory changes.
  let file: String
  let state: Locked<State>
  /// Opens and removes files, one at a time.
  let fileQueue = BlockingQueue(label: "RequestBehaviors.SQLiteCacheStore")

  struct State: Sendable {
    var current: OpenCacheFile
    /// The entries that were used since the last write, each with the number of its last use.
    var uses: [Int64: Int] = [:]
    var useCount = 0
    var isClosed = false
    /// The tasks that wait until the file is opened anew.
    var waiting: [Waiter<OpenCacheFile>] = []
  }

  /// Opens or creates the file on the calling thread; see also ``open(path:capacity:maximumBodySize:clock:)``.
  ///
  /// - Parameters:
  ///   - path: The file's path; its folder must exist.
  ///   - capacity: The most bytes to store; 256 MiB by default.
  ///   - maximumBodySize: The most bytes of a body, at most the capacity; by default an eighth of it.
  ///   - clock: The clock for the times of uses; the system's by default.
  /// - Throws: ``SQLiteError`` when the file cannot be created or opened, or when it is no cache.
  public convenience init(
    path: String, capacity: Int = 256 << 20, maximumBodySize: Int? = nil, clock: RequestClock = .system
  ) throws {
    try self.init(
      path: path, capacity: capacity, maximumBodySize: maximumBodySize, clock: clock,
      configuration: SQLiteConfiguration(busyTimeout: .seconds(1), maximumReaders: 2))
  }

  package init(
    path: String, capacity: Int, maximumBodySize: Int?, clock: RequestClock, configuration: SQLiteConfiguration
  ) throws {
    self.path = path
    self.capacity = max(0, capacity)
    self.maximumBodySize = min(maximumBodySize ?? self.capacity / 8, self.capacity)
    self.clock = clock
    var configuration = configuration
    // A response may be replaced, or removed to make room, long before its user signs out.
    configuration.overwritesDeleted = true
    self.configuration = configuration
    file = RealPath.of(path)
    bodies = CacheBodies(folder: file + "-bodies")
    let current = try OpenCacheFile.open(path, bodies: bodies, configuration: configuration)
    state = Locked(State(current: current))
  }

  /// Opens or creates the file as the initializer does, without blocking the caller's thread.
  ///
  /// - Parameters:
  ///   - path: The file's path; its folder must exist.
  ///   - capacity: The most bytes to store; 256 MiB by default.
  ///   - maximumBodySize: The most bytes of a body, at most the capacity; by default an eighth of it.
  ///   - clock: The clock for the times of uses; the system's by default.
  /// - Returns: The store.
  /// - Throws: The errors of the initializer.
  public static func open(
    path: String, capacity: Int = 256 << 20, maximumBodySize: Int? = nil, clock: RequestClock = .system
  ) async throws -> SQLiteCacheStore {
    try await withCheckedThrowingContinuation { continuation in
      BlockingQueue.background {
        continuation.resume(
          with: Result {
            try SQLiteCacheStore(path: path, capacity: capacity, maximumBodySize: maximumBodySize, clock: clock)
          })
      }
    }
  }

  /// The open file, for tests.
  package var database: SQLiteStore { state.withLock { $0.current.store } }

  /// Random bytes that were made with the file.
  public var digestKey: Data { state.withLock { $0.current.digestKey } }

  /// Saves the uses since the last write and closes the file; later use throws.
  public func close() async {
    try? await write { _ in }
    // The file that is being opened anew is closed, too, and no other is opened after it.
    let store = await onFileQueue { [self] in
      state.withLock { state in
        state.isClosed = true
        return state.current.store
      }
    }
    await store.close()
  }
}

// MARK: - Signing out

extension SQLiteCacheStore: ReleasedCacheStore {
  package var place: String { file }

  package var isClosed: Bool { state.withLock { $0.isClosed } }

  package var reopener: @Sendable () async throws -> (any CacheStore)? {
    { [file, capacity, maximumBodySize, clock] in
      // Opening would make a new file.
      guard FileManager.default.fileExists(atPath: file) else { return nil }
      return try await SQLiteCacheStore.open(
        path: file, capacity: capacity, maximumBodySize: maximumBodySize, clock: clock)
    }
  }
}

// MARK: - Reading

extension SQLiteCacheStore {
  /// Returns the most recent response that a request matches, and records its use in memory.
  public func response(for key: CacheKey, matching request: HeaderFields) async throws -> StoredResponse? {
    let bodies = bodies
    let found = try await read { db -> (row: CacheRow, isWhole: Bool)? in
      guard var row = try CacheRow.first(for: key, matching: request, in: db) else { return nil }
      let isWhole = try row.readBody(from: db, bodies)
      return (row, isWhole)
    }
    guard let found else { return nil }
    // A response whose body is missing, cut short or damaged is removed.
    guard found.isWhole else {
      try await remove(found.row.response, for: key)
      return nil
    }
    noteUse(of: found.row.id)
    return found.row.response
  }

  /// Returns a mark of the removals so far, by all processes.
  public func mark() async throws -> CacheMark { try await read { try CacheChange.mark($0) } }

  /// Returns the stored responses without their bodies, the latest used first; uses since the last write do not count
  /// yet.
  public func entries(limit: Int) async throws -> [CacheEntry] {
    try await read { db in
      try db.query(CacheRow.selectNewest(limit)) { row in
        let head = try CacheRow(row)
        return CacheEntry(key: try CacheRow.key(of: row), response: head.response, bodySize: head.bodySize)
      }
    }
  }

  private func noteUse(of id: Int64) {
    let isDue = state.withLock { state in
      state.useCount += 1
      state.uses[id] = state.useCount
      return state.uses.count == SQLiteCacheStore.useLimit
    }
    // A cache with hits but no writes saves its uses, too, so that used responses are not removed first.
    if isDue { Task { try? await write { _ in } } }
  }

  /// The number of used responses after which their uses are saved.
  private static let useLimit = 256
}
