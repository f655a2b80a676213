import Foundation
import Testing

// Whether the store is suspended is set from within its own work, where `suspend()` cannot be waited for.
@testable import RequestBehaviorsSQLite

/// Work that is stopped where its transaction begins or ends: what was taken is given back.
///
/// SQLite asks whether to go on after about a thousand steps of a statement. A statement of four steps is asked once in
/// 250 runs, and then after it took effect; hence the thousands.
@Suite(.limited) struct TransactionBoundsTests {
  private struct Stop: Error {}

  /// Stops the work that is under way when a statement has run.
  private final class Stopper: @unchecked Sendable {
    private let lock = NSLock()
    // What follows is protected by `lock`.
    private var statement: String?
    private var stop: @Sendable () -> Void = {}

    func stop(after statement: String, by stop: @escaping @Sendable () -> Void) {
      lock.withLock { (self.statement, self.stop) = (statement, stop) }
    }

    func noticeStatement(_ sql: String) {
      let stop = lock.withLock { () -> (@Sendable () -> Void)? in
        guard statement == sql else { return nil }
        statement = nil
        return self.stop
      }
      stop?()
    }
  }

  private func makeTest(_ stopper: Stopper) throws -> TestStore {
    try TestStore(SQLiteConfiguration(maximumReaders: 1) { stopper.noticeStatement($0.sql) })
  }

  private static func insert(_ id: Int, _ db: Database) throws {
    try db.execute("INSERT INTO artwork (id, title) VALUES (\(id), 'x')")
  }

  /// Does the work in a task that is cancelled when a statement has run.
  ///
  /// - Returns: How the work ended.
  private func cancel(
    after statement: String, _ stopper: Stopper, _ work: @escaping @Sendable () async throws -> Void
  ) async -> Result<Void, any Error> {
    let holder = Holder()
    stopper.stop(after: statement) { holder.cancel() }
    let task = Task { try await work() }
    holder.set { task.cancel() }
    return await task.result
  }

  /// Whether this store and another one can write to the file and read it.
  private func checkIsUsable(_ test: TestStore) async throws {
    let other = try SQLiteStore(
      path: test.store.path, configuration: SQLiteConfiguration(busyTimeout: .milliseconds(100)))
    for (id, store) in [(1_000_001, test.store), (1_000_002, other)] {
      try await store.write { try $0.save(Artwork(id: id, title: "after"), into: "artwork") }
      let found = try await store.read { try $0.first("SELECT id FROM artwork WHERE id = \(id)", as: Int.self) }
      #expect(found == id)
    }
  }

  @Test func `a write that is cancelled just before its transaction leaves the store usable`() async throws {
    let test = try makeTest(Stopper())
    let store = test.store
    for id in 1...1_500 {
      await #expect(throws: CancellationError.self) {
        try await store.perform(on: store.writer) { connection in
          connection.interruption?.cancel()
          try connection.write(durability: .normal) { try Self.insert(id, $0) }
        }
      }
    }
    #expect(try await test.artworks.isEmpty)
    try await checkIsUsable(test)
  }

  @Test(arguments: ["BEGIN IMMEDIATE", "INSERT INTO artwork (id, title) VALUES (?, 'x')"])
  func `a write that is cancelled before its commit leaves the store usable and writes nothing`(
    _ statement: String
  ) async throws {
    let stopper = Stopper()
    let test = try makeTest(stopper)
    let store = test.store
    for id in 1...1_500 {
      let outcome = await cancel(after: statement, stopper) { try await store.write { try Self.insert(id, $0) } }
      #expect(throws: CancellationError.self) { try outcome.get() }
    }
    #expect(try await test.artworks.isEmpty)
    try await checkIsUsable(test)
  }

  @Test func `a write that is cancelled at its commit is saved and reports success`() async throws {
    let stopper = Stopper()
    let test = try makeTest(stopper)
    let store = test.store
    for id in 1...1_500 {
      let outcome = await cancel(after: "COMMIT", stopper) {
        try await store.write { try Self.insert(id, $0) }
      }
      #expect(throws: Never.self) { try outcome.get() }
    }
    #expect(try await test.artworks.count == 1_500)
    try await checkIsUsable(test)
  }

  @Test(arguments: [false, true])
  func `a write that a suspension stops at its beginning leaves the store usable`(hasBegun: Bool) async throws {
    let stopper = Stopper()
    let test = try makeTest(stopper)
    let store = test.store
    for id in 1...1_500 {
      if hasBegun { stopper.stop(after: "BEGIN IMMEDIATE") { store.state.setSuspended(true) } }
      let error = await #expect(throws: SQLiteError.self) {
        try await store.perform(on: store.writer) { connection in
          if !hasBegun { store.state.setSuspended(true) }
          try connection.write(durability: .normal) { try Self.insert(id, $0) }
        }
      }
      #expect(error?.code == .interrupted)
      store.resume()
    }
    #expect(try await test.artworks.isEmpty)
    try await checkIsUsable(test)
  }

  @Test(arguments: ["BEGIN DEFERRED", "SELECT 'first'"])
  func `a read that is cancelled at its beginning leaves its reader usable`(_ statement: String) async throws {
    let stopper = Stopper()
    let test = try makeTest(stopper)
    let store = test.store
    for _ in 1...1_500 {
      let outcome = await cancel(after: statement, stopper) {
        try await store.read { db in
          _ = try db.first("SELECT 'first'", as: String.self)
          _ = try db.first("SELECT 'second'", as: String.self)
        }
      }
      #expect(throws: CancellationError.self) { try outcome.get() }
    }
    try await checkIsUsable(test)
  }

  @Test(arguments: ["BEGIN DEFERRED", "SELECT count(*) FROM sqlite_master"])
  func `a backup that is cancelled at its beginning leaves its reader usable`(_ statement: String) async throws {
    let stopper = Stopper()
    let test = try makeTest(stopper)
    let (store, copy) = (test.store, test.folder.file("copy.sqlite"))
    for _ in 1...300 {
      let outcome = await cancel(after: statement, stopper) { try await store.backup(to: copy) }
      #expect(throws: CancellationError.self) { try outcome.get() }
    }
    try await checkIsUsable(test)
    try await store.backup(to: copy)
    let rows = try await SQLiteStore(path: copy).read { try $0.first("SELECT count(*) FROM artwork", as: Int.self) }
    #expect(rows == 2)
  }

  @Test(arguments: ["SAVEPOINT", "RELEASE", "ROLLBACK TO"])
  func `a savepoint at whose bounds a suspension happens is undone alone`(
    _ statement: String
  ) async throws {
    let test = try makeTest(Stopper())
    let store = test.store
    for id in 1...1_500 {
      try await store.write { db in
        try db.savepoint { try Self.insert(2 * id, db) }
        try? db.savepoint {
          try Self.insert(2 * id + 1, db)
          if statement == "SAVEPOINT" { store.state.setSuspended(true) }
          try? db.savepoint {
            store.state.setSuspended(true)
            if statement == "ROLLBACK TO" { throw Stop() }
          }
          store.resume()
          throw Stop()
        }
      }
    }
    #expect(try await test.artworks.map(\.id) == (1...1_500).map { 2 * $0 })
    try await checkIsUsable(test)
  }

  @Test func `a full write syncs although one before it was cancelled while the durability changed`() async throws {
    let test = try makeTest(Stopper())
    let store = test.store
    for _ in 1...1_500 {
      let level = try await store.write(durability: .full) { try $0.first("PRAGMA synchronous", as: Int.self) }
      #expect(level == 2)
      try? await store.perform(on: store.writer) { connection in
        connection.interruption?.cancel()
        try connection.write(durability: .normal) { _ in }
      }
    }
  }
}
