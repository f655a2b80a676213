internal import CRequestBehaviorsSQLite
import Foundation

/// A prepared statement of one connection.
@usableFromInline
final class Statement {
  let pointer: OpaquePointer
  let sql: String
  let isReadOnly: Bool
  /// The tables that the statement reads, through views too, as of the schema it was prepared with; lower-case.
  let reads: Set<String>
  /// The tables that the statement, or a trigger it fires, writes to; lower-case.
  private(set) var writes: Set<String>
  /// Whether the statement begins or ends a transaction or savepoint.
  let isControl: Bool
  var isInUse = false
  var lastUse: UInt64 = 0
  private var knownRevision: Int32 = 0
  /// The cursor that reads the rows of a run.
  let cursor: RowCursor

  init(pointer: OpaquePointer, sql: String, format: RowFormat, reads: Set<String>, writes: Set<String>, isControl: Bool)
  {
    self.reads = reads
    cursor = RowCursor(format: format)
    self.pointer = pointer
    self.sql = sql
    self.writes = writes
    self.isControl = isControl
    self.isReadOnly = sqlite3_stmt_readonly(pointer) != 0
  }

  deinit {
    cursor.end()
    sqlite3_finalize(pointer)
  }

  var changesSchema: Bool { writes.contains("sqlite_master") }

  /// Adds the tables that SQLite reported when it prepared statements again, if this statement was one of them.
  func notice(_ tables: Set<String>) {
    let revision = sqlite3_stmt_status(pointer, SQLITE_STMTSTATUS_REPREPARE, 0)
    if revision != knownRevision { writes.formUnion(tables) }
    knownRevision = revision
  }

  /// Clears the row and the values, so that the next use does not see them.
  func reset() {
    cursor.end()
    sqlite3_reset(pointer)
    sqlite3_clear_bindings(pointer)
  }

  /// Clears the row; the values stay bound until others replace them.
  func rewind() {
    cursor.end()
    sqlite3_reset(pointer)
  }

  /// Binds a value to the parameter at a 1-based index; SQLite keeps its own copy of the bytes.
  func bind(_ value: SQLValue, at index: Int32) -> Int32 {
    switch value {
    case .null: return sqlite3_bind_null(pointer, index)
    case .integer(let number): return sqlite3_bind_int64(pointer, index, number)
    case .real(let number): return sqlite3_bind_double(pointer, index, number)
    case .text(var text):
      return text.withUTF8 { bytes in
        guard let count = Int32(exactly: bytes.count) else { return SQLITE_TOOBIG }
        // An empty string may have no address, and a null pointer would bind NULL.
        return withUnsafePointer(to: 0 as CChar) { empty in
          rb_sqlite3_bind_text(
            pointer, index, UnsafeRawPointer(bytes.baseAddress)?.assumingMemoryBound(to: CChar.self) ?? empty, count)
        }
      }
    case .blob(let data):
      guard !data.isEmpty else { return sqlite3_bind_zeroblob(pointer, index, 0) }
      guard let count = Int32(exactly: data.count) else { return SQLITE_TOOBIG }
      return data.withUnsafeBytes { rb_sqlite3_bind_blob(pointer, index, $0.baseAddress, count) }
    }
  }
}
