import Foundation
import RequestBehaviorsSQLite
import Testing

/// A property of each kind.
private struct Painting: Codable, Equatable, Sendable {
  enum Kind: String, Codable, CaseIterable { case oil, ink }
  enum Style: String, Codable { case cubism, pop }
  enum Level: Int8, Codable, CaseIterable { case low, high }
  struct Size: Codable, Equatable { var width = 0, height = 0 }
  /// Of its own type again.
  final class Part: Codable, Equatable, Sendable {
    let name: String
    let inner: Part?
    init(name: String, inner: Part?) {
      self.name = name
      self.inner = inner
    }
    static func == (left: Part, right: Part) -> Bool { left.name == right.name && left.inner == right.inner }
  }

  var id = 1
  var title = "t"
  var note: String?
  var count: UInt8?
  var price = 1.5
  var isSold = true
  var wasShown: Bool?
  var made = Date(timeIntervalSince1970: 1_700_000_000.5)
  var sold: Date?
  var token = UUID()
  var image = Data([1])
  var page = URL(string: "https://example.com/1")
  var tax = Decimal(2)
  var kind = Kind.ink
  var style: Style?
  var level = Level.high
  var frame: Size?
  var tags: [String]?
  var part: Part?
}

private struct Column: Decodable, Equatable {
  var name: String
  var type: String
  var notnull: Bool
  var pk: Int
}

@Suite(.limited) struct CreateTableTests {
  private func columns(of table: String, in store: SQLiteStore) throws -> [Column] {
    try store.readAndWait { try $0.query("SELECT name, type, \"notnull\", pk FROM pragma_table_info(\(table))") }
  }

  private func memory(_ format: RowFormat = RowFormat()) throws -> SQLiteStore {
    try SQLiteStore(path: ":memory:", configuration: SQLiteConfiguration(format: format))
  }

  @Test func `each property is a column of its type, and optional ones may be NULL`() throws {
    let store = try memory()
    try store.writeAndWait { try $0.createTable("painting", for: Painting.self) }
    let expected = [
      "id INTEGER NOT NULL", "title TEXT NOT NULL", "note TEXT", "count INTEGER", "price REAL NOT NULL",
      "isSold BOOLEAN NOT NULL", "wasShown BOOLEAN", "made DATETIME NOT NULL", "sold DATETIME", "token BLOB NOT NULL",
      "image BLOB NOT NULL", "page TEXT", "tax TEXT NOT NULL", "kind TEXT NOT NULL", "style TEXT",
      "level INTEGER NOT NULL", "frame ", "tags ", "part ",
    ]
    let found = try columns(of: "painting", in: store)
    #expect(found.map { "\($0.name) \($0.type)\($0.notnull ? " NOT NULL" : "")" } == expected)
    #expect(found.filter { $0.pk > 0 }.map(\.name) == ["id"])
  }

  @Test(arguments: [
    RowFormat(), RowFormat(dates: .unixSeconds), RowFormat(dates: .unixMilliseconds, uuids: .text),
    RowFormat(dates: .iso8601, keys: .snakeCase),
  ])
  func `values that are saved in the table are read unchanged`(format: RowFormat) throws {
    let store = try memory(format)
    try store.writeAndWait { try $0.createTable("painting", for: Painting.self) }
    var rich = Painting()
    rich.id = 2
    rich.note = "n"
    rich.sold = Date(timeIntervalSince1970: 1_600_000_000)
    rich.style = .pop
    rich.tags = ["a", "b"]
    rich.frame = Painting.Size(width: 3, height: 4)
    rich.part = Painting.Part(name: "a", inner: Painting.Part(name: "b", inner: nil))
    let all = [Painting(), rich]
    let counts = try store.writeAndWait { try $0.save(all, into: "painting") }
    #expect(counts.inserted == 2)
    #expect(try store.readAndWait { try $0.query("SELECT * FROM painting ORDER BY id") } == all)
    let again = try store.writeAndWait { try $0.save(all, into: "painting") }
    #expect(again.unchanged == 2)
  }

  @Test func `columns follow the store's names, and a key may be of several properties`() throws {
    struct Tag: Codable {
      var artworkID: Int
      var shortName: String
    }
    let store = try memory(RowFormat(keys: .snakeCase))
    try store.writeAndWait { db in
      try db.createTable("tag", for: Tag.self, primaryKey: ["artworkID", "shortName"])
      let tags = [Tag(artworkID: 1, shortName: "a"), Tag(artworkID: 1, shortName: "b")]
      #expect(try db.save(tags + tags, into: "tag").inserted == 2)
    }
    #expect(try columns(of: "tag", in: store).map(\.name) == ["artwork_id", "short_name"])
    #expect(try columns(of: "tag", in: store).map(\.pk) == [1, 2])
  }

  @Test func `the article's table takes the records of its type`() async throws {
    struct Tag: Codable {
      var id: Int
      var name: String
    }
    let path = ":memory:"
    // swift-format-ignore
    let store = try SQLiteStore(path: path, migrations: [
      SQLiteMigration("tags") { db in try db.createTable("tag", for: Tag.self) }
    ])
    #expect(try await store.write { try $0.save(Tag(id: 1, name: "oil"), into: "tag") }.inserted == 1)
  }

  @Test func `an existing table is not changed`() throws {
    let store = try memory()
    try store.writeAndWait { db in
      try db.execute("CREATE TABLE artwork (id INTEGER PRIMARY KEY, title TEXT)")
      try db.createTable("artwork", for: Artwork.self)
    }
    #expect(try columns(of: "artwork", in: store).map(\.name) == ["id", "title"])
  }

  @Test func `quotes in names are part of the names`() throws {
    let store = try memory()
    let name = #"a"; DROP TABLE x; --"#
    try store.writeAndWait { db in
      try db.createTable(name, for: Artwork.self)
      #expect(try db.save(Artwork(id: 1, title: "t"), into: SQLiteTable(name)).inserted == 1)
    }
  }

  @Test func `a type that cannot be a table is an error that gives the reason`() throws {
    struct Empty: Codable {}
    struct Keyless: Codable { var name: String }
    struct Strict: Codable {
      enum State: String, Codable { case open, closed }
      var id: Int
      var state: State
    }
    struct Nested: Codable {
      var id: Int
      var tags: [String]
    }
    let store = try memory()
    func message<T: Codable>(_ type: T.Type) throws -> String? {
      let error = #expect(throws: SQLiteError.self) { try store.writeAndWait { try $0.createTable("t", for: type) } }
      #expect(error?.code == .mismatch)
      return error?.message
    }
    #expect(try message(Empty.self)?.contains("Empty decodes no properties") == true)
    #expect(try message([Int].self)?.contains("decodes no properties") == true)
    #expect(try message(Int.self)?.contains("decodes no properties") == true)
    #expect(try message(Keyless.self)?.contains("has no property \"id\" for the primary key; it has name") == true)
    #expect(try message(Strict.self)?.contains("the property \"state\" of Strict") == true)
    #expect(try message(Strict.self)?.contains("CaseIterable") == true)
    #expect(try message(Nested.self)?.contains("the property \"tags\" of Nested") == true)
  }
}
