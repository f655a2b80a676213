import Foundation
public import RequestBehaviors

// MARK: - Writing

extension SQLiteCacheStore {
  /// Stores a response in place of those that the same request matches, unless it was removed meanwhile by this or
  /// another process.
  ///
  /// - Throws: ``SQLiteError``, for example when the disk is full although a quarter of the responses went.
  public func save(
    _ response: StoredResponse, for key: CacheKey, matching request: HeaderFields, since mark: CacheMark
  ) async throws -> CacheSaving {
    try await save(response, for: key, matching: request, ifRemovedBefore: mark)
  }

  /// Stores a response in place of those that the same request matches, unless it is larger than the whole store.
  ///
  /// - Returns: How many others went to make room.
  /// - Throws: ``SQLiteError``, for example when the disk is full although a quarter of the responses went.
  public func save(
    _ response: StoredResponse, for key: CacheKey, matching request: HeaderFields
  ) async throws -> Int {
    try await save(response, for: key, matching: request, ifRemovedBefore: nil).evicted
  }

  private func save(
    _ response: StoredResponse, for key: CacheKey, matching request: HeaderFields, ifRemovedBefore mark: CacheMark?
  ) async throws -> CacheSaving {
    let row = try CacheRow.Values(response, key: key)
    let capacity = capacity
    let file = Locked<String?>(nil)
    let insert: @Sendable (CacheChange, Int?) throws -> CacheSaving = { change, room in
      if let mark, try !change.allows(key, since: mark) { return .refused(.changedMeanwhile) }
      guard response.size <= capacity else {
        try change.makeRoom(for: row, matching: request)
        return .refused(.tooLarge)
      }
      var evicted = 0
      if let room { evicted = try change.evict(above: 0, to: room) }
      let id = try change.insert(row, matching: request) { name in file.withLock { $0 = name } }
      return .stored(evicting: evicted + (try change.evict(above: capacity, to: capacity / 10 * 9, keeping: id)))
    }
    do {
      do {
        return try await write { try insert($0, nil) }
      } catch let error as SQLiteError where error.code == .full {
        await removeFile(file)
        return try await write { try insert($0, $0.totalSize() / 4 * 3) }
      }
    } catch {
      await removeFile(file)
      throw error
    }
  }

  /// Removes the file of a body whose entry could not be added.
  private func removeFile(_ name: Locked<String?>) async {
    guard let name = name.withLock({ $0.take() }) else { return }
    let bodies = bodies
    // Also of a task that was cancelled; it blocks, so it is work for a thread of the file's.
    await Task { try? await read { _ in bodies.remove([name]) } }.value
  }

  /// Replaces everything but the body of a response.
  public func update(_ old: StoredResponse, to new: StoredResponse, for key: CacheKey) async throws {
    let row = try CacheRow.Values(new, key: key)
    try await write { try $0.update(old, to: row, for: key) }
  }

  /// Removes a response.
  public func remove(_ response: StoredResponse, for key: CacheKey) async throws {
    try await writeAlways { try $0.delete(where: CacheRow.isSame(as: response, key)) }
  }

  /// Removes all responses of a URL, and counts the removal.
  public func removeAll(url: String) async throws { try await writeAlways { try $0.remove(.url(url)) } }

  /// Removes all responses of a scope, leaves nothing of them in the file, and counts the removal.
  public func removeAll(scope: String) async throws {
    try await writeAlways(erases: true) { try $0.remove(.scope(scope)) }
  }

  /// Removes everything, leaves nothing of it in the file, and counts the removal.
  public func removeAll() async throws { try await writeAlways(erases: true) { try $0.remove(.everything) } }

  private func writeAlways(
    erases: Bool = false, _ body: @escaping @Sendable (CacheChange) throws -> Void
  ) async throws {
    // What is not valid any more must go, also when the task that found it out was cancelled since.
    try await Task { try await write(erases: erases, body) }.value
  }
}

// MARK: - The file

extension SQLiteCacheStore {
  func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
    try await withFile { file in try await file.store.read(body) }
  }

  /// Writes in one transaction, the uses since the last one with it; files of removed bodies go after the commit.
  ///
  /// - Parameters:
  ///   - erases: Whether removed rows are overwritten and the log is emptied.
  ///   - body: Makes the changes.
  /// - Returns: What the closure returns.
  /// - Throws: ``SQLiteError``, and what the closure throws.
  func write<Value: Sendable>(
    erases: Bool = false, _ body: @escaping @Sendable (CacheChange) throws -> Value
  ) async throws -> Value {
    let uses = state.withLock { state in
      defer { state.uses = [:] }
      return state.uses
    }
    let bodies = bodies
    let now = Int(clock.date().timeIntervalSince1970 * 1_000)
    return try await withFile { file in
      let work = { @Sendable (db: Database) in
        let change = try CacheChange(db, bodies, now: now)
        try change.note(uses.sorted { $0.value < $1.value }.map(\.key))
        let value = try body(change)
        let files = change.removedFiles
        if !files.isEmpty { try db.afterCommit { bodies.remove(files) } }
        return value
      }
      return erases
        ? try await file.store.writeErasing(emptiesLog: true, work) : try await file.store.write(work)
    }
  }

  /// Works with the file; one that turns out to be damaged is replaced by an empty one, with which the work is tried again.
  private func withFile<Value>(_ work: (OpenCacheFile) async throws -> Value) async throws -> Value {
    var file = state.withLock { $0.current }
    // Another process has replaced it: what is written to the old one is lost.
    if !file.isInPlace { file = try reopen(file) }
    do {
      return try await work(file)
    } catch let error as SQLiteError where [.corrupt, .notADatabase].contains(error.code) {
      return try await work(try replace(file))
    }
  }

  private func replace(_ damaged: OpenCacheFile) throws -> OpenCacheFile {
    try reopen(damaged) { [path, bodies] in
      // Another process may have done so meanwhile.
      if damaged.isInPlace { OpenCacheFile.delete(path, bodies: bodies) }
    }
  }

  /// Opens the file anew, unless another task has done so.
  private func reopen(_ old: OpenCacheFile, after prepare: () -> Void = {}) throws -> OpenCacheFile {
    try state.withLock { state in
      // One that was closed stays so, also where its file has been removed since.
      guard state.current.store === old.store, !state.isClosed else { return state.current }
      prepare()
      state.current = try OpenCacheFile.open(path, bodies: bodies, configuration: configuration)
      state.uses = [:]
      return state.current
    }
  }
}
