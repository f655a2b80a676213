internal import CRequestBehaviorsSQLite
import Foundation

/// Saves the objects of a JSON text as rows.
///
/// It reads their bytes and binds them as parameters.
struct JSONIngest {
  let connection: Connection
  let columns: IngestColumns
  let binder: RowBinder
  let table: SQLiteTable
  var scanner: JSONScanner
  private(set) var rows = 0
  private(set) var counts = SQLiteSaveCounts()
  private var batch: (statement: Statement, size: Int, filled: Int)?
  private var batchStart = 0
  private var statements: [Int: Statement] = [:]
  private(set) var width = 0
  private var hasLearnt: Bool

  /// An error that is thrown when an object has a column that the statements do not have yet.
  struct NewColumn: Error {}

  init(
    _ bytes: UnsafeBufferPointer<UInt8>, columns: IngestColumns, isRepeated: Bool, table: SQLiteTable,
    connection: Connection
  ) throws {
    self.connection = connection
    self.columns = columns
    self.table = table
    let idle = try connection.statement("SELECT 1")
    binder = RowBinder(statement: idle.pointer, format: connection.configuration.format)
    scanner = JSONScanner(bytes, empty: UnsafePointer(binder.arena.start))
    hasLearnt = isRepeated
  }

  /// Saves the record or the array of records at the path, and checks the whole text.
  mutating func run(at path: ArraySlice<String>) throws {
    // The values of an unsaved object point into the text, which no longer exists when the statement is used again.
    defer { for statement in statements.values { statement.reset() } }
    try value(at: path)
    try scanner.expectEnd()
    try flush()
  }

  private mutating func value(at path: ArraySlice<String>) throws {
    guard let name = path.first else { return try records() }
    guard try scanner.peek() == UInt8(ascii: "{") else {
      throw mismatch("there is no object with the key \"\(name)\" that leads to the records")
    }
    var isFound = false
    // The closure uses the ingest's scanner too, so the outer object is read with a copy, and both are kept in step.
    var scanner = scanner
    try scanner.object { scanner, key in
      guard try self.text(key, of: scanner) == name else { return try scanner.skipValue() }
      guard !isFound else { throw self.mismatch("the key \"\(name)\" that leads to the records is there twice") }
      isFound = true
      self.scanner = scanner
      try self.value(at: path.dropFirst())
      scanner = self.scanner
    }
    self.scanner = scanner
    guard isFound else { throw mismatch("the key \"\(name)\" that leads to the records is missing") }
  }

  private func text(_ key: JSONScanner.Text, of scanner: JSONScanner) throws -> String {
    try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: key.end - key.start + 1) { buffer in
      guard let start = buffer.baseAddress else { return "" }
      let length = try scanner.unescape(key, into: start)
      return String(decoding: UnsafeBufferPointer(start: start, count: length), as: UTF8.self)
    }
  }

  private mutating func records() throws {
    if try scanner.peek() == UInt8(ascii: "{") { return try record() }
    guard try scanner.skip("[") else { throw mismatch("an object or an array of objects is needed here") }
    if try scanner.skip("]") { return }
    while true {
      guard try scanner.peek() == UInt8(ascii: "{") else { throw mismatch("an object is needed here") }
      try record()
      if try scanner.skip("]") { return }
      try scanner.expect(",")
    }
  }

  private mutating func record() throws {
    do {
      if !hasLearnt { try learn() }
      try begin()
      try bind(object: columns.root)
      rows += 1
      try end()
    } catch var error as SQLiteError {
      if error.row == nil { error.row = rows }
      if error.path == nil { error.path = connection.path }
      // An error of SQLite, such as a violated constraint, has no byte in the text. The row ends before this byte.
      if !error.message.contains(" of the JSON)") { error.message += " (before byte \(scanner.index) of the JSON)" }
      throw error
    }
  }

  /// Reads the first object only to learn its keys.
  private mutating func learn() throws {
    hasLearnt = true
    var ahead = scanner
    try ahead.object { scanner, key in
      _ = self.columns.child(of: self.columns.root, key: self.bytes(key))
      try scanner.skipValue()
    }
    columns.root.expected = 0
    guard !columns.columns.isEmpty else {
      throw mismatch(
        "no key of the object is a column of \"\(columns.schema.name)\", which has \(columns.schema.columnList)")
    }
  }

  // MARK: Statements

  private mutating func begin() throws {
    if batch == nil {
      // Statements of several rows are faster only for many rows, so the first rows are saved one by one.
      try prepare(size: rows < 100 ? 1 : max(1, min(20, 900 / max(1, columns.columns.count))))
      batchStart = scanner.index
    }
    binder.base = Int32(truncatingIfNeeded: (batch?.filled ?? 0) * width)
  }

  private mutating func prepare(size: Int) throws {
    let statement = try statement(rows: size)
    binder.statement = statement.pointer
    binder.arena.removeAll()
    batch = (statement, size, 0)
  }

  private mutating func statement(rows: Int) throws -> Statement {
    if let statement = statements[rows] { return statement }
    width = columns.columns.count
    let key = try columns.schema.key(of: table, among: columns.columns)
    let sql = UpsertSQL(table: columns.schema.name, columns: columns.columns, key: key)
    let statement = try connection.statement(sql.statement(rows: rows))
    statements[rows] = statement
    return statement
  }

  private mutating func end() throws {
    batch?.filled += 1
    guard let batch, batch.filled == batch.size else { return }
    self.batch = nil
    do { try save(batch.statement, batch.size) } catch let error as SQLiteError {
      if batch.size == 1 {
        var error = error
        error.row = rows - 1
        throw error
      }
      // An error such as a full disk has ended the transaction: each later row would be committed on its own.
      guard sqlite3_get_autocommit(connection.handle) == 0 else { throw error }
      // A statement of many rows does not report which row failed, and has undone them all.
      try singly(batch.size)
    }
  }

  /// Saves the last rows again, one by one, from the text.
  private mutating func singly(_ count: Int) throws {
    let end = scanner.index
    rows -= count
    scanner.index = batchStart
    for place in 0..<count {
      if place > 0 { try scanner.expect(",") }
      _ = try scanner.peek()
      try prepare(size: 1)
      binder.base = 0
      try bind(object: columns.root)
      rows += 1
      try self.end()
    }
    scanner.index = end
  }

  private mutating func save(_ statement: Statement, _ rows: Int) throws {
    defer {
      statement.reset()
      binder.arena.removeAll()
    }
    counts = counts + (try connection.save(by: statement, rows: rows))
  }

  /// Saves the last rows, which did not fill a statement.
  private mutating func flush() throws {
    guard let batch, batch.filled > 0 else { return }
    batch.statement.reset()
    self.batch = nil
    try singly(batch.filled)
  }

  func mismatch(_ message: String) -> SQLiteError {
    SQLiteError(.mismatch, "\(message) (byte \(scanner.index) of the JSON)")
  }

  @inline(__always)
  func bytes(_ text: JSONScanner.Text) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: scanner.bytes + text.start, count: text.end - text.start)
  }
}
