import Foundation

/// Decodes records from the rows of a prepared statement.
final class RowDecoder: Decoder {
  let cursor: RowCursor
  let columns: ColumnMap
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }
  private var cached: (type: ObjectIdentifier, box: AnyObject)?

  init(cursor: RowCursor, columns: ColumnMap) {
    self.cursor = cursor
    self.columns = columns
  }

  /// Returns a column of the cursor's current row; reading the column throws if there is no row.
  @inline(__always)
  func column(_ index: Int32) -> SQLiteColumn {
    SQLiteColumn(row: SQLiteRow(cursor: cursor, number: cursor.number), index: Int(index))
  }

  /// Returns a value that is not one of the standard library's primitives.
  func value<T: Decodable>(_ column: SQLiteColumn, as type: T.Type) throws -> T {
    // Comparing metatypes is several times faster than a cast to the protocol. In each branch the two types are the
    // same.
    if T.self == Date.self { return unsafeBitCast(try Date(column: column), to: T.self) }
    if T.self == UUID.self { return unsafeBitCast(try UUID(column: column), to: T.self) }
    if T.self == Data.self { return unsafeBitCast(try Data(column: column), to: T.self) }
    if T.self == [UInt8].self { return unsafeBitCast(try [UInt8](column: column), to: T.self) }
    if T.self == URL.self { return unsafeBitCast(try URL(column: column), to: T.self) }
    if T.self == Decimal.self { return unsafeBitCast(try Decimal(column: column), to: T.self) }
    // A type that is a string or an object may read the JSON of an object as a string, so JSON is tried first.
    if try column.beginsAsJSON, let value = try? column.json(type) { return value }
    do {
      return try T(from: ColumnDecoding(decoder: self, index: Int32(truncatingIfNeeded: column.index)))
    } catch is ColumnDecoding.IsComposite {
      return try column.json(type)
    }
  }

  // MARK: Decoder

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    let id = ObjectIdentifier(Key.self)
    // The box of a key type is always of that type. A checked cast would cost 7 % of a decoded row and 4 % of a find.
    if let cached, cached.type == id { return unsafeDowncast(cached.box, to: Box<Key>.self).container }
    // The container refers to a copy: the box is kept here, so a reference back would be a cycle.
    let copy = RowDecoder(cursor: cursor, columns: columns)
    let box = Box<Key>(container: KeyedDecodingContainer(RowKeyedDecoding(decoder: copy, table: KeyTable(Key.self))))
    cached = (id, box)
    return box.container
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw unsupported("an array at its top level") }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { ColumnDecoding(decoder: self, index: 0) }

  /// A box that keeps a container between rows, because making one allocates.
  private final class Box<Key: CodingKey> {
    let container: KeyedDecodingContainer<Key>
    init(container: KeyedDecodingContainer<Key>) { self.container = container }
  }

  func unsupported(_ what: String) -> DecodingError {
    .dataCorrupted(.init(codingPath: [], debugDescription: "a row cannot be decoded as \(what)"))
  }
}

/// A decoder for a value that decodes itself as a single one, such as an enum with a raw value.
struct ColumnDecoding: Decoder, SingleValueDecodingContainer {
  let decoder: RowDecoder
  let index: Int32
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// An error of a value that decodes itself as more than a single value, and is then read as JSON.
  struct IsComposite: Error {}

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> { throw IsComposite() }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw IsComposite() }

  private var column: SQLiteColumn { decoder.column(index) }

  func decodeNil() -> Bool { (try? column.isNull) ?? true }

  func decode<T: Decodable>(_ type: T.Type) throws -> T { try decoder.value(column, as: type) }

  func decode(_ type: Bool.Type) throws -> Bool { try type.init(column: column) }

  func decode(_ type: String.Type) throws -> String { try type.init(column: column) }

  func decode(_ type: Double.Type) throws -> Double { try type.init(column: column) }

  func decode(_ type: Float.Type) throws -> Float { try type.init(column: column) }

  func decode(_ type: Int.Type) throws -> Int { try type.init(column: column) }

  func decode(_ type: Int8.Type) throws -> Int8 { try type.init(column: column) }

  func decode(_ type: Int16.Type) throws -> Int16 { try type.init(column: column) }

  func decode(_ type: Int32.Type) throws -> Int32 { try type.init(column: column) }

  func decode(_ type: Int64.Type) throws -> Int64 { try type.init(column: column) }

  func decode(_ type: UInt.Type) throws -> UInt { try type.init(column: column) }

  func decode(_ type: UInt8.Type) throws -> UInt8 { try type.init(column: column) }

  func decode(_ type: UInt16.Type) throws -> UInt16 { try type.init(column: column) }

  func decode(_ type: UInt32.Type) throws -> UInt32 { try type.init(column: column) }

  func decode(_ type: UInt64.Type) throws -> UInt64 { try type.init(column: column) }
}
