import Foundation
import RequestBehaviorsSQLite
import TestSupport
import Testing

/// Everything that a column can hold, as GRDB writes it too.
private struct Everything: Codable, Equatable {
  enum Kind: String, Codable { case oil, ink }
  struct Size: Codable, Equatable {
    var width: Int
    var made: Date?
    var print: Data?
  }

  var id: Int64
  var small: Int8?
  var big: UInt64?
  var flag: Bool?
  var real: Double?
  var float: Float?
  var text: String?
  var date: Date?
  var uuid: UUID?
  var data: Data?
  var bytes: [UInt8]?
  var url: URL?
  var decimal: Decimal?
  var kind: Kind?
  var size: Size?
  var tags: [String]?
  var names: [String: Int]?
}

@Suite(.limited) struct RowFormatTests {
  private static let table = SQLiteMigration("everything") { db in
    try db.execute(
      """
      CREATE TABLE everything (id INTEGER PRIMARY KEY, small, big, flag, real, float, text, date, uuid, data, bytes, url,
        decimal, kind, size, tags, names)
      """)
  }

  private let full: Everything = {
    var row = Everything(id: 1)
    row.small = -5
    row.big = 9_223_372_036_854_775_807
    row.flag = true
    row.real = 2.5
    row.float = 0.25
    row.text = "a\0b ü"
    row.date = Date(timeIntervalSince1970: 1_700_000_000.123)
    row.uuid = UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF")
    row.data = Data([0, 255])
    row.bytes = []
    row.url = URL(string: "https://example.com/a?b=c")
    row.decimal = Decimal(string: "12.50")
    row.kind = .ink
    row.size = .init(width: 3, made: Date(timeIntervalSince1970: 1.5), print: Data([1, 2]))
    row.tags = ["x", "y"]
    row.names = ["b": 2, "a": 1]
    return row
  }()

  /// The literals that GRDB 7 leaves in a file for the same record.
  private let golden = [
    "1", "-5", "9223372036854775807", "1", "2.5", "0.25", "'a' || char(0) || 'b ü'", "'2023-11-14 22:13:20.123'",
    "X'00112233445566778899AABBCCDDEEFF'", "X'00FF'", "X''", "'https://example.com/a?b=c'", "'12.5'", "'ink'",
    #"'{"made":1500,"print":"AQI=","width":3}'"#, #"'["x","y"]'"#, #"'{"a":1,"b":2}'"#,
  ]

  private func makeStore(_ format: RowFormat = RowFormat()) throws -> SQLiteStore {
    try SQLiteStore(
      path: ":memory:", configuration: SQLiteConfiguration(format: format), migrations: [Self.table])
  }

  @Test func `each value is stored as GRDB stores it`() throws {
    let store = try makeStore()
    try store.writeAndWait { _ = try $0.save(full, into: "everything") }
    let columns = try store.readAndWait {
      try $0.query("SELECT name FROM pragma_table_info('everything')", as: String.self)
    }
    for (column, literal) in zip(columns, golden) {
      let condition =
        "SELECT quote(\"\(column)\") || typeof(\"\(column)\") = quote(\(literal)) || typeof(\(literal)) FROM everything"
      #expect(try store.readAndWait { try $0.first(SQL(verbatim: condition), as: Bool.self) } == true, "\(column)")
    }
  }

  @Test func `rows that GRDB has stored are read`() throws {
    let store = try makeStore()
    let insertion = "INSERT INTO everything VALUES (" + golden.joined(separator: ",") + ")"
    try store.writeAndWait { _ = try $0.execute(SQL(verbatim: insertion)) }
    #expect(try store.readAndWait { try $0.query("SELECT * FROM everything", as: Everything.self) } == [full])
  }

  @Test(arguments: [
    RowFormat(dates: .iso8601), RowFormat(dates: .unixSeconds), RowFormat(dates: .unixMilliseconds),
    RowFormat(uuids: .text), RowFormat(keys: .snakeCase),
  ])
  func `every format reads its own values`(format: RowFormat) throws {
    let store = try makeStore(format)
    try store.writeAndWait { _ = try $0.save([full, Everything(id: 2)], into: "everything") }
    let rows = try store.readAndWait { try $0.query("SELECT * FROM everything ORDER BY id", as: Everything.self) }
    #expect(rows == [full, Everything(id: 2)])
  }

  @Test func `other forms of a value are read too`() throws {
    let store = try makeStore()
    func first<T: Decodable>(_ literal: String, _ type: T.Type) throws -> T? {
      try store.readAndWait { try $0.first(SQL(verbatim: "SELECT " + literal), as: type) }
    }
    for text in [
      "'2023-11-14T22:13:20Z'", "'2023-11-14 23:13:20+01:00'", "'2023-11-14 22:13:20'", "1700000000", "1.7e9",
    ] {
      #expect(try first(text, Date.self) == Date(timeIntervalSince1970: 1_700_000_000), "\(text)")
    }
    #expect(try first("'2023-11-14'", Date.self) == Date(timeIntervalSince1970: 1_699_920_000))
    #expect(try first("3.0", Int.self) == 3)
    #expect(try first("2", Bool.self) == true)
    #expect(try first("7", Double.self) == 7)
    #expect(try first("7", Decimal.self) == 7)
    #expect(try first("'00112233-4455-6677-8899-aabbccddeeff'", UUID.self) == full.uuid)
    #expect(try first("'ab'", Data.self) == Data("ab".utf8))
    #expect(try first("NULL", Int?.self) == .some(nil))
  }

  @Test func `JSON written by GRDB is read with its value, and other text is refused`() throws {
    let store = try makeStore()
    func first<T: Decodable>(_ literal: String, _ type: T.Type) throws -> T? {
      try store.readAndWait { try $0.first(SQL(verbatim: "SELECT " + literal), as: type) }
    }
    struct Bytes: Decodable { var id: [UInt8] }
    #expect(try first("'[1,2,255]'", [UInt8].self) == [1, 2, 255])
    #expect(try first("'[1,2,255]' AS id", Bytes.self)?.id == [1, 2, 255])
    #expect(try first("'[]'", [UInt8].self) == [])
    #expect(try first("x'01ff'", [UInt8].self) == [1, 255])
    for literal in ["'abc'", "''", "'[256]'", "'[-1]'", "'{}'", "1", "1.5", "NULL"] {
      #expect(throws: DecodingError.self, "\(literal)") { try first(literal, [UInt8].self) }
      #expect(throws: DecodingError.self, "\(literal)") { try first(literal + " AS id", Bytes.self) }
    }
    let error = #expect(throws: DecodingError.self) { try first("'abc' AS id", Bytes.self) }
    #expect(error.map { "\($0)" }?.contains("the column \"id\" holds TEXT") == true)
    #expect(try first(#"'"https:\/\/example.com\/a?b=c"'"#, URL.self) == full.url)
  }

  @Test func `dates are of the Gregorian calendar, from the year 0 to 9999`() throws {
    let store = try makeStore()
    let past = try store.readAndWait { try $0.first("SELECT \(Date.distantPast)", as: String.self) }
    #expect(past == "0000-12-30 00:00:00.000")
    #expect(try store.readAndWait { try $0.first("SELECT '0000-12-30'", as: Date.self) } == Date.distantPast)
    let last = try store.readAndWait { try $0.first("SELECT '9999-12-31 23:59:59.999'", as: Date.self) }
    let error = #expect(throws: SQLiteError.self) {
      try store.readAndWait { try $0.first("SELECT \(try #require(last) + 0.001)", as: Date.self) }
    }
    #expect(error?.message.contains("outside the years 0 to 9999") == true)
    #expect(throws: DecodingError.self) {
      try store.readAndWait { try $0.first("SELECT '10000-01-01 00:00:00.000'", as: Date.self) }
    }
  }

  @Test(arguments: [
    ("NULL", "is NULL; make the property optional"), ("'x'", "holds TEXT that is not a valid Int"),
    ("1.5", "holds REAL that is not a valid Int"), ("x'00'", "holds BLOB that is not a valid Int"),
  ])
  func `the error for a value of a wrong type names it`(literal: String, message: String) throws {
    let store = try makeStore()
    let error = #expect(throws: DecodingError.self) {
      try store.readAndWait { try $0.first(SQL(verbatim: "SELECT 'a' AS name, " + literal + " AS id"), as: Pair.self) }
    }
    #expect(error.map { "\($0)" }?.contains("the column \"id\" \(message)") == true)
  }

  @Test func `the error for a missing column names it, and an optional property reads nil`() throws {
    let store = try makeStore()
    let error = #expect(throws: DecodingError.self) {
      try store.readAndWait { try $0.first("SELECT 'a' AS name, 2 AS other", as: Pair.self) }
    }
    #expect(error.map { "\($0)" }?.contains("it has name, other") == true)
    #expect(try store.readAndWait { try $0.first("SELECT 1 AS id", as: Everything.self) } == Everything(id: 1))
  }

  @Test func `a value that SQLite cannot store is an error that names it`() throws {
    let store = try makeStore()
    var row = Everything(id: 1)
    row.big = .max
    let tooLarge = #expect(throws: SQLiteError.self) {
      try store.writeAndWait { try $0.save([Everything(id: 0), row], into: "everything") }
    }
    #expect(tooLarge?.code == .mismatch)
    #expect(tooLarge?.row == 1)
    row.big = nil
    row.real = .nan
    #expect(throws: SQLiteError.self) { try store.writeAndWait { try $0.save(row, into: "everything") } }
    #expect(throws: SQLiteError.self) { try store.writeAndWait { try $0.execute("SELECT \(Double.nan)") } }
    row.real = .infinity
    try store.writeAndWait { _ = try $0.save(row, into: "everything") }
    #expect(try store.readAndWait { try $0.query("SELECT * FROM everything", as: Everything.self) } == [row])
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `dates survive to the millisecond`(seed: UInt64) throws {
    let store = try makeStore()
    var generator = SeededGenerator(seed: seed)
    let dates = (0..<500).map { _ in
      Date(
        timeIntervalSince1970: Double(Int64.random(in: -62_000_000_000_000...250_000_000_000_000, using: &generator))
          / 1000)
    }
    for date in dates { #expect(try store.readAndWait { try $0.first("SELECT \(date)", as: Date.self) } == date) }
    let rounded = try store.readAndWait {
      try $0.first("SELECT \(Date(timeIntervalSince1970: 0.9995))", as: String.self)
    }
    #expect(rounded == "1970-01-01 00:00:01.000")
    #expect(throws: SQLiteError.self) {
      try store.readAndWait { try $0.execute("SELECT \(Date.distantFuture + 1e12)") }
    }
  }

  @Test(arguments: [
    ("avatarURL", "avatar_url"), ("htmlURLString", "html_url_string"), ("id", "id"), ("line2", "line2"),
  ])
  func `a property's column in snake case`(property: String, column: String) throws {
    struct Key: CodingKey {
      var stringValue: String
      var intValue: Int? { nil }
      init(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }
    struct Row: Encodable {
      let key: String
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(1, forKey: Key(stringValue: key))
      }
    }
    let store = try SQLiteStore(
      path: ":memory:", configuration: SQLiteConfiguration(format: RowFormat(keys: .snakeCase)))
    try store.writeAndWait { db in
      try db.execute("CREATE TABLE t (\(identifier: column))")
      #expect(try db.save(Row(key: property), into: "t").inserted == 1)
    }
  }
}

private struct Pair: Codable {
  var name: String
  var id: Int
}
