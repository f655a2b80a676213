import Foundation

/// Encodes the properties of a value into query items: one level of keys, each with a single value or an array.
struct QueryEncoder {
  static func encode(_ value: some Encodable) throws -> [Query.Item] {
    let sink = Sink()
    try value.encode(to: Level(sink: sink, name: nil, codingPath: []))
    return sink.items
  }

  private final class Sink {
    var items: [Query.Item] = []
  }

  private struct Level: Encoder {
    let sink: Sink
    let name: String?
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
      KeyedEncodingContainer(Keyed<Key>(level: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { Values(level: self) }

    func singleValueContainer() -> any SingleValueEncodingContainer { Values(level: self) }

    /// Appends the text of a leaf, or descends into a value that encodes itself.
    func write(_ value: some Encodable) throws {
      guard let name else {
        return try refuse("a query needs names: encode a structure or a dictionary, not \(type(of: value))")
      }
      if let leaf = value as? any QueryValue {
        for text in leaf.queryValues { sink.items.append(Query.Item(name, text)) }
      } else {
        try value.encode(to: self)
      }
    }

    func refuse(_ rule: String) throws {
      throw EncodingError.invalidValue(
        name ?? "", EncodingError.Context(codingPath: codingPath, debugDescription: rule))
    }
  }

  private struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let level: Level
    var codingPath: [any CodingKey] { level.codingPath }

    private func inner(_ key: some CodingKey) -> Level {
      Level(sink: level.sink, name: key.stringValue, codingPath: level.codingPath + [key])
    }

    mutating func encodeNil(forKey key: Key) throws {}

    mutating func encode(_ value: some Encodable, forKey key: Key) throws {
      guard level.name == nil else {
        return try level.refuse("a query has one level of names; \"\(key.stringValue)\" is nested deeper")
      }
      try inner(key).write(value)
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy keyType: Nested.Type, forKey key: Key)
      -> KeyedEncodingContainer<Nested>
    { inner(key).container(keyedBy: keyType) }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
      inner(key).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { level }

    mutating func superEncoder(forKey key: Key) -> any Encoder { inner(key) }
  }

  private struct Values: UnkeyedEncodingContainer, SingleValueEncodingContainer {
    let level: Level
    var count = 0
    var codingPath: [any CodingKey] { level.codingPath }

    init(level: Level) { self.level = level }

    mutating func encodeNil() throws {}

    mutating func encode(_ value: some Encodable) throws {
      count += 1
      try level.write(value)
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy keyType: Nested.Type) -> KeyedEncodingContainer<Nested> {
      level.container(keyedBy: keyType)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { level.unkeyedContainer() }

    mutating func superEncoder() -> any Encoder { level }
  }
}
