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
/// Bodies of up to 64 KiB are in the file, larger ones beside it in the folder `<path>-bodies`. A hit writes nothing: when
/// responses were used last is noted in memory, and with the next write. What was not used for the longest time goes
/// first. Several processes can use one file.
///
/// On a disk without any room nothing more is stored, for to remove something takes room, too; requests do not notice.
///
/// What it holds is disposable: a file that is damaged, or was made by a newer version, is replaced by an empty one. It is
/// not encrypted; its owner alone can read it.
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
  private let lock = NSLock()
  // The following are protected by `lock`.
  nonisolated(unsafe) private var current: OpenCacheFile
  /// When responses were used since the last write, in minutes since 1970.
  nonisolated(unsafe) private var uses: [Int64: Int] = [:]

  /// Opens or creates the file, on the calling thread; ``open(path:capacity:maximumBodySize:clock:)`` does it elsewhere.
  ///
  /// - Parameters:
  ///   - path: The file's path; its folder must exist.
  ///   - capacity: The most bytes to store; 256 MiB by default.
  ///   - maximumBodySize: The most bytes of a body; by default an eighth of the capacity.
  ///   - clock: Tells when a response was used; the system's by default.
  /// - Throws: ``SQLiteError`` when there can be no such file, or when it is a database of something else.
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
    self.maximumBodySize = maximumBodySize ?? self.capacity / 8
    self.clock = clock
    self.configuration = configuration
    bodies = CacheBodies(folder: path + "-bodies")
    current = try OpenCacheFile.open(path, bodies: bodies, configuration: configuration)
  }

  /// Opens or creates the file as the initializer does, without blocking the caller's thread.
  ///
  /// - Parameters:
  ///   - path: The file's path; its folder must exist.
  ///   - capacity: The most bytes to store; 256 MiB by default.
  ///   - maximumBodySize: The most bytes of a body; by default an eighth of the capacity.
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
  package var database: SQLiteStore { lock.withLock { current.store } }

  /// Random bytes that were made with the file.
  public var digestKey: Data { lock.withLock { current.digestKey } }

  /// Notes what is not written yet and closes the file; later use throws.
  public func close() async {
    try? await write { _ in }
    await lock.withLock { current.store }.close()
  }
}

// MARK: - Reading

extension SQLiteCacheStore {
  /// Returns the most recent response that a request matches, and notes its use in memory.
  public func response(for key: CacheKey, matching request: HeaderFields) async throws -> StoredResponse? {
    let bodies = bodies
    let found = try await read { db in
      var best: CacheRow?
      try db.forEach(CacheRow.select(key)) { row in
        let head = try CacheRow(row)
        guard head.response.variant.matches(request) else { return }
        if let best, !head.response.isMoreRecent(than: best.response) { return }
        best = try head.withBody(of: row, bodies)
      }
      return best
    }
    guard let found else { return nil }
    // A body that is gone or cut short is a response that is gone.
    guard found.isComplete else {
      try await remove(found.response, for: key)
      return nil
    }
    noteUse(of: found.id)
    return found.response
  }

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
    let minute = Int(clock.date().timeIntervalSince1970 / 60)
    let isDue = lock.withLock {
      uses[id] = minute
      return uses.count >= 256
    }
    // So that what is used, and nothing else is written, does not go first.
    if isDue { Task { try? await write { _ in } } }
  }
}

// MARK: - Writing

extension SQLiteCacheStore {
  /// Stores a response in place of those that the same request matches.
  ///
  /// - Returns: How many others went to make room.
  /// - Throws: ``SQLiteError``, for example when the disk is full although a quarter of the responses went.
  public func save(
    _ response: StoredResponse, for key: CacheKey, matching request: HeaderFields
  ) async throws -> Int {
    let row = try CacheRow.Values(response, key: key, minute: Int(clock.date().timeIntervalSince1970 / 60))
    let (bodies, capacity) = (bodies, capacity)
    do {
      return try await write { change in
        try change.insert(row, body: response.body, matching: request, bodies)
        return try change.evict(above: capacity, to: capacity / 10 * 9, keeping: row)
      }
    } catch let error as SQLiteError where error.code == .full {
      return try await write { change in
        let evicted = try change.evict(above: 0, to: change.totalSize() / 4 * 3, keeping: nil)
        try change.insert(row, body: response.body, matching: request, bodies)
        return evicted
      }
    }
  }

  /// Replaces everything but the body of a response.
  public func update(_ old: StoredResponse, to new: StoredResponse, for key: CacheKey) async throws {
    let row = try CacheRow.Values(new, key: key, minute: Int(clock.date().timeIntervalSince1970 / 60))
    try await write { change in try change.update(old, to: row, for: key) }
  }

  /// Removes a response.
  public func remove(_ response: StoredResponse, for key: CacheKey) async throws {
    try await remove(where: CacheRow.isSame(as: response, key))
  }

  /// Removes all responses of a URL.
  public func removeAll(url: String) async throws { try await remove(where: CacheRow.isOf(url: url)) }

  /// Removes all responses of a scope.
  public func removeAll(scope: String) async throws { try await remove(where: CacheRow.isOf(scope: scope)) }

  /// Removes everything.
  public func removeAll() async throws { try await remove(where: "1") }

  private func remove(where condition: SQL) async throws {
    // What is not valid any more must go, also when the task that found it out was cancelled since.
    try await Task { try await write { change in try change.delete(where: condition) } }.value
  }
}

// MARK: - The file

extension SQLiteCacheStore {
  private func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
    try await withFile { file in try await file.store.read(body) }
  }

  /// Writes in one transaction, the uses since the last one with it; files of removed bodies go after the commit.
  private func write<Value: Sendable>(_ body: @escaping @Sendable (CacheChange) throws -> Value) async throws -> Value {
    let uses = lock.withLock {
      defer { self.uses = [:] }
      return self.uses
    }
    let bodies = bodies
    return try await withFile { file in
      try await file.store.write { db in
        let change = CacheChange(db)
        try change.note(uses)
        let value = try body(change)
        let files = change.removedFiles
        if !files.isEmpty { try db.afterCommit { bodies.remove(files) } }
        return value
      }
    }
  }

  /// Works with the file; one that turns out to be damaged is replaced by an empty one, with which the work is tried again.
  private func withFile<Value>(_ work: (OpenCacheFile) async throws -> Value) async throws -> Value {
    let file = lock.withLock { current }
    do {
      return try await work(file)
    } catch let error as SQLiteError where [.corrupt, .notADatabase].contains(error.code) {
      return try await work(try replace(file))
    }
  }

  private func replace(_ damaged: OpenCacheFile) throws -> OpenCacheFile {
    try lock.withLock {
      // Another task may have done so meanwhile.
      guard current.store === damaged.store else { return current }
      OpenCacheFile.delete(path, bodies: bodies)
      current = try OpenCacheFile.open(path, bodies: bodies, configuration: configuration)
      return current
    }
  }
}
