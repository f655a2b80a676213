internal import CRequestBehaviorsSQLite
public import Foundation

extension RowDecoder {
  @inline(__always)
  func integer<I: FixedWidthInteger>(_ column: Column) throws -> I {
    if sqlite3_value_type(column.value) == SQLITE_INTEGER {
      guard let value = I(exactly: sqlite3_value_int64(column.value)) else { throw mismatch(I.self, column) }
      return value
    }
    guard sqlite3_value_type(column.value) == SQLITE_FLOAT,
      let value = I(exactly: sqlite3_value_double(column.value))
    else { throw mismatch(I.self, column) }
    return value
  }

  @inline(__always)
  func double(_ column: Column) throws -> Double {
    let type = sqlite3_value_type(column.value)
    guard type == SQLITE_FLOAT || type == SQLITE_INTEGER else { throw mismatch(Double.self, column) }
    return sqlite3_value_double(column.value)
  }

  @inline(__always)
  func float(_ column: Column) throws -> Float {
    let value = try double(column)
    guard Float(value).isFinite || !value.isFinite else { throw mismatch(Float.self, column) }
    return Float(value)
  }

  @inline(__always)
  func bool(_ column: Column) throws -> Bool {
    let type = sqlite3_value_type(column.value)
    guard type == SQLITE_FLOAT || type == SQLITE_INTEGER else { throw mismatch(Bool.self, column) }
    return sqlite3_value_double(column.value) != 0
  }

  @inline(__always)
  func string(_ column: Column) throws -> String {
    guard sqlite3_value_type(column.value) == SQLITE_TEXT else { throw mismatch(String.self, column) }
    return String(decoding: text(column), as: UTF8.self)
  }

  /// The bytes of a text or blob, until the next step.
  @inline(__always)
  private func text(_ column: Column) -> UnsafeBufferPointer<UInt8> {
    // The order matters: asking for the text first keeps the count that of the text.
    let bytes = sqlite3_value_text(column.value)
    return UnsafeBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(column.value)))
  }

  /// Returns a value that is not one of the standard library's primitives.
  func value<T: Decodable>(_ column: Column, as type: T.Type) throws -> T {
    if Self.isStandard(type) { return try standard(column, as: type) }
    do {
      return try T(from: ColumnDecoding(decoder: self, index: column.index))
    } catch is ColumnDecoding.IsComposite {
      return try nested(column, as: type)
    }
  }

  private func nested<T: Decodable>(_ column: Column, as type: T.Type) throws -> T {
    guard sqlite3_value_type(column.value) != SQLITE_NULL else { throw mismatch(type, column) }
    do {
      return try NestedJSON.decoder().decode(type, from: data(column))
    } catch DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty {
      // It is no JSON at all.
      throw mismatch(type, column)
    }
  }

  /// Whether ``standardValue(_:as:)`` reads the type; asked first, since an optional of a generic type is costly to make.
  @inlinable
  static func isStandard<T>(_ type: T.Type) -> Bool {
    type == Date.self || type == UUID.self || type == Data.self || type == [UInt8].self || type == URL.self
      || type == Decimal.self
  }

  /// Returns a value of one of those types; apart from the rest because it needs an optional.
  @inline(never)
  func standard<T: Decodable>(_ column: Column, as type: T.Type) throws -> T {
    guard let value = try standardValue(column, as: type) else { throw mismatch(type, column) }
    return value
  }

  /// Returns a value of Foundation's types, or nil for any other type.
  private func standardValue<T: Decodable>(_ column: Column, as type: T.Type) throws -> T? {
    // Comparing metatypes is several times faster than a chain of casts; the types are then the same.
    if T.self == Date.self { return unsafeBitCast(try date(column), to: T.self) }
    if T.self == UUID.self { return unsafeBitCast(try uuid(column), to: T.self) }
    if T.self == Data.self { return unsafeBitCast(try bytes(column), to: T.self) }
    if T.self == [UInt8].self {
      // Text is what other libraries make of an array of numbers: JSON. Its characters are not the bytes.
      guard sqlite3_value_type(column.value) == SQLITE_BLOB else { return try nested(column, as: type) }
      return unsafeBitCast([UInt8](data(column)), to: T.self)
    }
    if T.self == URL.self { return try url(column) as? T }
    if T.self == Decimal.self { return try decimal(column) as? T }
    return nil
  }

  private func data(_ column: Column) -> Data {
    if sqlite3_value_type(column.value) == SQLITE_TEXT { return Data(buffer: text(column)) }
    let bytes = sqlite3_value_blob(column.value)
    return bytes.map { Data(bytes: $0, count: Int(sqlite3_value_bytes(column.value))) } ?? Data()
  }

  private func bytes(_ column: Column) throws -> Data {
    let type = sqlite3_value_type(column.value)
    guard type == SQLITE_BLOB || type == SQLITE_TEXT else { throw mismatch(Data.self, column) }
    return data(column)
  }

  private func date(_ column: Column) throws -> Date {
    switch sqlite3_value_type(column.value) {
    case SQLITE_TEXT:
      guard let date = DateText.date(from: text(column)) else { throw mismatch(Date.self, column) }
      return date
    case SQLITE_INTEGER, SQLITE_FLOAT:
      let scale = format.dates == .unixMilliseconds ? 1000.0 : 1
      return Date(timeIntervalSince1970: sqlite3_value_double(column.value) / scale)
    default: throw mismatch(Date.self, column)
    }
  }

  private func uuid(_ column: Column) throws -> UUID {
    switch sqlite3_value_type(column.value) {
    case SQLITE_BLOB where sqlite3_value_bytes(column.value) == 16:
      guard let bytes = sqlite3_value_blob(column.value) else { throw mismatch(UUID.self, column) }
      return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
    case SQLITE_TEXT:
      guard let uuid = UUID(uuidString: try string(column)) else { throw mismatch(UUID.self, column) }
      return uuid
    default: throw mismatch(UUID.self, column)
    }
  }

  private func url(_ column: Column) throws -> URL {
    let text = try string(column)
    // Some write a URL as JSON, in quotes, of which no URL has any.
    if text.hasPrefix("\"") { return try nested(column, as: URL.self) }
    guard let url = URL(string: text) else { throw mismatch(URL.self, column) }
    return url
  }

  private func decimal(_ column: Column) throws -> Decimal {
    switch sqlite3_value_type(column.value) {
    case SQLITE_INTEGER: return Decimal(sqlite3_value_int64(column.value))
    case SQLITE_FLOAT: return Decimal(sqlite3_value_double(column.value))
    default:
      let text = try string(column)
      // Foundation reads a number at the beginning of any text.
      guard text.wholeMatch(of: #/[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?/#) != nil,
        let decimal = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
      else { throw mismatch(Decimal.self, column) }
      return decimal
    }
  }
}
