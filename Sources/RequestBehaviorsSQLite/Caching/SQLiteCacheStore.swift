public import Foundation
public import RequestBehaviors

/// A cache in a SQLite file, which outlives the process, bounded by the number of its bytes.
///
/// ```swift
/// let cache = try SQLiteCacheStore(path: path)
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.caching(cache)])
/// ```
///
/// Bodies of up to 64 KiB are in the file, larger ones beside it in the folder `<path>-bodies`. Keep the folder with the
/// file; it is also the sign that a damaged file was a cache. A hit writes nothing: when responses were used last is
/// noted in memory, and with the next write. What was not used for the longest time goes first. Several processes can use
/// one file.
///
/// On a disk without any room nothing more is stored, because a removal takes room too; requests do not notice.
///
/// What it holds is disposable: a cache that is damaged, or was made by a newer version, is replaced by an empty one. A
/// file at the path that was no cache is left alone, and opening it throws. The file is not encrypted; its owner alone can
/// read it. A body has a checksum: one that is damaged is as if it were not stored.
///
/// Removals are counted in the file. A response that one process receives while another removes its URL or its scope, by
/// a change or a sign-out, is not stored; see `CacheStore/mark()`.
public final class SQLiteCacheStore: CacheStore {
  /// The path of the file.
  public let path: String

  /// The most bytes that are stored, bodies and fields.
  public let capacity: Int

  /// The most bytes of a body that is stored.
  public let maximumBodySize: Int

  let clock: RequestClock
  let configuration: SQLiteConfiguration
  let bodies: CacheBodies
  let state: Locked<State>

  struct State: Sendable {
    var current: OpenCacheFile
    /// The entries that were used since the last write, each with the number of its use.
    var uses: [Int64: Int] = [:]
    var useCount = 0
    var isClosed = false
  }

  /// Opens or creates the file, on the calling thread; ``open(path:capacity:maximumBodySize:clock:)`` does it elsewhere.
  ///
  /// - Parameters:
  ///   - path: The file's path; its folder must exist.
  ///   - capacity: The most bytes to store; 256 MiB by default.
  ///   - maximumBodySize: The most bytes of a body, at most the capacity; by default an eighth of it.
  ///   - clock: Tells when a response was used; the system's by default.
  /// - Throws: ``SQLiteError`` when there can be no such file, or when it is something else than a cache.
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
    self.configuration = configuration
    bodies = CacheBodies(folder: path + "-bodies")
    let file = try OpenCacheFile.open(path, bodies: bodies, configuration: configuration)
    state = Locked(State(current: file))
  }

  /// Opens or creates the file as the initializer does, without blocking the caller's thread.
  ///
  /// - Parameters:
  ///   - path: The file's path; its folder must exist.
  ///   - capacity: The most bytes to store; 256 MiB by default.
  ///   - maximumBodySize: The most bytes of a body, at most the capacity; by default an eighth of it.
  ///   - clock: Tells when a response was used; the system's by default.
  /// - Returns: The store.
  /// - Throws: As the initializer.
  public static func open(
    path: String, capacity: Int = 256 << 20, maximumBodySize: Int? = nil, clock: RequestClock = .system
  ) async throws -> SQLiteCacheStore {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async {
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

  /// Notes what is not written yet and closes the file; later use throws.
  public func close() async {
    try? await write { _ in }
    let store = state.withLock { state in
      state.isClosed = true
      return state.current.store
    }
    await store.close()
  }
}

// MARK: - Reading

extension SQLiteCacheStore {
  /// Returns the most recent response that a request matches, and notes its use in memory.
  public func response(for key: CacheKey, matching request: HeaderFields) async throws -> StoredResponse? {
    let bodies = bodies
    let found = try await read { db -> (row: CacheRow, isWhole: Bool)? in
      guard var row = try CacheRow.first(for: key, matching: request, in: db) else { return nil }
      let isWhole = try row.readBody(from: db, bodies)
      return (row, isWhole)
    }
    guard let found else { return nil }
    // A body that is gone, cut short or damaged is a response that is gone.
    guard found.isWhole else {
      try await remove(found.row.response, for: key)
      return nil
    }
    noteUse(of: found.row.id)
    return found.row.response
  }

  /// Returns a mark of the removals so far, by all processes.
  public func mark() async throws -> CacheMark { try await read { try CacheChange.mark($0) } }

  /// Returns what is stored, the latest used first; uses since the last write do not count yet.
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
    // So that what is used, and nothing else is written, does not go first.
    if isDue { Task { try? await write { _ in } } }
  }

  /// How many responses are used before that is written down.
  private static let useLimit = 256
}
