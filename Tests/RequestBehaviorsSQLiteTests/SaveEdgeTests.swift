import Foundation
import RequestBehaviorsSQLite
import Testing

/// Keys, counts, deletions and ticks where tables have triggers, several keys, or no row ids.
@Suite(.limited) struct SaveEdgeTests {
  private struct Stop: Error {}

  private struct Row: Codable, Equatable {
    var a: String
    var b: Int
  }

  private func makeStore(_ script: String) throws -> SQLiteStore {
    try SQLiteStore(path: ":memory:", migrations: [SQLiteMigration("schema") { try $0.execute(script: script) }])
  }

  @Test func `a table with two keys takes deletions by either`() throws {
    let store = try makeStore("CREATE TABLE t (a TEXT PRIMARY KEY, b INTEGER UNIQUE)")
    for _ in 0..<2 {
      try store.writeAndWait { _ = try $0.save([Row(a: "x", b: 1)], into: "t", deletingOthers: .all) }
      try store.writeAndWait {
        _ = try $0.save([Row(a: "x", b: 1)], into: SQLiteTable("t", key: "b"), deletingOthers: .all)
      }
    }
    try store.writeAndWait { _ = try $0.save([Row(a: "y", b: 2)], into: "t", deletingOthers: .all) }
    #expect(try store.readAndWait { try $0.query("SELECT a FROM t", as: String.self) } == ["y"])
  }

  @Test func `rows whose key is NULL do not match the saved ones`() throws {
    let store = try makeStore(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT UNIQUE, b INTEGER);
      INSERT INTO t (a, b) VALUES (NULL, 3), ('old', 4)
      """)
    let counts = try store.writeAndWait {
      try $0.save([Row(a: "x", b: 1)], into: SQLiteTable("t", key: "a"), deletingOthers: .all)
    }
    #expect(counts.deleted == 2)
    #expect(try store.readAndWait { try $0.query("SELECT b FROM t", as: Int.self) } == [1])
  }

  @Test func `rows that a trigger inserts into the same table are not counted`() throws {
    let store = try makeStore(
      """
      CREATE TABLE t (a TEXT PRIMARY KEY, b INTEGER);
      CREATE TRIGGER g AFTER INSERT ON t BEGIN INSERT INTO t VALUES (new.a || '-copy', 0); END
      """)
    let counts = try store.writeAndWait { try $0.save(Row(a: "x", b: 1), into: "t") }
    #expect((counts.inserted, counts.updated, counts.unchanged) == (1, 0, 0))
  }

  @Test func `insertions into a table without row ids are counted when another table has taken its name`() throws {
    let store = try makeStore("CREATE TABLE w (a TEXT PRIMARY KEY, b INTEGER) WITHOUT ROWID")
    try store.writeAndWait { _ = try $0.save(Row(a: "x", b: 1), into: "w") }
    try store.writeAndWait {
      try $0.execute(
        script: "ALTER TABLE w RENAME TO v; CREATE TABLE w (a TEXT PRIMARY KEY, b INTEGER) WITHOUT ROWID")
    }
    #expect(try store.writeAndWait { try $0.save(Row(a: "x", b: 1), into: "w") }.inserted == 1)
  }

  @Test func `a savepoint that is undone does not end a loop around it`() throws {
    let store = try makeStore(
      """
      CREATE TABLE w (a TEXT PRIMARY KEY, b INTEGER) WITHOUT ROWID;
      CREATE TABLE s (a TEXT); INSERT INTO s VALUES ('1'), ('2'), ('3')
      """)
    var seen: [String] = []
    try store.writeAndWait { db in
      try db.forEach("SELECT a FROM s", as: String.self) { a throws in
        #expect(throws: Stop.self) {
          try db.savepoint { () throws in
            #expect(try db.save(Row(a: a + "q", b: 1), into: "w").inserted == 1)
            throw Stop()
          }
        }
        #expect(try db.save(Row(a: a, b: 1), into: "w").inserted == 1)
        seen.append(a)
      }
    }
    #expect(seen == ["1", "2", "3"])
  }

  // MARK: Ticks

  /// Whether a write makes a stream of a table's changes tick.
  private func ticks(
    _ test: TestStore, _ table: String, _ write: @escaping @Sendable (Database) throws -> Void
  ) async throws -> Bool {
    var ticks = test.store.changes(in: table).makeAsyncIterator()
    try await test.store.write(write)
    // The stream ends with the store: it has ticked before, or never does.
    await test.store.close()
    return await ticks.next() != nil
  }

  @Test func `a caught save that failed halfway reports a change for the rows that it saved`() async throws {
    let test = try TestStore()
    try await test.store.write { _ = try $0.execute("CREATE UNIQUE INDEX u ON artwork(title)") }
    #expect(
      try await ticks(test, "artwork") { db in
        #expect(throws: SQLiteError.self) {
          try db.save([Artwork(id: 1, title: "x"), Artwork(id: 2, title: "x")], into: "artwork")
        }
      })
  }

  @Test func `an ingest reports a change`() async throws {
    let test = try TestStore()
    let json = Data(#"[{"id": 1, "title": "x"}]"#.utf8)
    #expect(try await ticks(test, "artwork") { try $0.ingest(json, into: "artwork") })
  }

  @Test func `an update whose response cannot be decoded ticks`() async throws {
    let test = try TestStore()
    try await test.store.write { _ = try $0.save(Artwork(id: 1, title: "x"), into: "artwork") }
    #expect(
      try await ticks(test, "artwork") { db in
        #expect(throws: (any Error).self) {
          try db.first("UPDATE artwork SET title = 'y' RETURNING note", as: String.self)
        }
      })
  }

  @Test func `a trigger that another connection made ticks for its table`() async throws {
    let test = try TestStore(migrations: [
      TestStore.artwork, SQLiteMigration("log") { try $0.execute("CREATE TABLE log (id INTEGER)") },
    ])
    try await test.store.write { _ = try $0.save(Artwork(id: 1, title: "x"), into: "artwork") }
    let other = try SQLiteStore(path: test.store.path)
    try await other.write {
      _ = try $0.execute("CREATE TRIGGER t AFTER INSERT ON artwork BEGIN INSERT INTO log VALUES (new.id); END")
    }
    #expect(try await ticks(test, "log") { _ = try $0.save(Artwork(id: 2, title: "x"), into: "artwork") })
  }

  @Test func `a statement without changes does not report the changes of an earlier script`() async throws {
    let test = try TestStore(migrations: [
      TestStore.artwork, SQLiteMigration("log") { try $0.execute("CREATE TABLE log (id INTEGER)") },
    ])
    #expect(
      try await !ticks(test, "log") { db in
        try db.execute(script: "INSERT INTO artwork (id, title) VALUES (1, 'x')")
        try db.execute("DELETE FROM log WHERE id = 5")
      })
  }

  @Test func `a save that deletes no rows does not report a change`() async throws {
    let test = try TestStore()
    try await test.store.write { _ = try $0.save(Artwork(id: 1, title: "x"), into: "artwork") }
    var ticks = test.store.changes().makeAsyncIterator()
    try await test.store.write { _ = try $0.save([Artwork(id: 1, title: "x")], into: "artwork", deletingOthers: .all) }
    await test.store.close()
    #expect(await ticks.next() == nil)
    var late = test.store.changes().makeAsyncIterator()
    #expect(await late.next() == nil)
  }
}
