import Foundation
import RequestBehaviorsSQLite
import Testing

@Suite(.limited) struct TableTests {
  private func makeStore(
    _ script: String, _ configuration: SQLiteConfiguration = SQLiteConfiguration()
  ) throws -> SQLiteStore {
    let schema = SQLiteMigration("schema") { try $0.execute(script: script) }
    return try SQLiteStore(path: ":memory:", configuration: configuration, migrations: [schema])
  }

  private struct Row: Codable, Equatable {
    var a: String
    var b: Int
    var c: String?
  }

  @Test func `a table or column that does not exist is named`() throws {
    let store = try makeStore("CREATE TABLE t (a TEXT PRIMARY KEY, b INTEGER)")
    let table = #expect(throws: SQLiteError.self) {
      try store.writeAndWait { try $0.save(Row(a: "x", b: 1), into: "nothing") }
    }
    #expect(table?.message.contains("there is no table \"nothing\"") == true)
    let column = #expect(throws: SQLiteError.self) {
      try store.writeAndWait { try $0.save(Row(a: "x", b: 1), into: "t") }
    }
    #expect(column?.message.contains("no column \"c\"") == true)
    #expect(column?.message.contains("it has a, b") == true)
  }

  @Test func `a key of several columns, of a table without row ids, identifies a row`() throws {
    let store = try makeStore("CREATE TABLE t (a TEXT, b INTEGER, c TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID")
    let rows = [Row(a: "x", b: 1, c: "1"), Row(a: "x", b: 2, c: "2"), Row(a: "y", b: 1, c: "3")]
    let first = try store.writeAndWait { try $0.save(rows, into: "t") }
    #expect(first.inserted == 3)
    let counts = try store.writeAndWait { db in
      try db.save([rows[0], Row(a: "x", b: 2, c: "new"), Row(a: "z", b: 1)], into: "t", deletingOthers: .all)
    }
    #expect((counts.inserted, counts.updated, counts.unchanged, counts.deleted) == (1, 1, 1, 1))
  }

  @Test func `insertions into a table without row ids are counted after a rollback, a new name and by a trigger`()
    throws
  {
    let store = try makeStore("CREATE TABLE \"it's\" (a TEXT PRIMARY KEY, b INTEGER, c TEXT) WITHOUT ROWID")
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try store.writeAndWait { db in
        #expect(try db.save(Row(a: "x", b: 1), into: "it's").inserted == 1)
        throw Stop()
      }
    }
    try store.writeAndWait { db in
      #expect(try db.save(Row(a: "x", b: 1), into: "it's").inserted == 1)
      #expect(try db.save(Row(a: "x", b: 2), into: "it's").updated == 1)
      try db.execute("INSERT INTO \"it's\" VALUES ('y', 1, NULL)")
      try db.execute(script: "ALTER TABLE \"it's\" RENAME TO renamed")
      #expect(try db.save([Row(a: "y", b: 1), Row(a: "z", b: 1)], into: "renamed").inserted == 1)
    }
  }

  @Test func `saving into a table without row ids does not read the rest of it`() throws {
    let log = Log()
    let store = try makeStore(
      "CREATE TABLE t (a TEXT PRIMARY KEY, b INTEGER, c TEXT) WITHOUT ROWID",
      SQLiteConfiguration(trace: { log.append($0.sql) }))
    for index in 0..<5 {
      let counts = try store.writeAndWait { try $0.save([Row(a: "\(index)", b: 1), Row(a: "0", b: 2)], into: "t") }
      #expect((counts.inserted, counts.updated) == (1, index == 0 ? 1 : 0))
    }
    #expect(!log.lines.contains { $0.hasPrefix("SELECT count(*)") })
  }

  @Test func `another unique key can identify a row`() throws {
    let store = try makeStore("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT UNIQUE, b INTEGER, c TEXT)")
    let table = SQLiteTable("t", key: "a")
    try store.writeAndWait { _ = try $0.save(Row(a: "x", b: 1), into: table) }
    let counts = try store.writeAndWait { try $0.save(Row(a: "x", b: 2), into: table) }
    #expect(counts.updated == 1)
    #expect(try store.readAndWait { try $0.find(Row.self, in: table, key: "x") } == Row(a: "x", b: 2))
  }

  @Test func `a change of case is saved where the collation ignores it`() throws {
    let store = try makeStore("CREATE TABLE t (b INTEGER PRIMARY KEY, a TEXT COLLATE NOCASE, c TEXT)")
    try store.writeAndWait { _ = try $0.save(Row(a: "abc", b: 1), into: "t") }
    #expect(try store.writeAndWait { try $0.save(Row(a: "ABC", b: 1), into: "t") }.updated == 1)
    #expect(try store.readAndWait { try $0.first("SELECT a FROM t", as: String.self) } == "ABC")
  }

  @Test func `columns that no property names keep their values, computed ones are left to SQLite`() throws {
    let store = try makeStore(
      """
      CREATE TABLE t (a TEXT PRIMARY KEY, b INTEGER, c TEXT GENERATED ALWAYS AS (a || b), d TEXT DEFAULT 'kept')
      """)
    try store.writeAndWait { _ = try $0.save(Row(a: "x", b: 1), into: "t") }
    try store.writeAndWait { _ = try $0.execute("UPDATE t SET d = 'mine'") }
    try store.writeAndWait { _ = try $0.save(Row(a: "x", b: 2), into: "t") }
    #expect(try store.readAndWait { try $0.first("SELECT c || d FROM t", as: String.self) } == "x2mine")
  }

  @Test func `a property that appears later gets its column`() throws {
    let store = try makeStore("CREATE TABLE t (a TEXT PRIMARY KEY, b INTEGER, c TEXT)")
    let rows = (1...300).map { Sparse(a: "\($0)", c: $0 % 100 == 0 ? "c" : nil) }
    let counts = try store.writeAndWait { try $0.save(rows, into: "t") }
    #expect(counts.inserted == 300)
    #expect(try store.readAndWait { try $0.first("SELECT count(c) FROM t", as: Int.self) } == 3)
  }

  @Test func `a column added later, here or by another connection, is found`() throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteStore(path: folder.file())
    try store.writeAndWait { try $0.execute(script: "CREATE TABLE t (a TEXT PRIMARY KEY, b INTEGER)") }
    #expect(throws: SQLiteError.self) { try store.writeAndWait { try $0.save(Row(a: "x", b: 1), into: "t") } }
    let other = try SQLiteStore(path: folder.file())
    try other.writeAndWait { try $0.execute(script: "ALTER TABLE t ADD COLUMN c TEXT") }
    try store.writeAndWait { _ = try $0.save(Row(a: "x", b: 1, c: "c"), into: "t") }
    #expect(try store.readAndWait { try $0.query("SELECT * FROM t", as: Row.self) } == [Row(a: "x", b: 1, c: "c")])
  }

  @Test func `the error names the failed row, and the call saves no row`() throws {
    let store = try makeStore("CREATE TABLE t (a TEXT PRIMARY KEY, b INTEGER CHECK (b < 450), c TEXT)")
    let rows = (0..<500).map { Row(a: "\($0)", b: $0) }
    let error = #expect(throws: SQLiteError.self) { try store.writeAndWait { try $0.save(rows, into: "t") } }
    #expect(error?.code == .constraint)
    #expect(error?.row == 450)
    #expect(try store.readAndWait { try $0.first("SELECT count(*) FROM t", as: Int.self) } == 0)
  }

  @Test(arguments: [
    "x\"; DROP TABLE t; --", "x\"\u{301}; DROP TABLE t; --", "'; DROP TABLE t; --", "x', 1); DELETE FROM t; --", "\0'",
    "?", "$a",
  ])
  func `values and identifiers cannot break out of their quotes`(evil: String) throws {
    let store = try makeStore("CREATE TABLE t (a TEXT PRIMARY KEY, b INTEGER, c TEXT)")
    try store.writeAndWait { _ = try $0.save(Row(a: evil, b: 1, c: evil), into: "t") }
    let found = try store.readAndWait { db in
      try db.query("SELECT * FROM t WHERE a = \(evil) AND c IN \(list: [evil, "x"])", as: Row.self)
    }
    #expect(found == [Row(a: evil, b: 1, c: evil)])
    #expect(throws: SQLiteError.self) {
      try store.writeAndWait { try $0.save(Row(a: "a", b: 1), into: SQLiteTable(evil)) }
    }
    #expect(throws: SQLiteError.self) {
      try store.readAndWait { try $0.query("SELECT \(identifier: evil) FROM t", as: Int.self) }
    }
    if !evil.contains("\0") {
      try store.writeAndWait { db in
        try db.execute("CREATE TABLE \(identifier: evil) (a TEXT PRIMARY KEY, b INTEGER, c TEXT)")
        try db.save(Row(a: "a", b: 1), into: SQLiteTable(evil))
      }
    }
    #expect(try store.readAndWait { try $0.first("SELECT count(*) FROM t", as: Int.self) } == 1)
  }

  @Test func `a second statement is refused`() throws {
    let store = try makeStore("CREATE TABLE t (a TEXT)")
    let error = #expect(throws: SQLiteError.self) {
      try store.writeAndWait { try $0.execute("DELETE FROM t; DELETE FROM t") }
    }
    #expect(error?.message.contains("more than one statement") == true)
    try store.writeAndWait { _ = try $0.execute("DELETE FROM t ; \n") }
    #expect(throws: SQLiteError.self) { try store.writeAndWait { try $0.execute(" -- nothing") } }
  }

  @Test func `long texts and texts with NUL come back whole`() throws {
    let store = try makeStore("CREATE TABLE t (a TEXT PRIMARY KEY, b INTEGER, c TEXT)")
    let rows = (0..<5).map { Row(a: "\($0)", b: 1, c: String(repeating: "ä\0", count: 400_000)) }
    try store.writeAndWait { _ = try $0.save(rows, into: "t") }
    #expect(try store.readAndWait { try $0.query("SELECT * FROM t ORDER BY a", as: Row.self) } == rows)
  }
}
