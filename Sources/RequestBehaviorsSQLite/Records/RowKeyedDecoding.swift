/// Reads the properties of a record from the columns of a row.
///
/// A class: the standard library copies a container for each value it asks it for.
final class RowKeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let decoder: RowDecoder
  let table: KeyTable

  init(decoder: RowDecoder, table: KeyTable) {
    self.decoder = decoder
    self.table = table
  }

  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { decoder.columns.names.compactMap { Key(stringValue: $0) } }

  /// The index of the key's column, or a negative number when the row has none.
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

  // What an optional property is decoded by asks this before it decodes.
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
