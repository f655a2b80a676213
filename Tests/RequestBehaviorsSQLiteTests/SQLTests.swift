import Foundation
import RequestBehaviorsSQLite
import Testing

/// SQL text, its values, and what is shown of them.
@Suite(.limited) struct SQLTests {
  private let statement: SQL = "UPDATE account SET token = \("canary") WHERE id IN \(list: [7, 8])"

  @Test func `descriptions of SQL do not show the bound values`() {
    var dumped = ""
    dump(statement, to: &dumped)
    let nested: SQL = "\(sql: statement) AND name = \("canary")"
    for text in ["\(statement)", String(reflecting: statement), "\([statement])", "\(nested)", dumped] {
      #expect(!text.contains("canary"), "\(text)")
      #expect(text.contains("token = ? WHERE id IN (?,?)"), "\(text)")
    }
    #expect(dumped.contains("3 values"))
  }

  @Test func `the description of SQL is its text`() {
    #expect("\(statement)" == statement.text)
    #expect(statement.arguments.count == 3)
  }

  @Test func `SQL with a NUL is an error`() throws {
    let store = try TestStore.inMemory("CREATE TABLE a (x INTEGER); INSERT INTO a VALUES (1), (2)")
    #expect(throws: SQLiteError.self) {
      try store.writeAndWait { try $0.execute(SQL(verbatim: "DELETE FROM a\u{0} WHERE x = 1")) }
    }
    #expect(try store.readAndWait { try $0.first("SELECT count(*) FROM a", as: Int.self) } == 2)
  }

  @Test func `a comment may follow a statement, a second statement may not`() throws {
    let store = try TestStore.inMemory("CREATE TABLE t (a TEXT)")
    try store.writeAndWait { db in
      try db.execute("DELETE FROM t; -- all of it")
      try db.execute("DELETE FROM t; /* all */ ; ")
    }
    let error = #expect(throws: SQLiteError.self) {
      try store.writeAndWait { try $0.execute("DELETE FROM t; -- x\nSELECT 1") }
    }
    #expect(error?.message.contains("more than one statement") == true)
  }

  private struct Event: Codable, Equatable {
    var id: UUID
    var day: Date
  }

  @Test(arguments: [
    RowFormat(), RowFormat(dates: .iso8601, uuids: .text), RowFormat(dates: .unixSeconds),
    RowFormat(dates: .unixMilliseconds),
  ])
  func `dates and UUIDs in SQL have the form of the rows`(format: RowFormat) throws {
    let schema = SQLiteMigration("event") { try $0.createTable("event", for: Event.self) }
    let store = try SQLiteStore(
      path: ":memory:", configuration: SQLiteConfiguration(format: format), migrations: [schema])
    let event = Event(id: UUID(), day: Date(timeIntervalSince1970: 1000))
    try store.writeAndWait { _ = try $0.save(event, into: "event") }
    try store.readAndWait { db throws in
      #expect(try db.find(Event.self, in: "event", key: event.id) == event)
      #expect(try db.query("SELECT * FROM event WHERE day = \(event.day)", as: Event.self) == [event])
      #expect(
        try db.query(SQL("SELECT * FROM event WHERE id = ?", arguments: [Optional(event.id)]), as: Event.self) == [
          event
        ])
      let later = Date(timeIntervalSince1970: 2000)
      #expect(try db.query("SELECT * FROM event WHERE day > \(later)", as: Event.self).isEmpty)
      #expect(try db.query("SELECT * FROM event WHERE day < \(later)", as: Event.self).count == 1)
    }
  }
}
