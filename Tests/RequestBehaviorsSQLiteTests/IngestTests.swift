import Foundation
import RequestBehaviorsSQLite
import TestSupport
import Testing

@Suite(.limited) struct IngestTests {
  private struct Row: Codable, Equatable {
    var id: Int
    var name: String?
    var score: Double?
    var flag: Bool?
    var day: Date?
    var extra: String?
    var login: String?
  }

  private func makeStore() throws -> SQLiteStore {
    try SQLiteStore(
      path: ":memory:",
      migrations: [
        SQLiteMigration("row") { db in
          try db.execute(
            """
            CREATE TABLE row (id INTEGER PRIMARY KEY, name TEXT CHECK (name <> 'bad'), score REAL, flag BOOLEAN,
              day DATETIME, extra TEXT, login TEXT)
            """)
        }
      ])
  }

  @discardableResult
  private func ingest(
    _ json: String, at path: String? = nil, columns: [String: String] = [:], into store: SQLiteStore
  ) throws -> SQLiteSaveCounts {
    try store.writeAndWait { try $0.ingest(Data(json.utf8), at: path, into: "row", columns: columns) }
  }

  private func rows(_ store: SQLiteStore) throws -> [Row] {
    try store.readAndWait { try $0.query("SELECT * FROM row ORDER BY id") }
  }

  @Test func `objects become rows`() throws {
    let store = try makeStore()
    let json = #"""
      {"meta": {"items": [1]}, "data": {"items": [
        {"id": 1, "name": "o\"ne\u00e9\ud83d\ude00", "score": 1.5e1, "flag": true, "day": "2023-11-14T22:13:20Z"},
        {"name": "", "id": 2, "score": 3, "flag": false, "unknown": [{"x": null}], "extra": {"a": [1, 2]}},
        {"id": 3, "day": 1700000000, "owner": {"login": "me", "id": 9}, "name": null}
      ]}}
      """#
    let counts = try ingest(json, at: "data.items", columns: ["login": "owner.login"], into: store)
    #expect((counts.inserted, counts.updated, counts.unchanged) == (3, 0, 0))
    let date = Date(timeIntervalSince1970: 1_700_000_000)
    let expected = [
      Row(id: 1, name: "o\"neé😀", score: 15, flag: true, day: date),
      Row(id: 2, name: "", score: 3, flag: false, extra: #"{"a": [1, 2]}"#), Row(id: 3, day: date, login: "me"),
    ]
    #expect(try rows(store) == expected)
    #expect(try ingest(json, at: "data.items", columns: ["login": "owner.login"], into: store).unchanged == 3)
  }

  @Test(arguments: [0, 1, 99, 100, 101, 119, 120, 1003])
  func `any number of rows is saved`(count: Int) throws {
    let store = try makeStore()
    let all = (0..<count).map { Row(id: $0, name: "n\($0)", score: Double($0), extra: $0 % 7 == 0 ? nil : "e") }
    let json = String(decoding: try JSONEncoder().encode(all), as: UTF8.self)
    #expect(try ingest(json, into: store).inserted == count)
    #expect(try rows(store) == all)
  }

  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func `numbers of many digits are read like by the standard library`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let texts = (0..<1000).map { _ in
      let count = Int.random(in: 13...19, using: &generator)
      let point = Int.random(in: 1..<count, using: &generator)
      let digits = (0..<count).map { Int.random(in: ($0 == 0 ? 1 : 0)...9, using: &generator) }
      return digits[..<point].map(String.init).joined() + "." + digits[point...].map(String.init).joined()
    }
    let store = try makeStore()
    let json = texts.enumerated().map { #"{"id":\#($0),"score":\#($1)}"# }.joined(separator: ",")
    try ingest("[\(json)]", into: store)
    let scores = try rows(store).map(\.score)
    for (text, score) in zip(texts, scores) { #expect(score == Double(text), "\(text)") }
  }

  @Test(arguments: ["DATE", "DATETIME", "date", "TIMESTAMP", "TIME"])
  func `a text or a number is stored as a date in a column of such a type`(type: String) throws {
    let store = try SQLiteStore(
      path: ":memory:",
      migrations: [
        SQLiteMigration("row") { try $0.execute(script: "CREATE TABLE row (id INTEGER PRIMARY KEY, day \(type))") }
      ])
    try ingest(#"[{"id": 1, "day": "2023-11-14T22:13:20Z"}, {"id": 2, "day": 1700000000}]"#, into: store)
    let days = try store.readAndWait { try $0.query("SELECT CAST(day AS TEXT) FROM row", as: String.self) }
    #expect(days == ["2023-11-14 22:13:20.000", "2023-11-14 22:13:20.000"])
    #expect(throws: SQLiteError.self) { try ingest(#"[{"id": 3, "day": "soon"}]"#, into: store) }
  }

  @Test func `keys and long texts are stored without their escapes`() throws {
    let store = try makeStore()
    let long = String(repeating: "line \"quoted\"\n\t/\\ü😀", count: 6_000)
    let json = String(decoding: try JSONEncoder().encode(long), as: UTF8.self)
    try ingest(
      #"[{"\u0069d": 1, "n\u0061me": "a\u002fb", "extra": \#(json)}, {"id": 2, "extra": \#(json)}]"#, into: store)
    #expect(try rows(store) == [Row(id: 1, name: "a/b", extra: long), Row(id: 2, extra: long)])
  }

  @Test func `an object without a late column keeps the stored value of that column`() throws {
    let store = try makeStore()
    try ingest(#"{"id": 1, "extra": "kept", "login": "kept"}"#, into: store)
    let many = (1...150).map { #"{"id": \#($0)\#($0 == 140 ? #", "extra": "late""# : "")}"# }
    let counts = try ingest("[\(many.joined(separator: ","))]", into: store)
    #expect((counts.inserted, counts.updated) == (149, 1))
    #expect(try rows(store)[0] == Row(id: 1, login: "kept"))
    #expect(try rows(store)[139].extra == "late")
  }

  @Test(arguments: [
    (#"[{"id": "1"}]"#, "\"id\" is INTEGER, the value is a string"),
    (#"[{"id": 1.5}]"#, "the value is a fraction"),
    (#"[{"id": 9223372036854775808}]"#, "the value is an integer beyond 64 bits"),
    (#"[{"id": 18446744073709551616}]"#, "the value is an integer beyond 64 bits"),
    (#"[{"id": 99999999999999999999}]"#, "the value is an integer beyond 64 bits"),
    (#"[{"id": 200000000000000000000}]"#, "the value is an integer beyond 64 bits"),
    (#"[{"id": -9223372036854775809}]"#, "the value is an integer beyond 64 bits"),
    (#"[{"id": -99999999999999999999999999999}]"#, "the value is an integer beyond 64 bits"),
    (#"[{"id": 1, "flag": 36893488147419103233}]"#, "the value is an integer beyond 64 bits"),
    (#"[{"id": 1, "name": 5}]"#, "\"name\" is TEXT, the value is a number"),
    (#"[{"id": 1, "score": "5"}]"#, "the value is a string"),
    (#"[{"id": 1, "score": 1e999}]"#, "the value is a fraction"),
    (#"[{"id": 1, "day": "yesterday"}]"#, "a string that is not a date"),
    (#"[{"id": 1, "flag": {}}]"#, "the value is an object or array"),
    (#"[1]"#, "an object is needed here"), (#""text""#, "an object or an array of objects"),
    (#"[{"id": 1}"#, "ends too early"), (#"[{"id": 1}]]"#, "something follows"), (#"[{"id": 01}]"#, "begins with 0"),
    (#"[{"id": 1,}]"#, "a key is missing"), (#"[{"id" 1}]"#, "\":\" is missing"), (#"[{"id": tru}]"#, "misspelled"),
    ("[{\"id\": 1, \"name\": \"a\nb\"}]", "control character"), (#"[{"id": 1, "name": "\x"}]"#, "no such escape"),
    (#"[{"id": 1, "name": "\ud800"}]"#, "surrogate"), (#"[{"id": 1, "name": "\u00g0"}]"#, "hexadecimal"),
    (#"[{"id": -}]"#, "a value is missing"), (#"[{"id": 1.}]"#, "a digit is missing"), ("", "ends too early"),
    (#"[{"x": 1}]"#, "no key of the object is a column"), (#"[{"id": 1, "name": "bad"}]"#, "CHECK constraint"),
  ])
  func `bad input is refused as a whole, with the row`(bad: String, message: String) throws {
    let store = try makeStore()
    let error = #expect(throws: SQLiteError.self) { try ingest(bad, into: store) }
    #expect(error?.description.contains(message) == true, "\(error.map { "\($0)" } ?? "")")
    #expect(try rows(store).isEmpty)
    guard bad.hasPrefix("[{"), bad.hasSuffix("}]"), !bad.contains("\"x\"") else { return }
    let long = (1000..<1250).map { #"{"id": \#($0), "name": "n", "score": 1, "day": 1, "flag": 1}"# }.joined(
      separator: ",")
    let inMany = #expect(throws: SQLiteError.self) {
      try ingest("[\(long),\(bad.dropFirst().dropLast())]", into: store)
    }
    #expect(inMany?.row == 250)
    #expect(try rows(store).isEmpty)
  }

  @Test func `text that is not UTF-8 is refused`() throws {
    let store = try makeStore()
    let sequences: [[UInt8]] = [
      [0xFF], [0xC0, 0xAF], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xC3], [0x80],
    ]
    for sequence in sequences {
      let json = Data(#"[{"id": 1, "name": "abcdefgh"#.utf8) + Data(sequence) + Data(#""}]"#.utf8)
      let error = #expect(throws: SQLiteError.self) { try store.writeAndWait { try $0.ingest(json, into: "row") } }
      #expect(error?.message.contains("not UTF-8") == true)
    }
    try ingest(#"[{"id": 1, "name": "abcdefghäあ😀"}]"#, into: store)
    #expect(try rows(store)[0].name == "abcdefghäあ😀")
  }

  @Test func `nesting without a limit is refused`() throws {
    let store = try makeStore()
    let deep = #"[{"id": 1, "x": "# + String(repeating: "[", count: 100_000)
    let error = #expect(throws: SQLiteError.self) { try ingest(deep, into: store) }
    #expect(error?.message.contains("nested deeper than 512") == true)
  }

  @Test func `a path that does not lead to the records is refused`() throws {
    let store = try makeStore()
    for (json, message) in [(#"{"a": 1}"#, "\"data\" that leads to the records is missing"), ("[]", "no object")] {
      let error = #expect(throws: SQLiteError.self) { try ingest(json, at: "data", into: store) }
      #expect(error?.message.contains(message) == true)
    }
    let column = #expect(throws: SQLiteError.self) { try ingest("[]", columns: ["nope": "a"], into: store) }
    #expect(column?.message.contains("no column \"nope\"") == true)
  }

  @Test(arguments: 1...5 as ClosedRange<UInt64>)
  func `random changes of JSON are ingested only if the result is valid JSON`(seed: UInt64) throws {
    let store = try makeStore()
    var generator = SeededGenerator(seed: seed)
    let text = #"[{"id": 12, "name": "aé\n\u0041", "score": -1.25e-3, "flag": true},{"id":13,"name":null}]"#
    for _ in 0..<100 {
      var bytes = Array(text.utf8)
      let place = Int.random(in: 0..<bytes.count, using: &generator)
      bytes[place] = Array("0129.eE+-\"\\/{}[],: tfnu".utf8).randomElement(using: &generator) ?? 0
      let json = Data(bytes)
      // The library has stricter checks, such as for keys without a column: it may refuse more, never accept more.
      let isJSON = (try? JSONSerialization.jsonObject(with: json, options: .fragmentsAllowed)) != nil
      let isSaved = (try? store.writeAndWait { try $0.ingest(json, into: "row") }) != nil
      if isSaved { #expect(isJSON, "\(String(decoding: bytes, as: UTF8.self))") }
    }
  }
}
