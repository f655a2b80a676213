/// Reads one value that decodes itself as a single one, such as an enum with a raw value.
struct ColumnDecoding: Decoder, SingleValueDecodingContainer {
  let decoder: RowDecoder
  let index: Int32
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// Thrown by a value that wants more than a single one: it is read as JSON.
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
