import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import TestSupport
import Testing

/// A cache whose file is opened again, which may take seconds if another process has it locked.
@Suite(.limited) struct SQLiteCacheReopeningTests {
  private let folder: TemporaryFolder
  private let store: SQLiteCacheStore
  private let held: HeldWork

  /// Removes the file of a cache, and holds the thread that opens it again.
  init() throws {
    let (folder, held, openings) = (try TemporaryFolder(), HeldWork(), Locked(0))
    var configuration = SQLiteConfiguration()
    // The first statement of the second opening, which comes after the test has removed the file.
    configuration.trace = { _ in
      let isFirst = openings.withLock { openings in
        defer { if openings == 1 { openings = 2 } }
        return openings == 1
      }
      if isFirst { held.hold() }
    }
    store = try SQLiteCacheStore(
      path: folder.file(), capacity: 1 << 20, maximumBodySize: nil, clock: .system, configuration: configuration)
    for name in ["-wal", "-shm", ""] { try FileManager.default.removeItem(atPath: folder.file() + name) }
    openings.withLock { $0 = 1 }
    (self.folder, self.held) = (folder, held)
  }

  @Test func `a thread that makes a request does not wait for the reopening`() async throws {
    let (store, old) = (store, store.digestKey)
    let reading = Task { try await store.entries(limit: 9) }
    await held.isHeld()
    // Each key of a response reads it.
    #expect(store.digestKey == old)
    #expect(!store.isClosed)
    held.letGo()
    #expect(try await reading.value.isEmpty)
    #expect(store.digestKey != old)
  }

  @Test func `a task that is cancelled does not wait for it, and the others get the file`() async throws {
    let store = store
    let first = Task { try await store.entries(limit: 9) }
    await held.isHeld()
    let second = Task { try await store.mark() }
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    held.letGo()
    _ = try await second.value
  }

  @Test func `a sign-out meanwhile counts in the new file`() async throws {
    func removals(of store: SQLiteCacheStore) async throws -> Int? {
      try await store.database.read { try $0.first("SELECT count(*) FROM removal", as: Int.self) }
    }
    let store = store
    let reading = Task { try await store.entries(limit: 9) }
    await held.isHeld()
    let ending = Task { try await store.removeAll(scope: "alice") }
    // A cancellation does not stop it.
    ending.cancel()
    held.letGo()
    _ = try await reading.value
    try await ending.value
    let before = try #require(try await removals(of: SQLiteCacheStore(path: folder.file("new"))))
    #expect(try await removals(of: store) == before + 1)
  }

  @Test func `a store that is closed meanwhile closes the new file, too`() async throws {
    let store = store
    let reading = Task { try await store.entries(limit: 9) }
    await held.isHeld()
    let closing = Task { await store.close() }
    held.letGo()
    await closing.value
    _ = try? await reading.value
    #expect(store.isClosed)
    await #expect(throws: SQLiteError.self) { try await store.entries(limit: 9) }
    // The last connection removes the log.
    #expect(!FileManager.default.fileExists(atPath: folder.file() + "-wal"))
  }
}
