import Foundation
public import RequestBehaviors
public import RequestBehaviorsCaching

// MARK: - Writing

extension SQLiteCacheStore {
  /// Stores a response in place of those that the same request matches, unless it was removed meanwhile by this or
  /// another process.
  ///
  /// - Throws: ``SQLiteError``, for example when the disk is full although a quarter of the responses was removed.
  public func save(
    _ response: StoredResponse, for key: CacheKey, matching request: HeaderFields, since mark: CacheMark
  ) async throws -> CacheSaving {
    try await save(response, for: key, matching: request, ifRemovedBefore: mark)
  }

  /// Stores a response in place of those that the same request matches, unless it is larger than the whole store.
  ///
  /// - Returns: How many others were removed to make room.
  /// - Throws: ``SQLiteError``, for example when the disk is full although a quarter of the responses was removed.
  public func save(
    _ response: StoredResponse, for key: CacheKey, matching request: HeaderFields
  ) async throws -> Int {
    try await save(response, for: key, matching: request, ifRemovedBefore: nil).evicted
  }

  private func save(
    _ response: StoredResponse, for key: CacheKey, matching request: HeaderFields, ifRemovedBefore mark: CacheMark?
  ) async throws -> CacheSaving {
    // The name of the body's file is kept here, because the file has to be removed when the transaction fails.
    let row = try CacheRow.Values(response, key: key)
    let (capacity, bodies) = (capacity, bodies)
    let file = Locked<String?>(nil)
    let insert: @Sendable (CacheChange, (CacheChange) throws -> Int) throws -> CacheSaving = { change, makeRoom in
      // The work may have been undone and run again in another file.
      if let earlier = file.withLock({ $0.take() }) { bodies.remove([earlier]) }
      if let mark, try !change.allows(key, since: mark) { return .refused(.changedMeanwhile) }
      guard response.size <= capacity else {
        try change.makeRoom(for: row, matching: request)
        return .refused(.tooLarge)
      }
      let evicted = try makeRoom(change)
      let id = try change.insert(row, matching: request) { name in file.withLock { $0 = name } }
      // After an eviction a tenth of the capacity is free, so that the next responses need no eviction.
      return .stored(evicting: evicted + (try change.evict(above: capacity, to: capacity / 10 * 9, keeping: id)))
    }
    // On a full disk the cache shrinks by a quarter and tries once more.
    let shrink: @Sendable (CacheChange) throws -> Int = { try $0.evict(above: 0, to: $0.totalSize() / 4 * 3) }
    do {
      do {
        return try await write { try insert($0) { _ in 0 } }
      } catch let error as SQLiteError where error.code == .full {
        await removeFile(file)
        await emptyLog()
        guard response.body.count > CacheBodies.inlineLimit else { return try await write { try insert($0, shrink) } }
        // The files of removed bodies take room until the commit.
        let evicted = try await write(shrink)
        return try await write { try insert($0) { _ in evicted } }
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
    // The task is a new one, so that it also runs after a cancellation. The work blocks, so it runs on a thread of the
    // file.
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

  /// Removes all responses of an owner, leaves nothing of them in the file, and counts the removal.
  ///
  /// If the disk is full, or another process keeps the file locked, the file is replaced by an empty one.
  public func removeAll(scope: String) async throws { try await erase(.scope(scope)) }

  /// Removes everything, leaves nothing of it in the file, and counts the removal.
  ///
  /// If the disk is full, or another process keeps the file locked, the file is replaced by an empty one.
  public func removeAll() async throws { try await erase(.everything) }

  private func erase(_ removal: CacheChange.Removal) async throws {
    do {
      try await writeAlways(erases: true) { try $0.remove(removal) }
    } catch let error as SQLiteError where [.full, .busy, .io].contains(error.code) {
      // To remove a file takes neither room nor a lock. What stays in it would be there after the next launch. The task
      // is a new one, because a cancellation does not stop a removal.
      try await Task { try await startAnew() }.value
      try await writeAlways(erases: true) { try $0.remove(removal) }
    }
  }

  /// Replaces the file by an empty one.
  private func startAnew() async throws {
    let old = await onFileQueue { [self] in
      let (current, isClosed) = state.withLock { ($0.current, $0.isClosed) }
      if !isClosed, current.isInPlace { OpenCacheFile.delete(file, bodies: bodies) }
      return current
    }
    // A removed file takes room until it is closed.
    await old.store.close()
    _ = try await reopen(old)
  }

  /// Gives back the room that the log takes on a full disk.
  ///
  /// A log that has no room to be moved into the file would fill the disk for ever. If most of the cache is in it, the
  /// cache begins anew.
  private func emptyLog() async {
    let store = state.withLock { $0.current.store }
    do {
      try await store.perform(on: store.writer) { try $0.checkpoint() }
    } catch let error as SQLiteError
      where error.code == .full && OpenCacheFile.size(of: file + "-wal") > OpenCacheFile.size(of: file)
    {
      try? await startAnew()
    } catch {
      // Another process reads or writes: the log can be emptied later.
    }
  }

  private func writeAlways(
    erases: Bool = false, _ body: @escaping @Sendable (CacheChange) throws -> Void
  ) async throws {
    // An invalid response must be removed, also when the task that asked for it has been cancelled.
    try await Task { try await write(erases: erases, body) }.value
  }
}

// MARK: - The file

extension SQLiteCacheStore {
  func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
    try await withFile { file in try await file.store.read(body) }
  }

  /// Writes in one transaction, together with the uses since the last one; files of removed bodies are deleted after
  /// the commit.
  ///
  /// - Parameters:
  ///   - erases: Whether the log, which has the pages of before, is emptied.
  ///   - body: Makes the changes.
  /// - Returns: The result of the closure.
  /// - Throws: ``SQLiteError``, and the error of the closure.
  func write<Value: Sendable>(
    erases: Bool = false, _ body: @escaping @Sendable (CacheChange) throws -> Value
  ) async throws -> Value {
    // Uses are saved with the next write, so that a hit itself writes nothing.
    let uses = state.withLock { state in
      defer { state.uses = [:] }
      return state.uses
    }
    let bodies = bodies
    let now = Int(clock.date().storedTime)
    return try await withFile { file in
      let work = { @Sendable (db: Database) in
        let change = try CacheChange(db, bodies, now: now)
        try change.note(uses.sorted { $0.value < $1.value }.map(\.key))
        let value = try body(change)
        // A file is removed after the commit: until then the entry may come back by a rollback.
        let files = change.removedFiles
        if !files.isEmpty { try db.afterCommit { bodies.remove(files) } }
        return value
      }
      return erases
        ? try await file.store.writeErasing(emptiesLog: true, work) : try await file.store.write(work)
    }
  }

  /// Performs work on the file, and tries it again with an empty file if the file is damaged, or with the new file if
  /// this or another process replaced it meanwhile.
  private func withFile<Value>(_ work: (OpenCacheFile) async throws -> Value) async throws -> Value {
    var file = state.withLock { $0.current }
    // Another process has replaced the file: a write to the old one would be lost.
    if !file.isInPlace { file = try await reopen(file) }
    var wasDamaged = false
    while true {
      do {
        return try await work(file)
      } catch let error where OpenCacheFile.isOfDamage(error) && !wasDamaged {
        wasDamaged = true
        file = try await replace(file)
      } catch let error as SQLiteError
        where (error.tellsOfMovedFile || file.store.state.isClosed || !file.isInPlace) && !isClosed
      {
        // Nothing was written. A removal must be counted in the new file, which the other processes use.
        file = try await reopen(file)
      }
    }
  }

  private func replace(_ damaged: OpenCacheFile) async throws -> OpenCacheFile {
    try await reopen(damaged) { [file, bodies] in
      // Another process may have replaced the file meanwhile.
      if damaged.isInPlace { OpenCacheFile.delete(file, bodies: bodies) }
    }
  }

  /// Opens the file anew, unless another task has done so; tasks that ask meanwhile share the result.
  ///
  /// Opening blocks, for seconds if another process has the file locked. So it runs on a thread of its own and without
  /// the lock of the state, which every request takes.
  ///
  /// - Throws: `CancellationError` as soon as the task is cancelled; the file is then opened for the others.
  private func reopen(
    _ old: OpenCacheFile, after prepare: @escaping @Sendable () -> Void = {}
  ) async throws -> OpenCacheFile {
    let waiter = Waiter<OpenCacheFile>()
    let isFirst = state.withLock { state in
      state.waiting.append(waiter)
      return state.waiting.count == 1
    }
    if isFirst { fileQueue.async { [self] in openAnew(old, after: prepare) } }
    return try await waiter.value()
  }

  private func openAnew(_ old: OpenCacheFile, after prepare: () -> Void) {
    let (current, isClosed) = state.withLock { ($0.current, $0.isClosed) }
    // A closed store stays closed, also if its file has been removed since.
    let isDone = current.store !== old.store || isClosed
    let result = Result {
      if isDone { return current }
      prepare()
      return try OpenCacheFile.open(file, bodies: bodies, configuration: configuration)
    }
    // Both under one lock: who comes later has the new file.
    let waiting = state.withLock { state in
      if !isDone, case .success(let new) = result { (state.current, state.uses) = (new, [:]) }
      defer { state.waiting = [] }
      return state.waiting
    }
    for waiter in waiting { waiter.settle(result) }
  }

  /// Runs blocking work between the openings of the file, also if the task is cancelled.
  func onFileQueue<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      fileQueue.async { continuation.resume(returning: work()) }
    }
  }
}
