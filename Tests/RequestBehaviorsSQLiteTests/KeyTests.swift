import Foundation
import RequestBehaviorsSQLite
import Testing

/// The key of a row, as the table declares it and as another connection changes it.
@Suite(.limited) struct KeyTests {
  private struct Row: Codable, Equatable {
    var a: String
    var b: Int
  }

  private static let unique = "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b INTEGER UNIQUE)"

  private func makeStore() throws -> SQLiteStore {
    try SQLiteStore(path: ":memory:", migrations: [SQLiteMigration("t") { try $0.execute(script: Self.unique) }])
  }

  @Test(arguments: ["c", "id"], [false, true])
  func `an explicit key that is not among the saved columns is an error that lists the table's`(
    key: String, ingests: Bool
  ) throws {
    let store = try makeStore()
    let table = SQLiteTable("t", key: "b", key)
    let json = Data(#"[{"a": "x", "b": 1}, {"a": "y", "b": 2}]"#.utf8)
    let error = #expect(throws: SQLiteError.self) {
      try store.writeAndWait { db in
        if ingests { return try db.ingest(json, into: table) }
        return try db.save([Row(a: "x", b: 1), Row(a: "y", b: 2)], into: table)
      }
    }
    #expect(error?.code == .misuse)
    #expect(error?.message.contains("the key \"\(key)\" is not among the columns") == true)
    #expect(error?.message.contains("which has id, a, b") == true)
    #expect(try store.readAndWait { try $0.first("SELECT count(*) FROM t", as: Int.self) } == 0)
  }

  @Test func `an explicit key in another case identifies a row`() throws {
    let store = try makeStore()
    for a in ["x", "y"] {
      try store.writeAndWait { try $0.save(Row(a: a, b: 1), into: SQLiteTable("t", key: "B")) }
      try store.writeAndWait { try $0.ingest(Data(#"{"a": "z", "b": 1}"#.utf8), into: SQLiteTable("t", key: "B")) }
    }
    #expect(try store.readAndWait { try $0.query("SELECT a, b FROM t", as: Row.self) } == [Row(a: "z", b: 1)])
  }

  @Test func `records that do not name the primary key are inserted`() throws {
    let store = try makeStore()
    let counts = try store.writeAndWait { try $0.save([Row(a: "x", b: 1), Row(a: "x", b: 2)], into: "t") }
    #expect(counts.inserted == 2)
  }

  @Test func `a key that another connection has changed is used by lookups and saves`() async throws {
    let test = try TestStore(migrations: [
      SQLiteMigration("t") { try $0.execute(script: "CREATE TABLE t (a TEXT PRIMARY KEY, b INTEGER)") }
    ])
    let (store, row) = (test.store, Row(a: "x", b: 1))
    try await store.write { try $0.save(row, into: "t") }
    #expect(try await store.read { try $0.find(Row.self, in: "t", key: "x") } == row)
    #expect(try await store.write { try $0.find(Row.self, in: "t", key: "x") } == row)

    let other = try SQLiteStore(path: test.store.path)
    try await other.write {
      try $0.execute(
        script: """
          ALTER TABLE t RENAME TO o; CREATE TABLE t (a TEXT, b INTEGER PRIMARY KEY);
          INSERT INTO t SELECT a, b FROM o; DROP TABLE o
          """)
    }
    let counts = try await store.write { try $0.save(Row(a: "y", b: 1), into: "t") }
    #expect((counts.inserted, counts.updated) == (0, 1))
    #expect(try await store.read { try $0.find(Row.self, in: "t", key: 1) } == Row(a: "y", b: 1))
    #expect(try await store.write { try $0.find(Row.self, in: "t", key: 1) } == Row(a: "y", b: 1))
  }

  private struct Long: Codable, Equatable {
    var a: String
    var b: Int
    var c: String?
  }

  @Test func `a column that a write of its own has added is saved`() throws {
    let store = try makeStore()
    let table = SQLiteTable("t", key: "b")
    try store.writeAndWait { try $0.save(Row(a: "x", b: 1), into: table) }
    #expect(throws: SQLiteError.self) { try store.writeAndWait { try $0.save(Long(a: "x", b: 1), into: table) } }
    try store.writeAndWait { try $0.execute("ALTER TABLE t ADD COLUMN c TEXT") }
    try store.writeAndWait { try $0.save(Long(a: "x", b: 1, c: "c"), into: table) }
    #expect(try store.readAndWait { try $0.find(Long.self, in: table, key: 1) } == Long(a: "x", b: 1, c: "c"))
  }

  @Test func `a column that the same write has added is saved`() throws {
    let found = try makeStore().writeAndWait { db in
      try db.ingest(Data(#"[{"a": "x", "b": 1}]"#.utf8), into: SQLiteTable("t", key: "b"))
      try db.execute("ALTER TABLE t ADD COLUMN c TEXT")
      try db.ingest(Data(#"[{"a": "x", "b": 1, "c": "c"}]"#.utf8), into: SQLiteTable("t", key: "b"))
      return try db.query("SELECT a, b, c FROM t", as: Long.self)
    }
    #expect(found == [Long(a: "x", b: 1, c: "c")])
  }
}
