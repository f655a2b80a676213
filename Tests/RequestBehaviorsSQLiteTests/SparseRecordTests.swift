import RequestBehaviorsSQLite
import Testing

/// A record that leaves out what it does not have.
struct Sparse: Encodable {
  enum CodingKeys: CodingKey { case a, b, c }
  var a: String
  var c: String?

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(a, forKey: .a)
    if let c { try container.encode(c, forKey: .c) }
  }
}

/// Records that do not all encode the same properties.
@Suite(.limited) struct SparseRecordTests {
  private let store: SQLiteStore

  init() throws {
    store = try TestStore.inMemory(
      "CREATE TABLE t (a TEXT PRIMARY KEY, b INTEGER, c TEXT DEFAULT 'd'); INSERT INTO t VALUES ('x', 1, 'keep')")
  }

  private func c(_ a: String) throws -> String? {
    try store.readAndWait { try $0.query("SELECT c FROM t WHERE a = \(a)", as: String?.self).first ?? nil }
  }

  @discardableResult
  private func save(_ records: [Sparse]) throws -> SQLiteSaveCounts {
    try store.writeAndWait { try $0.save(records, into: "t") }
  }

  @Test func `a column that a record leaves out keeps its value, whatever was saved before`() throws {
    try save([Sparse(a: "x")])
    #expect(try c("x") == "keep")
    try save([Sparse(a: "y", c: "v")])
    let again = try save([Sparse(a: "x")])
    #expect(again.unchanged == 1)
    #expect(try c("x") == "keep")
  }

  @Test func `a column that a record leaves out keeps its value, whatever is saved with it`() throws {
    let counts = try save([Sparse(a: "y", c: "v"), Sparse(a: "x"), Sparse(a: "z")])
    #expect((counts.inserted, counts.unchanged) == (2, 1))
    #expect(try c("x") == "keep")
    #expect(try c("y") == "v")
    // A new row gets the default of the table.
    #expect(try c("z") == "d")
  }

  @Test(arguments: [0, 7, 150, 399]) func `a column that one of many records leaves out keeps its value`(at: Int) throws
  {
    var records = (0..<400).map { Sparse(a: "\($0)", c: "v") }
    records[at] = Sparse(a: "x")
    let counts = try save(records)
    #expect((counts.inserted, counts.unchanged) == (399, 1))
    #expect(try c("x") == "keep")
    #expect(try store.readAndWait { try $0.first("SELECT count(*) FROM t WHERE c = 'v'", as: Int.self) } == 399)
  }

  @Test func `a property that is nil is saved as NULL`() throws {
    struct Whole: Codable {
      var a: String
      var c: String?
    }
    try store.writeAndWait { _ = try $0.save([Whole(a: "y", c: "v"), Whole(a: "x")], into: "t") }
    #expect(try c("x") == nil)
  }

  @Test func `records that omit a property are not deleted with the other rows`() throws {
    try save([Sparse(a: "old", c: "v")])
    let counts = try store.writeAndWait { db in
      try db.save([Sparse(a: "y", c: "v"), Sparse(a: "x")], into: "t", deletingOthers: .all)
    }
    #expect((counts.inserted, counts.unchanged, counts.deleted) == (1, 1, 1))
    #expect(try c("x") == "keep")
  }

  @Test func `a record that leaves out a key which SQLite chooses is a new row`() throws {
    struct Entry: Encodable {
      enum CodingKeys: CodingKey { case id, text }
      var id: Int?
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        if let id { try container.encode(id, forKey: .id) }
        try container.encode("text", forKey: .text)
      }
    }
    let store = try TestStore.inMemory("CREATE TABLE entry (id INTEGER PRIMARY KEY, text TEXT)")
    let counts = try store.writeAndWait { try $0.save([Entry(id: 1), Entry(), Entry()], into: "entry") }
    #expect(counts.inserted == 3)
    #expect(try store.readAndWait { try $0.query("SELECT id FROM entry", as: Int.self) } == [1, 2, 3])
  }

  /// A record that encodes the properties of a set.
  private struct Subset: Encodable {
    struct Key: CodingKey {
      var stringValue: String
      var intValue: Int? { nil }
      init(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }

    var properties: [String]
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      for name in properties {
        try container.encode(name == "id" ? properties.joined() : "new", forKey: Key(stringValue: name))
      }
    }
  }

  @Test func `each of many records saves just its own properties`() throws {
    let names = (0..<7).map { "k\($0)" }
    let columns = names.map { "\($0) TEXT DEFAULT 'old'" }.joined(separator: ", ")
    let store = try TestStore.inMemory("CREATE TABLE t (id TEXT PRIMARY KEY, \(columns))")
    let sets = (0..<128).map { set in ["id"] + names.indices.filter { set & 1 << $0 != 0 }.map { names[$0] } }
    for _ in 1...2 {
      try store.writeAndWait { _ = try $0.save(sets.reversed().map(Subset.init), into: "t") }
      for set in sets {
        let expected = names.map { set.contains($0) ? "new" : "old" }.joined()
        let found = try store.readAndWait { db in
          try db.first(
            "SELECT k0 || k1 || k2 || k3 || k4 || k5 || k6 FROM t WHERE id = \(set.joined())", as: String.self)
        }
        #expect(found == expected)
      }
    }
  }

  @Test func `a record that encodes no property is an error, and does not affect later ones`() throws {
    for records in [[Subset(properties: [])], [Subset(properties: ["a"]), Subset(properties: [])]] {
      let error = #expect(throws: SQLiteError.self) { try store.writeAndWait { try $0.save(records, into: "t") } }
      #expect(error?.message.contains("encodes no property") == true)
      let counts = try store.writeAndWait { try $0.save([Subset(properties: ["a"])], into: "t") }
      #expect(counts.inserted + counts.unchanged == 1)
    }
  }
}
