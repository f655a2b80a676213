import Foundation
import RequestBehaviorsSQLite
import Testing

/// A record that reads itself, and would decode itself as something else.
private struct Title: Codable, Equatable, SQLiteRecord {
  var id: Int
  var text: String

  init(id: Int, text: String) {
    self.id = id
    self.text = text
  }

  init(row: SQLiteRow) throws {
    self.init(id: try row["id"], text: try row[1])
  }

  init(from decoder: any Decoder) throws { self.init(id: 0, text: "decoded") }
}

private struct Price: Equatable, SQLReadable {
  var cents: Int
  init(cents: Int) { self.cents = cents }
  init(column: SQLiteColumn) throws { cents = try Int(column: column) }
}

private enum Kind: String, SQLReadable { case oil, ink }

@Suite(.limited) struct RowTests {
  private func makeStore() throws -> SQLiteStore {
    try SQLiteStore(
      path: ":memory:",
      migrations: [
        SQLiteMigration("t") {
          try $0.execute(
            script: "CREATE TABLE t (id INTEGER PRIMARY KEY, Text TEXT); INSERT INTO t VALUES (1, 'one'), (2, 'two')")
        }
      ])
  }

  private let both = [Title(id: 1, text: "one"), Title(id: 2, text: "two")]

  @Test func `columns are read by number and by name, in any case`() throws {
    let store = try makeStore()
    try store.readAndWait { db throws in
      let byNumber = try db.query("SELECT * FROM t ORDER BY id") { Title(id: try $0[0], text: try $0[1]) }
      #expect(byNumber == both)
      let byName = try db.query("SELECT * FROM t ORDER BY id") { Title(id: try $0["ID"], text: try $0["text"]) }
      #expect(byName == both)
      let outOfOrder = try db.query("SELECT * FROM t ORDER BY id") { Title(id: try $0["id"], text: try $0["Text"]) }
      #expect(outOfOrder == both)
      #expect(try db.first("SELECT 1 AS a, 2 AS a") { try ($0["a"] as Int, $0[1] as Int) } ?? (0, 0) == (1, 2))
      #expect(try db.first("SELECT 1 WHERE 0") { try $0[0] as Int } == nil)
      #expect(try db.find(in: "t", key: 2) { try $0["text"] as String } == "two")
      #expect(try db.find(in: "t", key: 3) { try $0["text"] as String } == nil)
      var seen: [Int] = []
      try db.forEach("SELECT id FROM t ORDER BY id") { seen.append(try $0[0]) }
      #expect(seen == [1, 2])
    }
  }

  @Test(arguments: ["SELECT 1 AS id, 2 AS id, 3 AS x", "SELECT 1 AS id, 2 AS ID, 3 AS x"])
  func `of two columns of one name the first is read, in whatever order columns are read`(_ sql: String) throws {
    let store = try makeStore()
    let sql = SQL(verbatim: sql + " UNION ALL SELECT 1, 2, 3")
    let rows = try store.readAndWait {
      try $0.query(sql) { row in try ["id", "id", "x", "id"].map { try row[$0] as Int } }
    }
    #expect(rows == [[1, 1, 3, 1], [1, 1, 3, 1]])
    let exact = try store.readAndWait {
      try $0.query(sql) { row in try ["id", "ID", "Id", "X"].map { try row[$0] as Int } }
    }
    #expect(exact == [[1, 1, 1, 3], [1, 1, 1, 3]])
    struct Decoded: Decodable { var id: Int }
    #expect(try store.readAndWait { try $0.query(sql, as: Decoded.self) }.map(\.id) == [1, 1])
  }

  @Test func `a type with its own row initializer is read by it, Decodable or not`() throws {
    func generic<Record: Decodable>(_ db: Database, _ type: Record.Type) throws -> [Record] {
      var all = try db.query("SELECT * FROM t ORDER BY id", as: type)
      try db.forEach("SELECT * FROM t ORDER BY id", as: type) { all.append($0) }
      return try all + [db.first("SELECT * FROM t ORDER BY id", as: type), db.find(in: "t", key: 2)].compactMap { $0 }
    }
    let store = try makeStore()
    try store.readAndWait { db throws in
      let titles: [Title] = try db.query("SELECT * FROM t ORDER BY id")
      #expect(titles == both)
      #expect(try db.first("SELECT * FROM t ORDER BY id", as: Title.self) == both[0])
      #expect(try db.find(Title.self, in: "t", key: 2) == both[1])
      #expect(try generic(db, Title.self) == both + both + both)
      #expect(try generic(db, Int.self) == [1, 2, 1, 2, 1, 2])
      #expect(try db.query("SELECT id * 100 FROM t", as: Price.self) == [Price(cents: 100), Price(cents: 200)])
      #expect(try db.query("SELECT 'ink'", as: Kind.self) == [.ink])
      #expect(try db.query("SELECT NULL", as: Kind?.self) == [nil])
    }
  }

  @Test func `a row decodes a record beside its other columns`() throws {
    struct Item: Decodable, Equatable {
      var id: Int
      var text: String?
    }
    let store = try makeStore()
    let found = try store.readAndWait { db in
      try db.query("SELECT *, id * 10 AS ten FROM t ORDER BY id") { (try $0.decode(Item.self), try $0["ten"] as Int) }
    }
    #expect(found.map(\.0) == [Item(id: 1, text: "one"), Item(id: 2, text: "two")])
    #expect(found.map(\.1) == [10, 20])
  }

  @Test func `a column can be read as each supported type`() throws {
    let store = try makeStore()
    func read<Value: SQLReadable>(_ literal: String, _ type: Value.Type) throws -> Value? {
      try store.readAndWait { try $0.first(SQL(verbatim: "SELECT " + literal)) { try $0[0] as Value } }
    }
    #expect(try read("-128", Int8.self) == -128)
    #expect(try read("3.0", UInt64.self) == 3)
    #expect(try read("1", Bool.self) == true)
    #expect(try read("7", Double.self) == 7)
    #expect(try read("0.5", Float.self) == 0.5)
    #expect(try read("'a' || char(0)", String.self) == "a\0")
    #expect(try read("''", String.self) == "")
    #expect(try read("x''", Data.self) == Data())
    #expect(try read("x'0102'", [UInt8].self) == [1, 2])
    #expect(try read("'1970-01-01 00:00:01.500'", Date.self) == Date(timeIntervalSince1970: 1.5))
    #expect(try read("x'00112233445566778899aabbccddeeff'", UUID.self)?.uuidString.hasPrefix("00112233") == true)
    #expect(try read("'https://example.com/'", URL.self) == URL(string: "https://example.com/"))
    #expect(try read("'12.50'", Decimal.self) == 12.5)
    #expect(try read("NULL", Int?.self) == .some(nil))
    let values: [(String, SQLValue)] = [
      ("NULL", .null), ("1", .integer(1)), ("1.5", .real(1.5)), ("'t'", .text("t")), ("x'07'", .blob(Data([7]))),
    ]
    for (literal, value) in values { #expect(try read(literal, SQLValue.self) == value) }
  }

  @Test func `the error for a value of a wrong type names the column`() throws {
    let store = try makeStore()
    func message<Value: SQLReadable>(_ literal: String, _ type: Value.Type) throws -> String? {
      let error = #expect(throws: DecodingError.self, "\(literal)") {
        try store.readAndWait { try $0.first(SQL(verbatim: "SELECT \(literal) AS c")) { try $0["c"] as Value } }
      }
      return error.map { "\($0)" }
    }
    #expect(try message("NULL", Int.self)?.contains("the column \"c\" is NULL; make the property optional") == true)
    #expect(try message("'x'", Int.self)?.contains("the column \"c\" holds TEXT that is not a valid Int") == true)
    #expect(try message("300", UInt8.self)?.contains("holds INTEGER that is not a valid UInt8") == true)
    #expect(try message("1.5", Int.self)?.contains("holds REAL that is not a valid Int") == true)
    #expect(try message("1", String.self)?.contains("holds INTEGER that is not a valid String") == true)
    #expect(try message("'x'", Bool.self)?.contains("that is not a valid Bool") == true)
    #expect(try message("'x'", Double.self)?.contains("that is not a valid Double") == true)
    #expect(try message("1e300", Float.self)?.contains("that is not a valid Float") == true)
    #expect(try message("1", Data.self)?.contains("that is not a valid Data") == true)
    #expect(try message("'x'", [UInt8].self)?.contains("that is not a valid Array<UInt8>") == true)
    #expect(try message("'x'", Date.self)?.contains("that is not a valid Date") == true)
    #expect(try message("x''", Date.self)?.contains("holds BLOB that is not a valid Date") == true)
    #expect(try message("x'00'", UUID.self)?.contains("that is not a valid UUID") == true)
    #expect(try message("'x'", UUID.self)?.contains("that is not a valid UUID") == true)
    #expect(try message("''", URL.self)?.contains("that is not a valid URL") == true)
    #expect(try message("'1,5'", Decimal.self)?.contains("that is not a valid Decimal") == true)
    #expect(try message("x'00'", Decimal.self)?.contains("that is not a valid Decimal") == true)
    #expect(try message("'water'", Kind.self)?.contains("holds TEXT that is not a valid Kind") == true)
  }

  @Test func `the error for a missing column names the existing ones`() throws {
    let store = try makeStore()
    for index in [-1, 2, .max, .min] {
      let error = #expect(throws: DecodingError.self) {
        try store.readAndWait { try $0.query("SELECT * FROM t") { try $0[index] as Int? } }
      }
      #expect(error.map { "\($0)" }?.contains("no column of number \(index); it has 2") == true)
    }
    let error = #expect(throws: DecodingError.self) {
      try store.readAndWait { try $0.query("SELECT * FROM t") { try $0["titel"] as Int? } }
    }
    #expect(error.map { "\($0)" }?.contains("no column \"titel\"; it has id, Text") == true)
  }

  @Test func `a row that is kept throws after its closure ends`() throws {
    struct Column: SQLReadable {
      let column: SQLiteColumn
    }
    let store = try makeStore()
    let check = { (row: SQLiteRow) in
      #expect(throws: DecodingError.self) { try row[0] as Int }
      #expect(throws: DecodingError.self) { try row["id"] as Int }
      #expect(throws: DecodingError.self) { try row.decode(Artwork.self) }
    }
    var kept: [SQLiteRow] = []
    var column: SQLiteColumn?
    try store.writeAndWait { db throws in
      try db.forEach("SELECT * FROM t") { row throws in
        kept.forEach(check)
        kept.append(row)
        column = try (row[0] as Column).column
        #expect(try Int(column: #require(column)) == kept.count)
      }
      kept.forEach(check)
      #expect(throws: DecodingError.self) { try Int(column: #require(column)) }
      #expect(throws: DecodingError.self) { try #require(column).isNull }
      // The same statement runs again, then is finalised.
      try db.forEach("SELECT * FROM t") { _ in kept.forEach(check) }
      try db.execute(script: "CREATE TABLE z (a)")
      kept.forEach(check)
    }
    kept.forEach(check)
  }

  @Test func `a kept row reports the end of its closure also when its first column by name is read`() throws {
    let store = try makeStore()
    try store.readAndWait { db throws in
      var kept: SQLiteRow?
      try db.forEach("SELECT id FROM t") { row in kept = row }
      let row = try #require(kept)
      let error = #expect(throws: DecodingError.self) { try row["id"] as Int }
      #expect(error.map { "\($0)" }?.contains("a row was read after its time") == true)
    }
  }

  @Test func `columns that were moved between two runs of one statement are found`() async throws {
    let test = try TestStore(migrations: [
      SQLiteMigration("t") { try $0.execute(script: "CREATE TABLE t (a, b); INSERT INTO t VALUES ('a', 'b')") }
    ])
    let read = { @Sendable (db: Database) in
      try db.query("SELECT * FROM t") { row in try [row["a"] as String, row["b"]] }
    }
    #expect(try await test.store.read(read) == [["a", "b"]])
    let other = try SQLiteStore(path: test.store.path)
    try await other.write { db in
      try db.execute(script: "ALTER TABLE t RENAME TO o; CREATE TABLE t (x, b, a); INSERT INTO t SELECT 0, b, a FROM o")
    }
    #expect(try await test.store.read(read) == [["a", "b"]])
    let columns = try await test.store.read { db in try db.first("SELECT * FROM t") { try $0[2] as String } }
    #expect(columns == "a")
  }

  @Test func `an error in the closure ends the reading and leaves the statement usable`() throws {
    struct Stop: Error {}
    let store = try makeStore()
    try store.readAndWait { db throws in
      #expect(throws: Stop.self) { try db.query("SELECT id FROM t") { _ -> Int in throw Stop() } }
      #expect(try db.query("SELECT id FROM t") { try $0[0] as Int } == [1, 2])
      #expect(throws: Stop.self) { try db.find(in: "t", key: 1) { _ -> Int in throw Stop() } }
      #expect(try db.find(in: "t", key: 1) { try $0[0] as Int } == 1)
    }
  }

  @Test func `a find inside the closure of another one, or of a query, leaves the outer row readable`() throws {
    let store = try makeStore()
    try store.readAndWait { db throws in
      func texts(from id: Int, depth: Int) throws -> [String]? {
        try db.find(in: "t", key: id) { row in
          let inner = depth == 0 ? [] : try texts(from: 3 - id, depth: depth - 1)
          return [try row["text"]] + (inner ?? [])
        }
      }
      for _ in 0..<2 {
        #expect(try texts(from: 1, depth: 3) == ["one", "two", "one", "two"])
        let outer = try db.find(in: "t", key: 1) { row in try db.find(in: "t", key: 7) { try $0[0] as Int } ?? row[0] }
        #expect(outer == 1)
        let pairs = try db.query("SELECT * FROM \(identifier: "t") WHERE \(identifier: "id") = \(2)") { row in
          [try db.find(in: "t", key: 1) { try $0[1] as String } ?? "", try row[1]]
        }
        #expect(pairs == [["one", "two"]])
      }
    }
  }

  @Test(arguments: ["", "WITHOUT ROWID"])
  func `a row is found by a key that is text`(_ kind: String) throws {
    let store = try TestStore.inMemory("CREATE TABLE t (k TEXT PRIMARY KEY, v) \(kind); INSERT INTO t VALUES ('é', 1)")
    try store.readAndWait { db throws in
      #expect(try db.find(in: "t", key: "é") { try $0[1] as Int } == 1)
      #expect(try db.find(in: "t", key: "") { try $0[1] as Int } == nil)
      #expect(try db.find(in: "t", key: String?.none) { try $0[1] as Int } == nil)
      #expect(try db.find(in: "t", key: "é") { try $0["k"] as String } == "é")
    }
  }

  @Test func `a number too large for a Float is an error`() throws {
    let store = try TestStore.inMemory("CREATE TABLE t (a)")
    #expect(throws: DecodingError.self) { try store.readAndWait { try $0.first("SELECT 1e300", as: Float.self) } }
    #expect(try store.readAndWait { try $0.first("SELECT 1e300", as: Double.self) } == 1e300)
  }

  @Test func `a decimal is read only if the whole text is a number, and NaN is refused`() throws {
    let store = try TestStore.inMemory("CREATE TABLE t (d TEXT)")
    for text in ["'12abc'", "'1,5'", "'abc'", "''", "'NaN'"] {
      #expect(throws: DecodingError.self) {
        try store.readAndWait { try $0.first(SQL(verbatim: "SELECT " + text), as: Decimal.self) }
      }
    }
    #expect(try store.readAndWait { try $0.first("SELECT '-12.50e1'", as: Decimal.self) } == -125)
    struct Price: Codable { var d: Decimal }
    #expect(throws: SQLiteError.self) { try store.writeAndWait { try $0.save(Price(d: .nan), into: "t") } }
    #expect(throws: SQLiteError.self) {
      try store.writeAndWait { try $0.execute("INSERT INTO t VALUES (\(Decimal.nan))") }
    }
  }
}
