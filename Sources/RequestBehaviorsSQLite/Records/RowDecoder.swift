internal import CRequestBehaviorsSQLite
import Foundation

/// Decodes records from the rows of a prepared statement.
@usableFromInline
final class RowDecoder: Decoder {
  /// A column of the current row.
  struct Column {
    let value: OpaquePointer?
    let index: Int32
  }

  let source: RowSource
  let map: ColumnMap
  let format: RowFormat
  @usableFromInline var codingPath: [any CodingKey] { [] }
  @usableFromInline var userInfo: [CodingUserInfoKey: Any] { [:] }
  private var cached: (type: ObjectIdentifier, box: AnyObject)?

  init(source: RowSource, map: ColumnMap, format: RowFormat) {
    self.source = source
    self.map = map
    self.format = format
  }

  /// Returns the record of the current row; a type that is a single value takes the first column.
  @inlinable
  func record<T: Decodable>(_ type: T.Type) throws -> T {
    if Self.isStandard(type) { return try firstColumn(as: type) }
    return try T(from: self)
  }

  @usableFromInline
  func firstColumn<T: Decodable>(as type: T.Type) throws -> T { try standard(column(0), as: type) }

  // Connections are opened without mutexes and used by one thread, so the value need not be protected.
  @inline(__always)
  func column(_ index: Int32) throws -> Column {
    guard let row = source.row else { throw gone() }
    return Column(value: sqlite3_column_value(row, index), index: index)
  }

  // MARK: Decoder

  @usableFromInline func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    let id = ObjectIdentifier(Key.self)
    if let cached, cached.type == id { return unsafeDowncast(cached.box, to: Box<Key>.self).container }
    // A copy: the box is kept here, and a reference back would keep both for ever.
    let box = Box<Key>(container: KeyedDecodingContainer(RowKeyedDecoding(decoder: copy(), table: KeyTable(Key.self))))
    cached = (id, box)
    return box.container
  }

  private func copy() -> RowDecoder { RowDecoder(source: source, map: map, format: format) }

  @usableFromInline func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    throw unsupported("an array at its top level")
  }

  @usableFromInline func singleValueContainer() throws -> any SingleValueDecodingContainer {
    ColumnDecoding(decoder: self, index: 0)
  }

  /// Keeps a container between rows: making one allocates.
  private final class Box<Key: CodingKey> {
    let container: KeyedDecodingContainer<Key>
    init(container: KeyedDecodingContainer<Key>) { self.container = container }
  }

  // MARK: Errors

  func noColumn(for key: any CodingKey) -> DecodingError {
    let names = map.names.joined(separator: ", ")
    return .keyNotFound(
      key, .init(codingPath: [], debugDescription: "the row has no column \"\(key.stringValue)\"; it has \(names)"))
  }

  private func gone() -> DecodingError {
    .dataCorrupted(
      .init(codingPath: [], debugDescription: "the decoder was used after its row; decode all in init(from:)"))
  }

  func unsupported(_ what: String) -> DecodingError {
    .dataCorrupted(.init(codingPath: [], debugDescription: "a row cannot be decoded as \(what)"))
  }

  func mismatch(_ type: Any.Type, _ column: Column) -> DecodingError {
    let name = map.names.indices.contains(Int(column.index)) ? map.names[Int(column.index)] : "\(column.index)"
    switch sqlite3_value_type(column.value) {
    case SQLITE_NULL:
      return .valueNotFound(
        type, .init(codingPath: [], debugDescription: "the column \"\(name)\" is NULL; make the property optional"))
    case let stored:
      let kind = [SQLITE_INTEGER: "INTEGER", SQLITE_FLOAT: "REAL", SQLITE_TEXT: "TEXT"][stored] ?? "BLOB"
      let text = "the column \"\(name)\" holds \(kind) that is no \(type)"
      return .typeMismatch(type, .init(codingPath: [], debugDescription: text))
    }
  }
}

/// Where a decoder finds its row; a type that keeps its decoder outlives the row and the statement.
final class RowSource {
  var row: OpaquePointer?
}
