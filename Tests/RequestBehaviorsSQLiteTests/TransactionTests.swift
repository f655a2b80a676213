import Foundation
import RequestBehaviorsSQLite
import Testing

@Suite(.limited) struct TransactionTests {
  struct Stop: Error {}

  @Test func `a write that throws saves nothing`() async throws {
    let test = try TestStore()
    await #expect(throws: Stop.self) {
      try await test.store.write { db in
        try db.save(Artwork(id: 1, title: "one"), into: "artwork")
        throw Stop()
      }
    }
    #expect(try await test.artworks.isEmpty)
    try await test.store.write { _ = try $0.save(Artwork(id: 2, title: "two"), into: "artwork") }
    #expect(try await test.artworks.count == 1)
  }

  @Test func `an error in a savepoint undoes only what the savepoint did`() async throws {
    let test = try TestStore()
    try await test.store.write { db in
      try db.save(Artwork(id: 1, title: "one"), into: "artwork")
      do {
        try db.savepoint {
          try db.save(Artwork(id: 2, title: "two"), into: "artwork")
          throw Stop()
        }
      } catch is Stop {}
      try db.savepoint { _ = try db.save(Artwork(id: 3, title: "three"), into: "artwork") }
    }
    #expect(try await test.artworks.map(\.id) == [1, 3])
  }

  @Test func `a read that writes is refused`() async throws {
    let test = try TestStore()
    let error = await #expect(throws: SQLiteError.self) {
      try await test.store.read { try $0.execute("DELETE FROM artwork") }
    }
    #expect(error?.code == .readOnly)
    #expect(error?.message.contains("store.write") == true)
  }

  @Test func `a read sees one snapshot`() async throws {
    let test = try TestStore()
    let store = test.store
    try await store.write { _ = try $0.save(Artwork(id: 1, title: "one"), into: "artwork") }
    let counts = try await store.read { db in
      let before = try db.query("SELECT count(*) FROM artwork", as: Int.self)
      let other = try SQLiteStore(path: store.path)
      try other.writeAndWait { _ = try $0.save(Artwork(id: 2, title: "two"), into: "artwork") }
      return (before, try db.query("SELECT count(*) FROM artwork", as: Int.self))
    }
    #expect(counts.0 == counts.1)
    #expect(try await test.artworks.count == 2)
  }

  @Test func `using the store inside its own write is an error, not a deadlock`() async throws {
    let test = try TestStore()
    let store = test.store
    let outcome = try await store.write { _ in
      [
        Result { try store.writeAndWait { _ in } }.failureCode, Result { try store.readAndWait { _ in } }.failureCode,
      ]
    }
    #expect(outcome == [.misuse, .misuse])
    let inRead = try await store.read { _ in Result { try store.readAndWait { _ in } }.failureCode }
    #expect(inRead == .misuse)
  }

  @Test func `a database used after its closure throws`() async throws {
    let test = try TestStore()
    // One test, one thread at a time.
    nonisolated(unsafe) var escaped: Database?
    try await test.store.write { escaped = $0 }
    let error = #expect(throws: SQLiteError.self) { try escaped?.execute("DELETE FROM artwork") }
    #expect(error?.code == .misuse)
  }

  @Test(arguments: ["COMMIT", " end", "ROLLBACK", "BEGIN", "savepoint x"])
  func `a closure cannot end its transaction`(sql: String) async throws {
    let test = try TestStore()
    let error = await #expect(throws: SQLiteError.self) {
      try await test.store.write { db in
        try db.save(Artwork(id: 1, title: "one"), into: "artwork")
        try db.execute(SQL(verbatim: sql))
      }
    }
    #expect(error?.code == .misuse)
    #expect(try await test.artworks.isEmpty)
  }

  @Test func `an error that rolled everything back cannot be ignored`() async throws {
    let test = try TestStore()
    let error = await #expect(throws: SQLiteError.self) {
      try await test.store.write { db in
        try db.save(Artwork(id: 1, title: "one"), into: "artwork")
        _ = try? db.execute("INSERT OR ROLLBACK INTO artwork (id, title) VALUES (1, 'again')")
        try db.save(Artwork(id: 2, title: "two"), into: "artwork")
      }
    }
    #expect(error?.message.contains("rolled") == true)
    #expect(try await test.artworks.isEmpty)
  }

  @Test func `actions after the commit run once, and not after a rollback`() async throws {
    let test = try TestStore()
    let log = Log()
    try await test.store.write { try $0.afterCommit { log.append("committed") } }
    try? await test.store.write { db in
      try db.afterCommit { log.append("rolled back") }
      throw Stop()
    }
    #expect(log.lines == ["committed"])
  }

  @Test func `a full commit and a normal one follow each other`() async throws {
    let test = try TestStore()
    for durability in [SQLiteDurability.full, .normal, .full] {
      let level = try await test.store.write(durability: durability) { db in
        try db.query("PRAGMA synchronous", as: Int.self)
      }
      #expect(level == [durability == .full ? 2 : 1])
    }
  }

  @Test func `a store in memory reads what it wrote`() async throws {
    let store = try SQLiteStore(path: ":memory:", migrations: [TestStore.artwork])
    try await store.write { _ = try $0.save(Artwork(id: 1, title: "one"), into: "artwork") }
    #expect(try await store.read { try $0.query("SELECT title FROM artwork", as: String.self) } == ["one"])
  }
}

extension Result {
  var failureCode: SQLiteError.Code? {
    if case .failure(let error as SQLiteError) = self { return error.code }
    return nil
  }
}

/// Lines from several threads.
final class Log: @unchecked Sendable {
  // `all` is protected by `lock`.
  private let lock = NSLock()
  private var all: [String] = []

  var lines: [String] { lock.withLock { all } }

  func append(_ line: String) { lock.withLock { all.append(line) } }
}
