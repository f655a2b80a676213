import Foundation

/// An encoder that binds a value that encodes itself as a single one, such as an enum with a raw value.
///
/// A value that encodes itself as more than one value is saved as JSON.
struct ColumnEncoding: Encoder, SingleValueEncodingContainer {
  let encoder: RowEncoder
  let column: Int32
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// An error that is thrown for a value that is not a single one.
  struct IsComposite: Error {}

  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    encoder.isComposite = true
    return KeyedEncodingContainer(RefusingKeyedEncoding<Key>())
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    encoder.isComposite = true
    return RefusingEncoding()
  }

  func encodeNil() throws { try encoder.binder.bindNull(column) }

  func encode<T: Encodable>(_ value: T) throws { try encoder.bind(value, column) }

  func encode(_ value: Int) throws { try encoder.binder.bind(Int64(value), column) }

  func encode(_ value: Int8) throws { try encoder.binder.bind(Int64(value), column) }

  func encode(_ value: Int16) throws { try encoder.binder.bind(Int64(value), column) }

  func encode(_ value: Int32) throws { try encoder.binder.bind(Int64(value), column) }

  func encode(_ value: Int64) throws { try encoder.binder.bind(value, column) }

  func encode(_ value: UInt8) throws { try encoder.binder.bind(Int64(value), column) }

  func encode(_ value: UInt16) throws { try encoder.binder.bind(Int64(value), column) }

  func encode(_ value: UInt32) throws { try encoder.binder.bind(Int64(value), column) }

  func encode(_ value: UInt) throws { try encoder.binder.bind(unsigned: UInt64(value), column) }

  func encode(_ value: UInt64) throws { try encoder.binder.bind(unsigned: value, column) }

  func encode(_ value: Bool) throws { try encoder.binder.bind(value ? 1 as Int64 : 0, column) }

  func encode(_ value: Double) throws { try encoder.binder.bind(value, column) }

  func encode(_ value: Float) throws { try encoder.binder.bind(Double(value), column) }

  func encode(_ value: String) throws { try encoder.binder.bind(value, column) }
}

/// A container for values that have no place in a row; encoding into it throws.
struct RefusingKeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
  var codingPath: [any CodingKey] { [] }

  func encodeNil(forKey key: Key) throws { throw ColumnEncoding.IsComposite() }

  func encode<T: Encodable>(_ value: T, forKey key: Key) throws { throw ColumnEncoding.IsComposite() }

  func nestedContainer<Nested: CodingKey>(
    keyedBy keyType: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> { KeyedEncodingContainer(RefusingKeyedEncoding<Nested>()) }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { RefusingEncoding() }

  func superEncoder() -> any Encoder { RefusingEncoding() }

  func superEncoder(forKey key: Key) -> any Encoder { RefusingEncoding() }
}

/// An encoder or array for values that have no place in a row; encoding into it throws.
struct RefusingEncoding: Encoder, UnkeyedEncodingContainer, SingleValueEncodingContainer {
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }
  var count: Int { 0 }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(RefusingKeyedEncoding<Key>())
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { self }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  func encodeNil() throws { throw ColumnEncoding.IsComposite() }

  func encode<T: Encodable>(_ value: T) throws { throw ColumnEncoding.IsComposite() }

  func nestedContainer<Nested: CodingKey>(keyedBy keyType: Nested.Type) -> KeyedEncodingContainer<Nested> {
    KeyedEncodingContainer(RefusingKeyedEncoding<Nested>())
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }

  func superEncoder() -> any Encoder { self }
}
