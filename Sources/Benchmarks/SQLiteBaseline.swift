import CRequestBehaviorsSQLite
import Foundation
import RequestBehaviorsSQLite

/// The record that is saved and read.
struct BenchmarkItem: Codable, Sendable {
  var id: Int
  var name: String
  var body: String
  var updated: Double
  var flag: Bool

  static let table =
    "CREATE TABLE IF NOT EXISTS item (id INTEGER PRIMARY KEY, name TEXT, body TEXT, updated REAL, flag INTEGER)"

  static func make(_ count: Int) -> [BenchmarkItem] {
    (0..<count).map { index in
      BenchmarkItem(
        id: index, name: "the name of item \(index)", body: String(repeating: "lorem ipsum \(index % 10) ", count: 14),
        updated: 1_700_000_000.25 + Double(index), flag: index % 2 == 0)
    }
  }
}

extension BenchmarkItem {
  /// Reads the columns by number.
  init(numbered row: SQLiteRow) throws {
    self.init(id: try row[0], name: try row[1], body: try row[2], updated: try row[3], flag: try row[4])
  }

  /// Reads the columns by name.
  init(named row: SQLiteRow) throws {
    self.init(
      id: try row["id"], name: try row["name"], body: try row["body"], updated: try row["updated"],
      flag: try row["flag"])
  }
}

/// The same work with prepared statements through SQLite's C API, with the pragmas of a store.
final class SQLiteBaseline: @unchecked Sendable {
  // Used by one task at a time.
  private var handle: OpaquePointer?
  private var upsertion: OpaquePointer?
  private var selection: OpaquePointer?
  private var search: OpaquePointer?

  init(path: String) {
    sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nil)
    run("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-8000; PRAGMA foreign_keys=ON")
    run("PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA journal_size_limit=4194304")
    run(BenchmarkItem.table)
    upsertion = prepare(
      """
      INSERT INTO item (id, name, body, updated, flag) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET
      name = excluded.name, body = excluded.body, updated = excluded.updated, flag = excluded.flag
      """)
    selection = prepare("SELECT * FROM item")
    search = prepare("SELECT * FROM item WHERE id = ?")
  }

  deinit {
    for statement in [upsertion, selection, search] { sqlite3_finalize(statement) }
    sqlite3_close_v2(handle)
  }

  func run(_ sql: String) { sqlite3_exec(handle, sql, nil, nil, nil) }

  private func prepare(_ sql: String) -> OpaquePointer? {
    var statement: OpaquePointer?
    sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
    return statement
  }

  /// Saves all items in one transaction, one statement each.
  func upsert(_ items: [BenchmarkItem]) {
    run("BEGIN IMMEDIATE")
    for item in items { upsert(item) }
    run("COMMIT")
  }

  private func upsert(_ item: BenchmarkItem) {
    var (name, body) = (item.name, item.body)
    sqlite3_bind_int64(upsertion, 1, Int64(item.id))
    name.withUTF8 { name in
      body.withUTF8 { body in
        bind(name, 2)
        bind(body, 3)
        sqlite3_bind_double(upsertion, 4, item.updated)
        sqlite3_bind_int64(upsertion, 5, item.flag ? 1 : 0)
        sqlite3_step(upsertion)
        sqlite3_reset(upsertion)
      }
    }
  }

  private func bind(_ text: UnsafeBufferPointer<UInt8>, _ index: Int32) {
    let bytes = UnsafeRawPointer(text.baseAddress)?.assumingMemoryBound(to: CChar.self)
    rb_sqlite3_bind_static_text(upsertion, index, bytes, Int32(text.count))
  }

  /// Reads all rows in one transaction, every column of them.
  func scan() -> Int {
    run("BEGIN")
    var sum = 0
    while sqlite3_step(selection) == SQLITE_ROW { sum &+= touch(selection) }
    sqlite3_reset(selection)
    run("COMMIT")
    return sum
  }

  /// Reads all rows in one transaction, as records.
  func fetch() -> [BenchmarkItem] {
    run("BEGIN")
    var items: [BenchmarkItem] = []
    while sqlite3_step(selection) == SQLITE_ROW { items.append(item(selection)) }
    sqlite3_reset(selection)
    run("COMMIT")
    return items
  }

  /// Reads rows by their keys in one transaction, every column of them.
  func get(_ keys: [Int]) -> Int { find(keys) { touch(search) } }

  /// Reads rows by their keys in one transaction, as records.
  func fetch(_ keys: [Int]) -> Int { find(keys) { item(search).id } }

  private func find(_ keys: [Int], _ read: () -> Int) -> Int {
    run("BEGIN")
    var sum = 0
    for key in keys {
      sqlite3_bind_int64(search, 1, Int64(key))
      if sqlite3_step(search) == SQLITE_ROW { sum &+= read() }
      sqlite3_reset(search)
    }
    run("COMMIT")
    return sum
  }

  private func item(_ statement: OpaquePointer?) -> BenchmarkItem {
    BenchmarkItem(
      id: Int(sqlite3_column_int64(statement, 0)), name: text(statement, 1), body: text(statement, 2),
      updated: sqlite3_column_double(statement, 3), flag: sqlite3_column_int64(statement, 4) != 0)
  }

  private func text(_ statement: OpaquePointer?, _ column: Int32) -> String {
    let bytes = sqlite3_column_text(statement, column)
    return String(
      decoding: UnsafeBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(statement, column))), as: UTF8.self)
  }

  private func touch(_ statement: OpaquePointer?) -> Int {
    var sum = Int(sqlite3_column_int64(statement, 0))
    for column: Int32 in [1, 2] {
      let first = sqlite3_column_text(statement, column).map { Int($0.pointee) } ?? 0
      sum &+= first &+ Int(sqlite3_column_bytes(statement, column))
    }
    return sum &+ Int(sqlite3_column_double(statement, 3)) &+ Int(sqlite3_column_int64(statement, 4))
  }
}
