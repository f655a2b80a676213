/// Stands in for a container that a row has no place for; whatever is encoded into it throws.
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

/// Stands in for an encoder or an array that a row has no place for; whatever is encoded into it throws.
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
