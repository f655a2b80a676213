import Foundation
import RequestBehaviorsSQLite
import Testing

/// A number of each width, as it is and optional.
private struct Numbers: Codable, Equatable {
  var a: Int8, b: Int16, c: Int32, d: Int64, e: Int
  var f: UInt8, g: UInt16, h: UInt32, i: UInt64, j: UInt
  var k: Float, l: Double, m: Bool
  var oa: Int8?, ob: Int16?, oc: Int32?, od: Int64?, oe: Int?
  var of: UInt8?, og: UInt16?, oh: UInt32?, oi: UInt64?, oj: UInt?
  var ok: Float?, ol: Double?, om: Bool?

  static let columns = "a b c d e f g h i j k l m oa ob oc od oe of og oh oi oj ok ol om".split(separator: " ")

  /// The largest or the smallest of each.
  init(largest: Bool, optionals: Bool) {
    (a, b, c) = largest ? (.max, .max, .max) : (.min, .min, .min)
    (d, e) = largest ? (.max, .max) : (.min, .min)
    (f, g, h) = largest ? (.max, .max, .max) : (.min, .min, .min)
    (i, j) = largest ? (UInt64(Int64.max), UInt(Int64.max)) : (0, 0)
    (k, l, m) = (largest ? .greatestFiniteMagnitude : -0.5, largest ? .infinity : -.infinity, largest)
    guard optionals else { return }
    (oa, ob, oc, od, oe) = (a, b, c, d, e)
    (of, og, oh, oi, oj) = (f, g, h, i, j)
    (ok, ol, om) = (k, l, m)
  }
}

/// A value that encodes itself as a single one.
private struct Single<Value: Codable & Equatable>: Codable, Equatable {
  var value: Value

  init(_ value: Value) { self.value = value }
  init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().decode(Value.self) }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }
}

private struct InColumn<Value: Codable & Equatable>: Codable, Equatable { var x: Value }

/// A value that encodes itself by a closure.
private struct Writer: Encodable {
  enum Key: CodingKey { case x, y }
  let body: @Sendable (any Encoder) throws -> Void
  func encode(to encoder: any Encoder) throws { try body(encoder) }
}

/// A value that decodes itself by a closure.
private struct Reader: Decodable {
  // Set by a test before it reads; tests of it do not run side by side.
  nonisolated(unsafe) static var body: (any Decoder) throws -> Void = { _ in }
  init(from decoder: any Decoder) throws { try Self.body(decoder) }
}

@Suite(.limited) struct RecordTypesTests {
  private func makeStore(_ columns: String = "x, y") throws -> SQLiteStore {
    try SQLiteStore(
      path: ":memory:",
      migrations: [
        SQLiteMigration("t") { try $0.execute(script: "CREATE TABLE t (\(columns)); CREATE TABLE s (x, y)") }
      ])
  }

  private func roundTrip<Value: Codable & Equatable>(_ value: Value, _ sourceLocation: SourceLocation) throws {
    let store = try makeStore()
    try store.writeAndWait { db in
      try db.save(InColumn(x: Single(value)), into: "t")
      try db.save(InColumn(x: value), into: "s")
    }
    try store.readAndWait { db throws in
      let direct = try db.first("SELECT x FROM s", as: InColumn<Value>.self)
      #expect(direct?.x == value, sourceLocation: sourceLocation)
      let single = try db.first("SELECT x FROM t", as: InColumn<Single<Value>>.self)
      #expect(single?.x.value == value, sourceLocation: sourceLocation)
      let alone = try db.first("SELECT x FROM t", as: Single<Value>.self)
      #expect(alone?.value == value, sourceLocation: sourceLocation)
      let same = try db.first(
        "SELECT (SELECT x FROM s) IS x AND typeof(x) = (SELECT typeof(x) FROM s) FROM t", as: Bool.self)
      #expect(same == true, sourceLocation: sourceLocation)
    }
  }

  @Test(arguments: [2, 500]) func `integers of all widths are saved and read exactly`(count: Int) throws {
    let store = try makeStore(Numbers.columns.joined(separator: ","))
    let all = (0..<count).map { Numbers(largest: $0 % 2 == 0, optionals: $0 % 3 == 0) }
    try store.writeAndWait { try $0.save(all, into: "t") }
    #expect(try store.readAndWait { try $0.query("SELECT * FROM t", as: Numbers.self) } == all)
  }

  @Test func `integers that a property cannot hold are errors that name the column`() throws {
    let store = try makeStore(Numbers.columns.joined(separator: ","))
    let columns = ["a", "b", "c", "f", "g", "h", "i", "j", "oa", "ob", "oc", "of", "og", "oh", "oi", "oj"]
    for column in columns {
      for value in [Int64.min, column.hasSuffix("i") || column.hasSuffix("j") ? -1 : Int64.max] {
        let error = #expect(throws: DecodingError.self) {
          try store.writeAndWait { db in
            try db.execute("DELETE FROM t")
            try db.save(Numbers(largest: true, optionals: true), into: "t")
            try db.execute("UPDATE t SET \(identifier: column) = \(value)")
            return try db.query("SELECT * FROM t", as: Numbers.self)
          }
        }
        #expect(error.map { "\($0)" }?.contains("the column \"\(column)\" holds INTEGER that is no") == true)
      }
    }
  }

  @Test func `a value that encodes itself as a single one is saved and read as that`() throws {
    let here = #_sourceLocation
    try roundTrip(Int8.min, here)
    try roundTrip(Int16.min, here)
    try roundTrip(Int32.min, here)
    try roundTrip(Int64.min, here)
    try roundTrip(Int.max, here)
    try roundTrip(UInt8.max, here)
    try roundTrip(UInt16.max, here)
    try roundTrip(UInt32.max, here)
    try roundTrip(UInt64(Int64.max), here)
    try roundTrip(UInt(Int64.max), here)
    try roundTrip(true, here)
    try roundTrip(Float(0.1), here)
    try roundTrip(0.1, here)
    try roundTrip("text\0", here)
    try roundTrip(Date(timeIntervalSince1970: 1.5), here)
    try roundTrip(UUID(), here)
    try roundTrip(Data([0, 1]), here)
    try roundTrip([UInt8]([0, 1]), here)
    try roundTrip(try #require(URL(string: "https://example.com/")), here)
    try roundTrip(Decimal(12.5), here)
    try roundTrip([1, 2], here)
    try roundTrip(["a": [1.5]], here)
    try roundTrip(InColumn(x: Single("nested")), here)
    try roundTrip(Single(Single(7)), here)
  }

  @Test func `a single value that is nil is NULL, and one too large or NaN is an error`() throws {
    let store = try makeStore()
    try store.writeAndWait { try $0.save(InColumn(x: Single(Int?.none)), into: "t") }
    #expect(try store.readAndWait { try $0.first("SELECT typeof(x) FROM t", as: String.self) } == "null")
    let read = try store.readAndWait { try $0.first("SELECT x FROM t", as: InColumn<Single<Int?>>.self) }
    #expect(read == InColumn(x: Single(nil)))
    #expect(throws: SQLiteError.self) { try store.writeAndWait { try $0.save(InColumn(x: UInt64.max), into: "t") } }
    #expect(throws: SQLiteError.self) {
      try store.writeAndWait { try $0.save(InColumn(x: Single(UInt.max)), into: "t") }
    }
    #expect(throws: SQLiteError.self) { try store.writeAndWait { try $0.save(InColumn(x: Float.nan), into: "t") } }
    #expect(throws: SQLiteError.self) {
      try store.writeAndWait { try $0.save(InColumn(x: Single(Double.nan)), into: "t") }
    }
    #expect(throws: DecodingError.self) { try store.readAndWait { try $0.first("SELECT 300", as: Single<Int8>.self) } }
    #expect(throws: DecodingError.self) { try store.readAndWait { try $0.first("SELECT NULL", as: Single<Int>.self) } }
  }

  private static let refused: [@Sendable (any Encoder) throws -> Void] = [
    { encoder in
      var container = encoder.container(keyedBy: Writer.Key.self)
      var nested = container.nestedContainer(keyedBy: Writer.Key.self, forKey: .x)
      try nested.encode(1, forKey: .y)
    },
    { encoder in
      var container = encoder.container(keyedBy: Writer.Key.self)
      var nested = container.nestedContainer(keyedBy: Writer.Key.self, forKey: .x)
      var deeper = nested.nestedContainer(keyedBy: Writer.Key.self, forKey: .x)
      var list = nested.nestedUnkeyedContainer(forKey: .y)
      // Caught errors do not change the outcome.
      #expect(throws: (any Error).self) { try deeper.encodeNil(forKey: .y) }
      #expect(throws: (any Error).self) { try list.encodeNil() }
      #expect(throws: (any Error).self) { try 1.encode(to: nested.superEncoder()) }
      #expect(throws: (any Error).self) { try 1.encode(to: nested.superEncoder(forKey: .x)) }
      #expect(throws: (any Error).self) { try 1.encode(to: list.superEncoder()) }
    },
    { encoder in
      var container = encoder.container(keyedBy: Writer.Key.self)
      var list = container.nestedUnkeyedContainer(forKey: .x)
      var inner = list.nestedContainer(keyedBy: Writer.Key.self)
      var innerList = list.nestedUnkeyedContainer()
      #expect(throws: (any Error).self) { try inner.encode(1, forKey: .y) }
      #expect(throws: (any Error).self) { try innerList.encode(1) }
      #expect(innerList.count == 0)
    },
    { encoder in
      var container = encoder.container(keyedBy: Writer.Key.self)
      try ["y": 1].encode(to: container.superEncoder())
    },
    { encoder in
      var container = encoder.container(keyedBy: Writer.Key.self)
      try [1].encode(to: container.superEncoder(forKey: .x))
    },
    { encoder in
      var container = encoder.unkeyedContainer()
      try container.encode(1)
    },
    { encoder in
      var container = encoder.singleValueContainer()
      try container.encode(1)
    },
  ]

  @Test(arguments: refused.indices)
  func `a value that no column can hold is an error that says so, and the record is not saved`(index: Int) throws {
    let store = try makeStore()
    let bad = Writer(body: Self.refused[index])
    let good = Writer { encoder in
      var container = encoder.container(keyedBy: Writer.Key.self)
      try container.encode(1, forKey: .x)
    }
    for records in [[bad], [good, bad], [Writer](repeating: good, count: 300) + [bad]] {
      let error = #expect(throws: SQLiteError.self) { try store.writeAndWait { try $0.save(records, into: "t") } }
      #expect(error?.code == .mismatch)
      #expect(error?.message.contains("has no place in a row") == true)
      #expect(error?.row == records.count - 1 || records.count == 1)
    }
    #expect(try store.readAndWait { try $0.first("SELECT count(*) FROM t", as: Int.self) } == 0)
    // The same as a property goes into its column as JSON, unless it is a single value.
    try store.writeAndWait { try $0.save(good, into: "t") }
  }

  @Test func `a container that a row does not have is an error for its reader`() throws {
    struct Key: CodingKey {
      var stringValue: String
      var intValue: Int? { nil }
      init(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }
    let store = try makeStore()
    func read(_ body: @escaping (any Decoder) throws -> Void) throws {
      Reader.body = body
      _ = try store.readAndWait { try $0.first("SELECT 1 AS x, NULL AS y", as: Reader.self) }
    }
    try read { decoder in
      let container = try decoder.container(keyedBy: Key.self)
      #expect(container.allKeys.map(\.stringValue) == ["x", "y"])
      #expect(container.contains(Key(stringValue: "X")))
      #expect(!container.contains(Key(stringValue: "z")))
      #expect(try container.decodeNil(forKey: Key(stringValue: "y")))
      #expect(try container.decodeNil(forKey: Key(stringValue: "z")))
      #expect(try container.decode(Int.self, forKey: Key(stringValue: "x")) == 1)
      #expect(decoder.codingPath.isEmpty)
      #expect(decoder.userInfo.isEmpty)
      #expect(container.codingPath.isEmpty)
    }
    let refused: [(any Decoder) throws -> Void] = [
      { _ = try $0.unkeyedContainer() },
      { _ = try $0.container(keyedBy: Key.self).nestedContainer(keyedBy: Key.self, forKey: Key(stringValue: "x")) },
      { _ = try $0.container(keyedBy: Key.self).nestedUnkeyedContainer(forKey: Key(stringValue: "x")) },
      { _ = try $0.container(keyedBy: Key.self).superDecoder() },
      { _ = try $0.container(keyedBy: Key.self).superDecoder(forKey: Key(stringValue: "x")) },
    ]
    for body in refused {
      let error = #expect(throws: DecodingError.self) { try read(body) }
      #expect(error.map { "\($0)" }?.contains("a row cannot be decoded as") == true)
    }
  }

  @Test func `every bindable value is bound in its stored form, and numbers without one are refused`() throws {
    let store = try makeStore()
    let cases: [(any SQLBindable, SQLValue)] = [
      (SQLValue.null, .null), (SQLValue.integer(7), .integer(7)), (SQLValue.real(0.5), .real(0.5)),
      (SQLValue.text("t\0"), .text("t\0")), (SQLValue.text(""), .text("")),
      (SQLValue.blob(Data([0])), .blob(Data([0]))),
      (SQLValue.blob(Data()), .blob(Data())), (Int8(-1), .integer(-1)), (UInt16(1), .integer(1)), (true, .integer(1)),
      (Float(0.5), .real(0.5)), ("abc".dropFirst(), .text("bc")), ([UInt8]([7]), .blob(Data([7]))),
      (URL(fileURLWithPath: "/a"), .text("file:///a")), (Decimal(1.5), .text("1.5")), (Int?.none, .null),
      (Int?.some(1), .integer(1)),
    ]
    for (value, stored) in cases {
      #expect(try value.sqlValue() == stored)
      let sql = SQL("SELECT ?1 IS ?2 AND typeof(?1) = typeof(?2)", arguments: [value, stored])
      let isSame = try store.readAndWait { try $0.first(sql, as: Bool.self) }
      #expect(isSame == true)
    }
    let refused: [any SQLBindable] = [SQLValue.real(.nan), Float.nan, Double.nan, UInt64.max, UInt.max, Decimal.nan]
    for value in refused {
      let error = #expect(throws: SQLiteError.self) {
        try store.readAndWait { try $0.first(SQL("SELECT ?", arguments: [value]), as: Int.self) }
      }
      #expect(error?.code == .mismatch)
    }
    enum Kind: Int8, SQLBindable { case one = 1 }
    #expect(try Kind.one.sqlValue() == .integer(1))
  }

  @Test func `a record can be found by a query while another one is read`() throws {
    let store = try makeStore("x INTEGER PRIMARY KEY, y INTEGER")
    try store.writeAndWait { try $0.execute(script: "INSERT INTO t VALUES (1, 2), (2, 3), (3, NULL)") }
    struct Node: Decodable {
      // Set while the test reads.
      nonisolated(unsafe) static var db: Database?
      enum Keys: CodingKey { case x, y }
      var path: [Int]
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        let next = try container.decodeIfPresent(Int.self, forKey: .y)
        path = try next.flatMap { try Self.db?.find(Node.self, in: "t", key: $0)?.path } ?? []
        path.insert(try container.decode(Int.self, forKey: .x), at: 0)
      }
    }
    try store.readAndWait { db throws in
      Node.db = db
      defer { Node.db = nil }
      #expect(try db.find(Node.self, in: "t", key: 1)?.path == [1, 2, 3])
    }
  }
}
