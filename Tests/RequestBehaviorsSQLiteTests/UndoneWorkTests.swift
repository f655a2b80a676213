import Foundation
import RequestBehaviorsSQLite
import Testing

/// Work that an error undoes is undone completely, and does not affect later work.
@Suite(.limited) struct UndoneWorkTests {
  private struct Stop: Error {}

  private struct Row: Codable, Equatable {
    var a: String
    var b: Int
  }

  private struct Text: Codable, Equatable {
    var id: Int
    var text: String
  }

  private let rows = (0..<200).map { Row(a: "\($0)", b: $0) }
  private let texts = (0..<1000).map { Text(id: $0, text: String(repeating: "t", count: 700)) }

  private func makeStore(_ script: String) throws -> SQLiteStore {
    try SQLiteStore(path: ":memory:", migrations: [SQLiteMigration("schema") { try $0.execute(script: script) }])
  }

  // Without NOT NULL a statement of many rows needs no journal of its own: a full disk ends the whole transaction.
  @Test(arguments: [false, true]) func `a write that fills the disk saves none of its rows`(ingests: Bool) throws {
    let store = try makeStore("CREATE TABLE p (id INTEGER PRIMARY KEY, text TEXT)")
    _ = try store.writeAndWait { try $0.first("PRAGMA max_page_count = 30", as: Int.self) }
    let json = try JSONEncoder().encode(texts)
    let error = #expect(throws: SQLiteError.self) {
      try store.writeAndWait { db in _ = try ingests ? db.ingest(json, into: "p") : db.save(texts, into: "p") }
    }
    #expect(error?.code == .full)
    #expect(try store.readAndWait { try $0.first("SELECT count(*) FROM p", as: Int.self) } == 0)
  }

  @Test func `a conflict that rolls back saves none of its rows`() throws {
    let store = try makeStore(
      """
      CREATE TABLE t (a TEXT PRIMARY KEY, b INTEGER);
      CREATE TRIGGER g BEFORE INSERT ON t WHEN new.b = 125 BEGIN SELECT RAISE(ROLLBACK, 'no'); END
      """)
    let json = try JSONEncoder().encode(rows)
    #expect(throws: (any Error).self) { try store.writeAndWait { try $0.save(rows, into: "t") } }
    #expect(throws: (any Error).self) { try store.writeAndWait { try $0.ingest(json, into: "t") } }
    #expect(try store.readAndWait { try $0.query("SELECT b FROM t", as: Int.self) }.isEmpty)
  }

  @Test func `a refused text does not affect the rows of the next one`() throws {
    let store = try makeStore("CREATE TABLE t (id INTEGER PRIMARY KEY, login TEXT, n INTEGER)")
    let secret = String(repeating: "of another response ", count: 4)
    let refused = Data(#"[{"owner":{"login":"\#(secret)"},"id":"bad"}]"#.utf8)
    #expect(throws: SQLiteError.self) {
      try store.writeAndWait { try $0.ingest(refused, into: "t", columns: ["login": "owner.login"]) }
    }
    try store.writeAndWait {
      _ = try $0.ingest(Data(#"[{"id":2}]"#.utf8), into: "t", columns: ["login": "owner.login"])
    }
    #expect(try store.readAndWait { try $0.first("SELECT login FROM t", as: String?.self) } == .some(nil))

    let good = (0..<110).map { #"{"id":\#($0),"n":7}"# }.joined(separator: ",")
    #expect(throws: SQLiteError.self) {
      try store.writeAndWait { try $0.ingest(Data("[\(good),{\"id\":110,\"n\":7},{\"id\":\"bad\"}]".utf8), into: "t") }
    }
    let next = (0..<130).map { #"{"id":\#($0)\#($0 == 0 ? #","n":1"# : "")}"# }.joined(separator: ",")
    try store.writeAndWait { _ = try $0.ingest(Data("[\(next)]".utf8), into: "t") }
    #expect(try store.readAndWait { try $0.query("SELECT id FROM t WHERE n = 7", as: Int.self) }.isEmpty)
  }

  @Test func `rows are deleted as usual after a write or savepoint with deletions was undone`() throws {
    let store = try makeStore("CREATE TABLE t (a TEXT PRIMARY KEY, b INTEGER)")
    let row = Row(a: "x", b: 1)
    #expect(throws: Stop.self) {
      try store.writeAndWait { db in
        try db.save([row], into: "t", deletingOthers: .all)
        throw Stop()
      }
    }
    let counts = try store.writeAndWait { db in
      #expect(throws: Stop.self) {
        try db.savepoint {
          try db.save([row], into: "t", deletingOthers: .all)
          throw Stop()
        }
      }
      return try db.save([row], into: "t", deletingOthers: .all)
    }
    #expect(counts.inserted == 1)
  }

  @Test func `a schema that was undone is forgotten`() throws {
    let store = try makeStore("CREATE TABLE t (a TEXT PRIMARY KEY, b INTEGER); INSERT INTO t VALUES ('7', 9)")
    #expect(throws: Stop.self) {
      try store.writeAndWait { db in
        try db.execute(script: "DROP TABLE t; CREATE TABLE t (a TEXT, b INTEGER PRIMARY KEY)")
        try db.save(Row(a: "x", b: 1), into: "t")
        _ = try db.find(Row.self, in: "t", key: 1)
        throw Stop()
      }
    }
    #expect(try store.writeAndWait { try $0.find(Row.self, in: "t", key: "7") } == Row(a: "7", b: 9))
    try store.writeAndWait { _ = try $0.save(Row(a: "x", b: 1), into: "t") }
  }

  @Test func `many stores that create one new file at once all open it`() throws {
    let folder = try TemporaryFolder()
    let log = Log()
    for n in 0..<40 {
      DispatchQueue.concurrentPerform(iterations: 4) { _ in
        do {
          _ = try SQLiteStore(path: folder.file("f\(n)"), migrations: [TestStore.artwork])
        } catch {
          log.append("\(error)")
        }
      }
    }
    #expect(log.lines.isEmpty)
  }
}
