internal import CRequestBehaviorsSQLite
import Foundation

/// Binds values to one row of a prepared statement.
final class RowBinder {
  let format: RowFormat
  let arena = ByteArena()
  /// The statement; nil between saves.
  ///
  /// `base` is the number of parameters that belong to earlier rows.
  var statement: OpaquePointer?
  var base: Int32 = 0

  init(statement: OpaquePointer, format: RowFormat) {
    self.statement = statement
    self.format = format
  }

  @inline(__always)
  func bindNull(_ column: Int32) throws { try check(sqlite3_bind_null(statement, base + column + 1)) }

  @inline(__always)
  func bind(_ value: Int64, _ column: Int32) throws {
    try check(sqlite3_bind_int64(statement, base + column + 1, value))
  }

  @inline(__always)
  func bind(_ value: Double, _ column: Int32) throws {
    guard !value.isNaN else { throw SQLiteError.notANumber }
    try check(sqlite3_bind_double(statement, base + column + 1, value))
  }

  @inline(__always)
  func bind(unsigned value: UInt64, _ column: Int32) throws {
    guard value <= UInt64(Int64.max) else { throw SQLiteError.integerTooLarge }
    try bind(Int64(value), column)
  }

  @inline(__always)
  func bind(_ value: String, _ column: Int32) throws {
    var value = value
    try value.withUTF8 { try bind(text: $0, column) }
  }

  @inline(__always)
  func bind(text bytes: UnsafeBufferPointer<UInt8>, _ column: Int32) throws {
    let index = base + column + 1
    // The memory is one byte larger than the text, so that an empty text has an address: a null pointer would bind
    // NULL.
    if let room = arena.take(bytes.count + 1) {
      if let source = bytes.baseAddress { room.update(from: source, count: bytes.count) }
      let text = UnsafeRawPointer(room).assumingMemoryBound(to: CChar.self)
      try check(rb_sqlite3_bind_static_text(statement, index, text, Int32(truncatingIfNeeded: bytes.count)))
    } else {
      guard let count = Int32(exactly: bytes.count) else { throw SQLiteError(SQLITE_TOOBIG, handle: nil) }
      let text = UnsafeRawPointer(bytes.baseAddress)?.assumingMemoryBound(to: CChar.self)
      try check(rb_sqlite3_bind_text(statement, index, text, count))
    }
  }

  /// Binds text that is not moved until the statement has run.
  @inline(__always)
  func bind(staticText bytes: UnsafeBufferPointer<UInt8>, _ column: Int32) throws {
    guard let count = Int32(exactly: bytes.count) else { throw SQLiteError(SQLITE_TOOBIG, handle: nil) }
    let text = UnsafeRawPointer(bytes.baseAddress ?? UnsafePointer(arena.start)).assumingMemoryBound(to: CChar.self)
    try check(rb_sqlite3_bind_static_text(statement, base + column + 1, text, count))
  }

  func bind(_ value: Data, _ column: Int32) throws {
    try value.withUnsafeBytes { try bind(blob: $0, column) }
  }

  func bind(blob bytes: UnsafeRawBufferPointer, _ column: Int32) throws {
    let index = base + column + 1
    guard !bytes.isEmpty else { return try check(sqlite3_bind_zeroblob(statement, index, 0)) }
    guard let count = Int32(exactly: bytes.count) else { throw SQLiteError(SQLITE_TOOBIG, handle: nil) }
    try check(rb_sqlite3_bind_blob(statement, index, bytes.baseAddress, count))
  }

  func bind(_ value: UUID, _ column: Int32) throws {
    if format.uuids == .text { return try bind(value.uuidString, column) }
    try withUnsafeBytes(of: value.uuid) { try bind(blob: $0, column) }
  }

  func bind(_ value: Date, _ column: Int32) throws {
    switch format.dates {
    case .unixSeconds: try bind(value.timeIntervalSince1970, column)
    case .unixMilliseconds:
      try bind(DateText.milliseconds(of: value), column)
    case .text, .iso8601: try bind(textOf: value, column)
    }
  }

  private func bind(textOf value: Date, _ column: Int32) throws {
    try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: DateText.length + 1) { bytes in
      guard DateText.write(value, to: bytes.baseAddress) else { throw DateText.outOfRange }
      let isISO = format.dates == .iso8601
      if isISO {
        bytes[10] = UInt8(ascii: "T")
        bytes[DateText.length] = UInt8(ascii: "Z")
      }
      try bind(text: UnsafeBufferPointer(rebasing: bytes[0..<DateText.length + (isISO ? 1 : 0)]), column)
    }
  }

  @inline(__always)
  func check(_ result: Int32) throws {
    if result != SQLITE_OK { throw failure(result) }
  }

  private func failure(_ result: Int32) -> SQLiteError {
    guard let statement else {
      return SQLiteError(.misuse, "the encoder was used after its save; encode all in encode(to:)")
    }
    return SQLiteError(
      result, handle: sqlite3_db_handle(statement), sql: sqlite3_sql(statement).map { String(cString: $0) })
  }
}

/// Memory for the bytes that SQLite reads while a statement runs, so that SQLite need not copy each value.
final class ByteArena {
  private let memory: UnsafeMutablePointer<UInt8>
  private let capacity: Int
  private var used = 0

  init(capacity: Int = 1 << 16) {
    self.capacity = capacity
    memory = .allocate(capacity: capacity)
  }

  deinit { memory.deallocate() }

  /// An address for values without bytes.
  var start: UnsafeMutablePointer<UInt8> { memory }

  /// Frees all bytes.
  ///
  /// Call it only after the statement that reads them was reset.
  func removeAll() { used = 0 }

  /// Returns memory that does not move for a number of bytes, or nil if not enough is left.
  @inline(__always)
  func take(_ count: Int) -> UnsafeMutablePointer<UInt8>? {
    guard count <= capacity - used else { return nil }
    defer { used += count }
    return memory + used
  }
}
