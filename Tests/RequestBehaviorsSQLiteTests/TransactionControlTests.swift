import RequestBehaviorsSQLite
import Testing

/// Transactions are the store's.
@Suite(.limited) struct TransactionControlTests {
  private struct Stop: Error {}

  @Test(arguments: ["COMMIT", "/* x */ COMMIT", "-- x\nEND", ";ROLLBACK", "SAVEPOINT s", "RELEASE nested", "BEGIN"])
  func `SQL that begins or ends a transaction is refused`(sql: String) async throws {
    for isScript in [false, true] {
      let test = try TestStore()
      let error = await #expect(throws: SQLiteError.self) {
        try await test.store.write { db in
          try db.save(Artwork(id: 1, title: "one"), into: "artwork")
          if isScript { try db.execute(script: sql + "; BEGIN") } else { try db.execute(SQL(verbatim: sql)) }
        }
      }
      #expect(error?.code == .misuse)
      #expect(error?.message.contains("savepoint { }") == true)
      #expect(try await test.artworks.isEmpty)
      try await test.store.write { _ = try $0.save(Artwork(id: 2, title: "two"), into: "artwork") }
      #expect(try await test.artworks.count == 1)
    }
  }

  @Test(arguments: [
    "PRAGMA query_only=ON", "PRAGMA main.Locking_Mode = EXCLUSIVE", "PRAGMA busy_timeout(0)",
    "PRAGMA synchronous=OFF", "PRAGMA trusted_schema=ON", "PRAGMA foreign_keys=OFF",
  ])
  func `a pragma that would change the connection for others is refused`(sql: String) async throws {
    let test = try TestStore()
    for isScript in [false, true] {
      let error = await #expect(throws: SQLiteError.self) {
        try await test.store.write { db in
          if isScript { try db.execute(script: sql + "; SELECT 1") } else { try db.execute(SQL(verbatim: sql)) }
        }
      }
      #expect(error?.message.contains("is the store's") == true)
      try await test.store.write { _ = try $0.save(Artwork(id: 2, title: "two"), into: "artwork") }
    }
    let error = await #expect(throws: SQLiteError.self) {
      try await test.store.read { try $0.query(SQL(verbatim: sql), as: Int.self) }
    }
    #expect(error?.code == .misuse)
  }

  @Test func `the values of pragmas can be read`() async throws {
    let test = try TestStore()
    #expect(try await test.store.read { try $0.query("PRAGMA query_only", as: Int.self) } == [1])
    #expect(try await test.store.read { try $0.query("PRAGMA locking_mode", as: String.self) } == ["normal"])
  }

  @Test(arguments: [
    "COMMIT", "ROLLBACK", "BEGIN IMMEDIATE", "SAVEPOINT nested", "RELEASE nested", "ROLLBACK TO nested",
  ])
  func `SQL that the store itself runs for transactions is refused`(sql: String) throws {
    let folder = try TemporaryFolder()
    let schema = SQLiteMigration("t") { try $0.execute("CREATE TABLE t (a TEXT)") }
    let store = try SQLiteStore(path: folder.file(), migrations: [schema])
    // The store has prepared all of its own.
    #expect(throws: Stop.self) {
      try store.writeAndWait { db in
        try db.savepoint {}
        do { try db.savepoint { throw Stop() } } catch is Stop {}
        throw Stop()
      }
    }
    try store.writeAndWait { _ = try $0.execute("DELETE FROM t") }
    let error = #expect(throws: SQLiteError.self) {
      try store.writeAndWait { db in
        try db.execute("INSERT INTO t VALUES ('y')")
        try db.execute(SQL(verbatim: sql))
      }
    }
    #expect(error?.code == .misuse)
    #expect(error?.message.contains("savepoint { }") == true)
    #expect(try store.readAndWait { try $0.first("SELECT count(*) FROM t", as: Int.self) } == 0)
  }

  @Test func `full-text search may use savepoints of its own`() throws {
    let store = try TestStore.inMemory("CREATE VIRTUAL TABLE f USING fts4(x)")
    try store.writeAndWait { db in
      try db.execute("INSERT INTO f VALUES ('hello world')")
      try db.execute("INSERT INTO f VALUES ('hello you')")
      #expect(try db.first("SELECT optimize(f) FROM f LIMIT 1", as: String.self) != nil)
    }
  }

  @Test func `an action after the commit does not run without a commit`() throws {
    let store = try TestStore.inMemory("CREATE TABLE t (a)")
    let log = Log()
    try store.writeAndWait { db in
      try db.afterCommit { log.append("write") }
      #expect(throws: Stop.self) {
        try db.savepoint {
          try db.afterCommit { log.append("savepoint") }
          throw Stop()
        }
      }
    }
    #expect(log.lines == ["write"])
    let error = #expect(throws: SQLiteError.self) {
      try store.readAndWait { try $0.afterCommit { log.append("read") } }
    }
    #expect(error?.code == .readOnly)
    #expect(throws: Stop.self) {
      try store.writeAndWait { db in
        try db.afterCommit { log.append("undone") }
        throw Stop()
      }
    }
    try store.writeAndWait { _ in }
    #expect(log.lines == ["write"])
  }
}
