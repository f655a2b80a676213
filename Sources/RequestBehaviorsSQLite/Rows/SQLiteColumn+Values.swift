// Only this file reads memory that SQLite lends until its next step. Each function checks that the row is the
// statement's current one, and copies the value that it returns.
internal import CRequestBehaviorsSQLite
import Foundation

extension SQLiteColumn {
  /// The column's value, which SQLite lends.
  ///
  /// It need not be protected: connections are opened without mutexes and used by one thread.
  @inline(__always)
  private func value() throws -> OpaquePointer? {
    guard number == cursor.number, let statement = cursor.statement else { throw cursor.gone() }
    guard index >= 0, index < cursor.columnCount else { throw noSuchColumn() }
    return sqlite3_column_value(statement, Int32(truncatingIfNeeded: index))
  }

  /// Whether the column is NULL.
  public var isNull: Bool {
    get throws { try sqlite3_value_type(value()) == SQLITE_NULL }
  }

  var isText: Bool {
    get throws { try sqlite3_value_type(value()) == SQLITE_TEXT }
  }

  /// Whether the column holds a text that begins as a JSON object or array does.
  var beginsAsJSON: Bool {
    get throws {
      let value = try value()
      guard sqlite3_value_type(value) == SQLITE_TEXT, let first = Self.text(of: value).first else { return false }
      return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    }
  }

  /// Returns the integer, or nil if the column does not hold one.
  @usableFromInline
  func integer() throws -> Int64? {
    let value = try value()
    switch sqlite3_value_type(value) {
    case SQLITE_INTEGER: return sqlite3_value_int64(value)
    case SQLITE_FLOAT: return Int64(exactly: sqlite3_value_double(value))
    default: return nil
    }
  }

  /// Returns the number in the column, for a value of a type; throws if the column does not hold one.
  @usableFromInline
  func number(as type: Any.Type) throws -> Double {
    let value = try value()
    let stored = sqlite3_value_type(value)
    guard stored == SQLITE_FLOAT || stored == SQLITE_INTEGER else { throw mismatch(type) }
    return sqlite3_value_double(value)
  }

  /// Returns the text, or nil if the column does not hold one.
  @usableFromInline
  func text() throws -> String? {
    let value = try value()
    guard sqlite3_value_type(value) == SQLITE_TEXT else { return nil }
    return String(decoding: Self.text(of: value), as: UTF8.self)
  }

  /// Returns the bytes of a text, which are valid until the next step.
  @inline(__always)
  private static func text(of value: OpaquePointer?) -> UnsafeBufferPointer<UInt8> {
    // The order matters: after the text was asked for, the count is that of the text.
    let bytes = sqlite3_value_text(value)
    return UnsafeBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(value)))
  }

  func bytes(orText: Bool) throws -> Data {
    let value = try value()
    switch sqlite3_value_type(value) {
    case SQLITE_TEXT where orText: return Data(buffer: Self.text(of: value))
    case SQLITE_BLOB:
      return sqlite3_value_blob(value).map { Data(bytes: $0, count: Int(sqlite3_value_bytes(value))) } ?? Data()
    default: throw mismatch(orText ? Data.self : [UInt8].self)
    }
  }

  func date() throws -> Date {
    let value = try value()
    switch sqlite3_value_type(value) {
    case SQLITE_TEXT:
      guard let date = DateText.date(from: Self.text(of: value)) else { throw mismatch(Date.self) }
      return date
    case SQLITE_INTEGER, SQLITE_FLOAT:
      let scale = cursor.format.dates == .unixMilliseconds ? 1000.0 : 1
      return Date(timeIntervalSince1970: sqlite3_value_double(value) / scale)
    default: throw mismatch(Date.self)
    }
  }

  func uuid() throws -> UUID {
    let value = try value()
    switch sqlite3_value_type(value) {
    case SQLITE_BLOB where sqlite3_value_bytes(value) == 16:
      guard let bytes = sqlite3_value_blob(value) else { throw mismatch(UUID.self) }
      return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
    case SQLITE_TEXT:
      guard let uuid = UUID(uuidString: String(decoding: Self.text(of: value), as: UTF8.self)) else {
        throw mismatch(UUID.self)
      }
      return uuid
    default: throw mismatch(UUID.self)
    }
  }

  func storedValue() throws -> SQLValue {
    let value = try value()
    switch sqlite3_value_type(value) {
    case SQLITE_INTEGER: return .integer(sqlite3_value_int64(value))
    case SQLITE_FLOAT: return .real(sqlite3_value_double(value))
    case SQLITE_TEXT: return .text(String(decoding: Self.text(of: value), as: UTF8.self))
    case SQLITE_BLOB: return .blob(try bytes(orText: false))
    default: return .null
    }
  }

  /// Returns the value that the column holds as JSON.
  func json<Value: Decodable>(_ type: Value.Type) throws -> Value {
    guard try !isNull else { throw mismatch(type) }
    let json = try bytes(orText: true)
    do {
      return try NestedJSON.decoder().decode(type, from: json)
    } catch DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty {
      // The text is not JSON at all.
      throw mismatch(type)
    }
  }

  // MARK: Errors

  /// Returns the error for a column that does not hold a value of the type.
  @usableFromInline
  func mismatch(_ type: Any.Type) -> any Error {
    let names = cursor.columns.names
    let name = names.indices.contains(index) ? names[index] : "\(index)"
    guard let stored = try? sqlite3_value_type(value()) else { return cursor.gone() }
    guard stored != SQLITE_NULL else {
      let text = "the column \"\(name)\" is NULL; make the property optional"
      return DecodingError.valueNotFound(type, .init(codingPath: [], debugDescription: text))
    }
    let kind = [SQLITE_INTEGER: "INTEGER", SQLITE_FLOAT: "REAL", SQLITE_TEXT: "TEXT"][stored] ?? "BLOB"
    let text = "the column \"\(name)\" holds \(kind) that is not a valid \(type)"
    return DecodingError.typeMismatch(type, .init(codingPath: [], debugDescription: text))
  }

  private func noSuchColumn() -> DecodingError {
    let text = "the row has no column of number \(index); it has \(cursor.columnCount), from 0"
    return .dataCorrupted(.init(codingPath: [], debugDescription: text))
  }
}
