internal import CRequestBehaviorsSQLite
import Foundation

/// A prepared statement of one connection.
final class Statement {
  let pointer: OpaquePointer
  let sql: String
  let isReadOnly: Bool
  /// The tables that the statement, or a trigger it fires, writes to; lower-case.
  private(set) var writes: Set<String>
  /// Whether it begins or ends a transaction or savepoint.
  let isControl: Bool
  var isInUse = false
  var lastUse: UInt64 = 0
  private var knownRevision: Int32 = 0
  private var columns: ColumnMap?
  private var keptDecoder: RowDecoder?
  private let source = RowSource()

  init(pointer: OpaquePointer, sql: String, writes: Set<String>, isControl: Bool) {
    self.pointer = pointer
    self.sql = sql
    self.writes = writes
    self.isControl = isControl
    self.isReadOnly = sqlite3_stmt_readonly(pointer) != 0
  }

  deinit {
    source.row = nil
    sqlite3_finalize(pointer)
  }

  var changesSchema: Bool { writes.contains("sqlite_master") }

  /// Takes the tables that SQLite told of when it prepared statements anew, if this is one of them.
  func notice(_ tables: Set<String>) {
    let revision = sqlite3_stmt_status(pointer, SQLITE_STMTSTATUS_REPREPARE, 0)
    if revision != knownRevision { writes.formUnion(tables) }
    knownRevision = revision
  }

  /// Forgets row and values, so that nothing of this use is seen by the next.
  func reset() {
    source.row = nil
    sqlite3_reset(pointer)
    sqlite3_clear_bindings(pointer)
  }

  /// The columns of the result; read again when SQLite has prepared the statement anew after a change of the schema.
  func columnMap(format: RowFormat) -> ColumnMap {
    let revision = sqlite3_stmt_status(pointer, SQLITE_STMTSTATUS_REPREPARE, 0)
    if let columns, columns.revision == revision, columns.keys == format.keys { return columns }
    let names = (0..<sqlite3_column_count(pointer)).map { index in
      sqlite3_column_name(pointer, index).map { String(cString: $0) } ?? ""
    }
    let map = ColumnMap(names: names, keys: format.keys, revision: revision)
    columns = map
    return map
  }

  /// The decoder of the rows, kept with the places of the coding keys it has seen.
  func decoder(format: RowFormat) -> RowDecoder {
    source.row = pointer
    let revision = sqlite3_stmt_status(pointer, SQLITE_STMTSTATUS_REPREPARE, 0)
    // A statement belongs to one connection, and a connection has one format.
    if let keptDecoder, keptDecoder.map.revision == revision { return keptDecoder }
    let decoder = RowDecoder(source: source, map: columnMap(format: format), format: format)
    keptDecoder = decoder
    return decoder
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

/// The columns of a result by the name of the property they fill.
final class ColumnMap {
  let names: [String]
  let keys: RowFormat.Keys
  let revision: Int32
  private let indexes: [String: Int32]

  init(names: [String], keys: RowFormat.Keys, revision: Int32) {
    self.names = names
    self.keys = keys
    self.revision = revision
    // Of two columns of one name the first counts, as in SQLite itself.
    indexes = Dictionary(
      names.enumerated().map { ($1.lowercased(), Int32($0)) }, uniquingKeysWith: { first, _ in first })
  }

  /// Returns the column of a property, in any case.
  func index(of property: String) -> Int32? {
    indexes[keys.column(for: property).lowercased()] ?? indexes[property.lowercased()]
  }
}
