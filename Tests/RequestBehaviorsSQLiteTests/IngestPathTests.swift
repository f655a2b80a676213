import Foundation
import RequestBehaviorsSQLite
import Testing

/// Which key of an object goes to which column.
@Suite(.limited) struct IngestPathTests {
  private func makeStore(_ script: String) throws -> SQLiteStore {
    try SQLiteStore(path: ":memory:", migrations: [SQLiteMigration("schema") { try $0.execute(script: script) }])
  }

  @Test(arguments: [
    (["owner": "owner", "login": "owner.login"], "owner"), (["login": "owner.login", "other": "owner.login"], "other"),
    (["login": ""], "empty key"), (["login": "owner..login"], "empty key"), (["login": "owner.login."], "empty key"),
  ])
  func `paths that contradict each other are refused and named`(paths: [String: String], word: String) throws {
    let store = try makeStore("CREATE TABLE t (id INTEGER PRIMARY KEY, owner TEXT, login TEXT, other TEXT)")
    let json = Data(#"[{"id":1,"owner":{"login":"me"}}]"#.utf8)
    let error = #expect(throws: SQLiteError.self) {
      try store.writeAndWait { try $0.ingest(json, into: "t", columns: paths) }
    }
    #expect(error?.code == .misuse)
    #expect(error?.message.contains(word) == true)
  }

  @Test func `a value in place of an object is an error, and null is read as a missing object`() throws {
    let store = try makeStore("CREATE TABLE t (id INTEGER PRIMARY KEY, login TEXT)")
    let error = #expect(throws: SQLiteError.self) {
      try store.writeAndWait {
        try $0.ingest(Data(#"[{"id":1,"owner":5}]"#.utf8), into: "t", columns: ["login": "owner.login"])
      }
    }
    #expect(error?.code == .mismatch)
    #expect(error?.row == 0)
    #expect(error?.message.contains(#""owner""#) == true)
    try store.writeAndWait {
      _ = try $0.ingest(Data(#"[{"id":1,"owner":null}]"#.utf8), into: "t", columns: ["login": "owner.login"])
    }
    #expect(try store.readAndWait { try $0.first("SELECT count(*) FROM t", as: Int.self) } == 1)
  }

  @Test func `errors name row and byte, also errors of SQLite and of values out of range`() throws {
    let store = try makeStore("CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER NOT NULL, day DATETIME)")
    func message(_ json: String, at path: String? = nil) -> (row: Int?, text: String) {
      let error = #expect(throws: SQLiteError.self) {
        try store.writeAndWait { try $0.ingest(Data(json.utf8), at: path, into: "t") }
      }
      return (error?.row, error?.message ?? "")
    }
    let constraint = message(#"[{"id":1,"n":1},{"id":2,"n":null}]"#)
    #expect(constraint.row == 1)
    #expect(constraint.text.hasSuffix("(before byte 33 of the JSON)"))
    let date = message(#"[{"id":1,"n":1,"day":1e18}]"#)
    #expect(date.row == 0)
    #expect(date.text.contains("of the JSON)"))
    let kind = message(#"[{"id":"x"}]"#)
    #expect(kind.row == 0)
    #expect(kind.text.hasSuffix("(byte 10 of the JSON)"))
    #expect(message(#"{"items":[{"id":2,"n":1}],"items":[]}"#, at: "items").text.contains("twice"))
  }

  @Test(arguments: ["null", "{}", #"{"other":1}"#])
  func `the last value of a key counts, also for a column within an object`(last: String) throws {
    let store = try makeStore("CREATE TABLE t (id INTEGER PRIMARY KEY, login TEXT)")
    let json = Data(#"[{"id":1,"owner":{"login":"a"},"owner":\#(last)}]"#.utf8)
    try store.writeAndWait { _ = try $0.ingest(json, into: "t", columns: ["login": "owner.login"]) }
    #expect(try store.readAndWait { try $0.first("SELECT login FROM t", as: String?.self) } == .some(nil))
  }

  @Test func `a column is found behind a thousand other keys`() throws {
    let store = try makeStore("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)")
    let others = (0..<1000).map { #""k\#($0)":0"# }.joined(separator: ",")
    try store.writeAndWait { _ = try $0.ingest(Data("[{\"id\":1,\(others),\"name\":\"n\"}]".utf8), into: "t") }
    #expect(try store.readAndWait { try $0.first("SELECT name FROM t", as: String?.self) } == "n")
  }

  @Test func `a column that another process has added is saved`() async throws {
    let test = try TestStore()
    try await test.store.write { _ = try $0.ingest(Data(#"{"id":1,"title":"a","price":1}"#.utf8), into: "artwork") }
    let other = try SQLiteStore(path: test.store.path)
    try await other.write { _ = try $0.execute("ALTER TABLE artwork ADD COLUMN colour TEXT") }
    let json = Data(#"{"id":2,"title":"a","price":1,"colour":"red"}"#.utf8)
    try await test.store.write { _ = try $0.ingest(json, into: "artwork") }
    let colour = try await test.store.read { try $0.first("SELECT colour FROM artwork WHERE id = 2", as: String?.self) }
    #expect(colour == "red")
  }

  private struct Item: Codable, Equatable {
    var id: UUID
    var data: Data
  }

  @Test func `a string for a column of bytes is refused, and the stored record is unchanged`() throws {
    let schema = SQLiteMigration("item") { try $0.createTable("item", for: Item.self) }
    let store = try SQLiteStore(path: ":memory:", migrations: [schema])
    let item = Item(id: UUID(), data: Data([1, 2, 3]))
    try store.writeAndWait { _ = try $0.save(item, into: "item") }
    let json = try JSONEncoder().encode([item])
    let error = #expect(throws: SQLiteError.self) { try store.writeAndWait { try $0.ingest(json, into: "item") } }
    #expect(error?.code == .mismatch)
    #expect(error?.message.contains("BLOB") == true)
    #expect(try store.readAndWait { try $0.query("SELECT * FROM item", as: Item.self) } == [item])
  }
}
