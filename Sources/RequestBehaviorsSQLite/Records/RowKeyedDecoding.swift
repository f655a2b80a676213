/// Reads the properties of a record from the columns of a row.
///
/// It is a class, because the standard library copies the container for each value that it decodes.
final class RowKeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let decoder: RowDecoder
  let table: KeyTable

  init(decoder: RowDecoder, table: KeyTable) {
    self.decoder = decoder
    self.table = table
  }

  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { decoder.columns.names.compactMap { Key(stringValue: $0) } }

  /// Returns the index of the key's column, or a negative number if the row has no such column.
  @inline(__always)
  private func index(_ key: Key) -> Int32 {
    guard let slot = table.slot(of: key) else { return decoder.columns.index(of: key.stringValue) ?? -1 }
    if slot.pointee == unresolvedColumn {
      slot.pointee = decoder.columns.index(of: key.stringValue) ?? -1
    }
    return slot.pointee
  }

  @inline(__always)
  func required(_ key: Key) throws -> SQLiteColumn {
    let index = index(key)
    guard index >= 0 else { throw decoder.cursor.noColumn(for: key) }
    return decoder.column(index)
  }

  func contains(_ key: Key) -> Bool { index(key) >= 0 }

  // It is called for optional properties, before their value is decoded.
  func decodeNil(forKey key: Key) throws -> Bool {
    let index = index(key)
    return try index < 0 || decoder.column(index).isNull
  }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try decoder.value(required(key), as: type)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { throw decoder.unsupported("a nested container for \(key.stringValue)") }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    throw decoder.unsupported("a nested container for \(key.stringValue)")
  }

  func superDecoder() throws -> any Decoder { throw decoder.unsupported("superDecoder()") }

  func superDecoder(forKey key: Key) throws -> any Decoder { throw decoder.unsupported("superDecoder(forKey:)") }
}

extension RowKeyedDecoding {
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try type.init(column: required(key)) }

  func decode(_ type: String.Type, forKey key: Key) throws -> String { try type.init(column: required(key)) }

  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try type.init(column: required(key)) }

  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try type.init(column: required(key)) }

  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try type.init(column: required(key)) }

  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try type.init(column: required(key)) }

  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try type.init(column: required(key)) }

  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try type.init(column: required(key)) }

  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try type.init(column: required(key)) }

  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try type.init(column: required(key)) }

  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try type.init(column: required(key)) }

  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try type.init(column: required(key)) }

  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try type.init(column: required(key)) }

  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try type.init(column: required(key)) }
}
