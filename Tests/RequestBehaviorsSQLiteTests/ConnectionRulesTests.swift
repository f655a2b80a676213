import Foundation
import RequestBehaviorsSQLite
import Testing

/// Rules of every connection, statement and transaction.
@Suite(.limited) struct ConnectionRulesTests {
  private struct Row: Codable, Equatable {
    var a: String
    var b: Int
  }

  private func makeStore(_ script: String) throws -> SQLiteStore {
    try SQLiteStore(path: ":memory:", migrations: [SQLiteMigration("schema") { try $0.execute(script: script) }])
  }

  private static let two = "CREATE TABLE t (a TEXT PRIMARY KEY, b INTEGER); INSERT INTO t VALUES ('one', 1), ('two', 2)"

  @Test func `a query can run inside the loop over the same query`() throws {
    let store = try makeStore(Self.two)
    var seen: [String] = []
    try store.readAndWait { db in
      try db.forEach("SELECT * FROM t ORDER BY b", as: Row.self) { outer in
        try db.forEach("SELECT * FROM t ORDER BY b", as: Row.self) { seen.append(outer.a + $0.a) }
      }
    }
    #expect(seen == ["oneone", "onetwo", "twoone", "twotwo"])
  }

  @Test func `columns that another connection has moved are found`() async throws {
    let test = try TestStore(migrations: [SQLiteMigration("t") { try $0.execute(script: Self.two) }])
    let query = { @Sendable (db: Database) in try db.query("SELECT * FROM t ORDER BY b", as: Row.self) }
    let before = try await test.store.read(query)
    let other = try SQLiteStore(path: test.store.path)
    try await other.write {
      try $0.execute(
        script: "ALTER TABLE t RENAME TO o; CREATE TABLE t (b INTEGER, x, a TEXT); INSERT INTO t SELECT b, 0, a FROM o")
    }
    #expect(try await test.store.read(query) == before)
  }

  @Test func `of two columns of one name the first is read`() throws {
    struct One: Decodable { var a: Int }
    #expect(try makeStore("").readAndWait { try $0.first("SELECT 1 AS a, 2 AS a", as: One.self) }?.a == 1)
  }

  @Test func `a write whose task is cancelled when its closure ends is undone`() async throws {
    let test = try TestStore()
    let store = test.store
    let (handles, handle) = AsyncStream.makeStream(of: Task<Void, any Error>.self)
    let gate = DispatchSemaphore(value: 0)
    let task = Task {
      try await store.write { db in
        gate.wait()
        try db.save(Artwork(id: 1, title: "one"), into: "artwork")
      }
    }
    handle.yield(task)
    for await task in handles {
      task.cancel()
      break
    }
    gate.signal()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await test.artworks.isEmpty)
  }

  @Test func `references are checked, also after a migration that suspended that`() throws {
    let script = "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p INTEGER REFERENCES p(id))"
    let store = try SQLiteStore(
      path: ":memory:",
      migrations: [
        SQLiteMigration("schema") { try $0.execute(script: script) },
        SQLiteMigration("rebuild", suspendsForeignKeys: true) { try $0.execute("ALTER TABLE c ADD COLUMN x") },
      ])
    let error = #expect(throws: SQLiteError.self) {
      try store.writeAndWait { try $0.execute("INSERT INTO c (p) VALUES (7)") }
    }
    #expect(error?.code == .constraint)
  }

  @Test func `the schema cannot be written to as a table`() throws {
    let store = try makeStore(Self.two)
    _ = try store.writeAndWait { try $0.first("PRAGMA writable_schema = ON", as: Int.self) }
    #expect(throws: SQLiteError.self) {
      try store.writeAndWait { try $0.execute("UPDATE sqlite_master SET sql = 'x'") }
    }
  }

  @Test func `the count of changes is that of the statement`() throws {
    let store = try makeStore(Self.two)
    try store.writeAndWait { db in
      let updated = try db.execute("UPDATE t SET b = b + 1")
      let selected = try db.execute("SELECT 1")
      #expect((updated, selected) == (2, 0))
    }
  }

  @Test func `the number of values must be that of the parameters`() throws {
    let store = try makeStore("")
    for arguments in [[1], [1, 2, 3]] {
      let error = #expect(throws: SQLiteError.self) {
        try store.readAndWait { try $0.first(SQL("SELECT ?, ?", arguments: arguments), as: Int.self) }
      }
      #expect(error?.code == .misuse)
      #expect(error?.message.contains("2 parameters") == true)
    }
  }

  @Test(arguments: [false, true])
  func `an error that ended the transaction is reported although the closure caught it`(inSavepoint: Bool) throws {
    let store = try makeStore("CREATE TABLE t (a TEXT PRIMARY KEY ON CONFLICT ROLLBACK, b INTEGER)")
    let error = #expect(throws: SQLiteError.self) {
      try store.writeAndWait { db in
        let work = {
          try db.execute("INSERT INTO t VALUES ('x', 1)")
          do { try db.execute("INSERT INTO t VALUES ('x', 2)") } catch is SQLiteError {}
        }
        if inSavepoint { try db.savepoint { try work() } } else { try work() }
      }
    }
    #expect(error?.message.contains("rolled the transaction back") == true)
    #expect(try store.readAndWait { try $0.first("SELECT count(*) FROM t", as: Int.self) } == 0)
  }

  @Test func `a read cannot ingest, in memory either`() throws {
    let store = try makeStore(Self.two)
    let error = #expect(throws: SQLiteError.self) {
      try store.readAndWait { try $0.ingest(Data(#"{"a":"x","b":1}"#.utf8), into: "t") }
    }
    #expect(error?.code == .readOnly)
  }

  @Test func `rows are deleted only where keys tell which`() throws {
    struct Keyed: Codable {
      var a: String?
      var b: Int
    }
    let store = try makeStore("CREATE TABLE n (a TEXT, b INTEGER); CREATE TABLE t (a TEXT UNIQUE, b INTEGER)")
    let none = #expect(throws: SQLiteError.self) {
      try store.writeAndWait { try $0.save([Keyed(a: "x", b: 1)], into: "n", deletingOthers: .all) }
    }
    #expect(none?.code == .misuse)
    let null = #expect(throws: SQLiteError.self) {
      try store.writeAndWait {
        try $0.save([Keyed(a: nil, b: 1)], into: SQLiteTable("t", key: "a"), deletingOthers: .all)
      }
    }
    #expect(null?.code == .misuse)
    #expect(null?.message.contains("no key") == true)
  }

  @Test func `rows that a trigger inserts elsewhere are not counted`() throws {
    let store = try makeStore(
      """
      CREATE TABLE t (a TEXT PRIMARY KEY, b INTEGER); CREATE TABLE log (a);
      CREATE TRIGGER g AFTER UPDATE ON t BEGIN INSERT INTO log VALUES (new.a); END
      """)
    try store.writeAndWait { _ = try $0.save(Row(a: "x", b: 1), into: "t") }
    let counts = try store.writeAndWait { try $0.save([Row(a: "x", b: 2), Row(a: "y", b: 1)], into: "t") }
    #expect((counts.inserted, counts.updated) == (1, 1))
  }

  @Test
  func
    `integers that do not fit, times before noon of other zones, and the last millisecond are read and written exactly`()
    throws
  {
    struct Small: Decodable { var b: Int16 }
    let store = try makeStore("CREATE TABLE d (day DATETIME)")
    #expect(throws: DecodingError.self) { try store.readAndWait { try $0.first("SELECT 70000 AS b", as: Small.self) } }
    let zone = try store.readAndWait { try $0.first("SELECT '2024-01-01T00:30:00-01:30'", as: Date.self) }
    #expect(zone == Date(timeIntervalSince1970: 1_704_074_400))
    struct Day: Codable { var day: Date }
    try store.writeAndWait { _ = try $0.save(Day(day: Date(timeIntervalSince1970: 0.9995)), into: "d") }
    #expect(try store.readAndWait { try $0.first("SELECT day FROM d", as: String.self) } == "1970-01-01 00:00:01.000")
  }

  @Test(arguments: [
    ("-9223372036854775808", "INTEGER"), ("9223372036854775807", "INTEGER"), ("1234567890123456.7", "REAL"),
    ("0.12345678901234567", "REAL"), ("123456789012345678e-3", "REAL"), ("4.35", "REAL"), ("1e22", "REAL"),
  ])
  func `numbers are ingested as the standard library reads them`(text: String, type: String) throws {
    let store = try makeStore("CREATE TABLE t (n \(type))")
    try store.writeAndWait { _ = try $0.ingest(Data(#"{"n":\#(text)}"#.utf8), into: "t") }
    if type == "INTEGER" {
      #expect(try store.readAndWait { try $0.first("SELECT n FROM t", as: Int64.self) } == Int64(text))
    } else {
      #expect(try store.readAndWait { try $0.first("SELECT n FROM t", as: Double.self) } == Double(text))
    }
  }

  @Test(arguments: [
    [0xF0, 0x80, 0x80, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xC0, 0x80],
    Array(#"\udc00"#.utf8), Array(#"\ud800A"#.utf8), Array(#"\ud800"#.utf8),
  ])
  func `text that is no Unicode is refused`(bytes: [UInt8]) throws {
    let store = try makeStore("CREATE TABLE t (a TEXT)")
    let json = Data(#"{"a":""#.utf8) + Data(bytes) + Data(#""}"#.utf8)
    #expect(throws: SQLiteError.self) { try store.writeAndWait { try $0.ingest(json, into: "t") } }
  }

  @Test func `ticks that are not read are combined into one`() async throws {
    let test = try TestStore()
    let ticks = test.store.changes(in: "artwork")
    for id in 0..<10 { try await test.store.write { _ = try $0.save(Artwork(id: id, title: "x"), into: "artwork") } }
    await test.store.close()
    var count = 0
    for await _ in ticks { count += 1 }
    #expect(count == 1)
  }

  @Test func `no more reads run at a time than the configuration says`() async throws {
    let test = try TestStore(SQLiteConfiguration(maximumReaders: 2))
    let store = test.store
    let running = Log()
    let most = Log()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<50 {
        group.addTask {
          try await store.read { db in
            running.append("+")
            let open = running.lines.reduce(0) { $0 + ($1 == "+" ? 1 : -1) }
            if open > 2 { most.append("\(open)") }
            _ = try db.first(
              "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2000) SELECT max(i) FROM n",
              as: Int.self)
            running.append("-")
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(most.lines.isEmpty)
  }
}
