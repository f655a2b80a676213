import Foundation
import RequestBehaviorsSQLite
import Testing

@Suite(.limited) struct MigrationTests {
  struct Stop: Error {}

  private let second = SQLiteMigration("colour") { try $0.execute("ALTER TABLE artwork ADD COLUMN colour TEXT") }

  private func columns(_ store: SQLiteStore) async throws -> [String] {
    try await store.read { try $0.query("SELECT name FROM pragma_table_info('artwork')", as: String.self) }
  }

  @Test func `each step runs once, in order`() async throws {
    let folder = try TemporaryFolder()
    for _ in 1...2 { try await SQLiteStore(path: folder.file(), migrations: [TestStore.artwork]).close() }
    let store = try SQLiteStore(path: folder.file(), migrations: [TestStore.artwork, second])
    #expect(try await columns(store) == ["id", "title", "note", "price", "colour"])
    #expect(try await store.read { try $0.query("PRAGMA user_version", as: Int.self) } == [2])
  }

  @Test func `a migration step that throws does not change the file`() async throws {
    let folder = try TemporaryFolder()
    let broken = SQLiteMigration("broken") { db in
      try db.execute("ALTER TABLE artwork ADD COLUMN half TEXT")
      throw Stop()
    }
    #expect(throws: Stop.self) { try SQLiteStore(path: folder.file(), migrations: [TestStore.artwork, broken]) }
    let store = try SQLiteStore(path: folder.file(), migrations: [TestStore.artwork])
    #expect(try await columns(store) == ["id", "title", "note", "price"])
  }

  @Test func `a file of a newer program is refused`() async throws {
    let folder = try TemporaryFolder()
    try await SQLiteStore(path: folder.file(), migrations: [TestStore.artwork, second]).close()
    let error = #expect(throws: SQLiteError.self) {
      try SQLiteStore(path: folder.file(), migrations: [TestStore.artwork])
    }
    #expect(error?.message == "the file has schema version 2, this program knows 1; update the program")
  }

  @Test func `a file that a newer program migrates meanwhile is refused`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file()
    let commits = Log()
    let newest = SQLiteMigration("size") { try $0.execute("ALTER TABLE artwork ADD COLUMN size TEXT") }
    let steps = [TestStore.artwork, second]
    // The newer program is faster when the older one has run its first step.
    let configuration = SQLiteConfiguration { event in
      guard event.sql == "COMMIT", commits.lines.isEmpty else { return }
      commits.append(event.sql)
      #expect(throws: Never.self) { try SQLiteStore(path: path, migrations: steps + [newest]) }
    }
    let error = #expect(throws: SQLiteError.self) {
      try SQLiteStore(path: path, configuration: configuration, migrations: steps)
    }
    #expect(error?.message == "the file has schema version 3, this program knows 2; update the program")
    let store = try SQLiteStore(path: path)
    #expect(try await columns(store) == ["id", "title", "note", "price", "colour", "size"])
  }

  @Test func `a step that another program of the same version has run meanwhile is not run again`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file()
    let commits = Log()
    let steps = [TestStore.artwork, second]
    let configuration = SQLiteConfiguration { event in
      guard event.sql == "COMMIT", commits.lines.isEmpty else { return }
      commits.append(event.sql)
      #expect(throws: Never.self) { try SQLiteStore(path: path, migrations: steps) }
    }
    let store = try SQLiteStore(path: path, configuration: configuration, migrations: steps)
    #expect(try await columns(store) == ["id", "title", "note", "price", "colour"])
  }

  @Test func `a table others refer to can be rebuilt, and a dangling reference is found`() async throws {
    let folder = try TemporaryFolder()
    let tables = SQLiteMigration("tables") { db in
      try db.execute(
        script: """
          CREATE TABLE a (id INTEGER PRIMARY KEY);
          CREATE TABLE b (id INTEGER PRIMARY KEY, a INTEGER REFERENCES a (id) ON DELETE CASCADE);
          INSERT INTO a VALUES (1); INSERT INTO b VALUES (1, 1);
          """)
    }
    let rebuild = SQLiteMigration("rebuild", suspendsForeignKeys: true) { db in
      try db.execute(
        script: """
          CREATE TABLE new_a (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO new_a (id) SELECT id FROM a;
          DROP TABLE a; ALTER TABLE new_a RENAME TO a;
          """)
    }
    let dangling = SQLiteMigration("dangling", suspendsForeignKeys: true) { try $0.execute("DELETE FROM a") }
    let store = try SQLiteStore(path: folder.file(), migrations: [tables, rebuild])
    #expect(try await store.read { try $0.query("SELECT count(*) FROM b", as: Int.self) } == [1])
    await store.close()
    let error = #expect(throws: SQLiteError.self) {
      try SQLiteStore(path: folder.file(), migrations: [tables, rebuild, dangling])
    }
    #expect(error?.message.contains("\"dangling\" leaves rows in \"b\"") == true)
  }

  @Test func `stores that open a new file at the same time all find the latest version`() async throws {
    let folder = try TemporaryFolder()
    let steps = [TestStore.artwork, second]
    let versions = try await withThrowingTaskGroup(of: Int?.self) { group in
      for _ in 0..<8 {
        group.addTask {
          let store = try await SQLiteStore.open(path: folder.file(), migrations: steps)
          return try await store.read { try $0.first("PRAGMA user_version", as: Int.self) }
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(versions == Array(repeating: 2, count: 8))
  }
}
