import Foundation
import RequestBehaviorsSQLite
import Testing

private struct Artwork: Equatable {
  var id: Int
  var title: String
}

extension Artwork: SQLiteRecord {
  init(row: SQLiteRow) throws {
    self.init(id: try row["id"], title: try row["title"])
  }
}

private struct Title: Equatable {
  var id: Int
  var text: String
}

private struct Price: Equatable {
  var cents: Int
}

extension Price: SQLReadable {
  init(column: borrowing SQLiteColumn) throws {
    cents = try Int(column: column)
  }
}

/// The samples in the reference that read rows.
@Suite(.limited) final class SQLiteRowReferenceTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)

  init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(at: folder) }

  @Test func `rows are read by a closure, by an initializer and by a column's type`() async throws {
    let store = try SQLiteStore(path: folder.appending(path: "store.sqlite").path())
    try await store.write { db in
      try db.execute("CREATE TABLE artwork (id INTEGER PRIMARY KEY, title TEXT, price INTEGER)")
      try db.execute("INSERT INTO artwork VALUES (1, 'one', 250)")
    }
    try await store.read { db in
      let titles = try db.query(
        "SELECT id, title FROM artwork"
      ) { row in
        Title(id: try row[0], text: try row["title"])
      }
      #expect(titles == [Title(id: 1, text: "one")])
      #expect(try db.query("SELECT * FROM artwork", as: Artwork.self) == [Artwork(id: 1, title: "one")])
      #expect(try db.first("SELECT price FROM artwork", as: Price.self) == Price(cents: 250))
    }
  }
}
