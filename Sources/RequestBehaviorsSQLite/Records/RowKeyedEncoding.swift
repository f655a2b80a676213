import Foundation

/// Binds the properties of a record to the parameters of a row.
struct RowKeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoder: RowEncoder
  let table: KeyTable
  var codingPath: [any CodingKey] { [] }

  /// The column of the key, or a negative number when nothing is to be bound.
  @inline(__always)
  func column(of key: Key) throws -> Int32 {
    guard let slot = table.slot(of: key) else { return try encoder.column(for: key.stringValue) ?? -1 }
    if slot.pointee != unresolvedColumn { return slot.pointee }
    guard let column = try encoder.column(for: key.stringValue) else { return -1 }
    slot.pointee = column
    return column
  }

  func encodeNil(forKey key: Key) throws {
    let column = try column(of: key)
    if column >= 0 { try encoder.binder.bindNull(column) }
  }

  func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    let column = try column(of: key)
    if column >= 0 { try encoder.bind(value, column) }
  }

  // By default an absent value is not encoded at all, and the parameter would keep the previous record's.
  func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    encoder.refuse("a nested container for \"\(key.stringValue)\"")
    return KeyedEncodingContainer(RefusingKeyedEncoding<Nested>())
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    encoder.refuse("a nested container for \"\(key.stringValue)\"")
    return RefusingEncoding()
  }

  func superEncoder() -> any Encoder {
    encoder.refuse("super.encode(to: superEncoder())")
    return RefusingEncoding()
  }

  func superEncoder(forKey key: Key) -> any Encoder { superEncoder() }
}
