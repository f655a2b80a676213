import Foundation

/// Encodes the properties of a value into query items.
struct QueryEncoder {
  static func encode(_ value: some Encodable, _ nesting: Query.Nesting) throws -> [Query.Item] {
    let sink = Sink()
    let level = Level(sink: sink, nesting: nesting, name: nil, codingPath: [])
    if !(try level.writeDictionary(value)) { try value.encode(to: level) }
    return sink.items
  }

  private final class Sink {
    var items: [Query.Item] = []
  }

  private struct Level: Encoder {
    let sink: Sink
    let nesting: Query.Nesting
    let name: String?
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
      KeyedEncodingContainer(Keyed<Key>(level: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { Values(level: self, isList: true) }

    func singleValueContainer() -> any SingleValueEncodingContainer { Values(level: self, isList: false) }

    /// Returns the level of a member.
    func member(_ key: some CodingKey) -> Level {
      inner(name.map { "\($0)[\(key.stringValue)]" } ?? key.stringValue, key)
    }

    /// Returns the level of an element of an array.
    func element(_ index: Int) -> Level {
      switch nesting {
      case .refused: self
      case .indexed: inner(name.map { "\($0)[\(index)]" })
      case .unindexed: inner(name.map { "\($0)[]" })
      }
    }

    private func inner(_ name: String?, _ key: (any CodingKey)? = nil) -> Level {
      Level(sink: sink, nesting: nesting, name: name, codingPath: key.map { codingPath + [$0] } ?? codingPath)
    }

    /// Appends the text of a leaf, or descends into a value that encodes itself.
    func write(_ value: some Encodable) throws {
      guard let name else {
        return try refuse("a query needs names: encode a structure or a dictionary, not \(type(of: value))")
      }
      // An array is a value of several texts, unless its elements have names of their own.
      if nesting == .refused || !(value is [Any]), let leaf = value as? any QueryValue {
        for text in leaf.queryValues { sink.items.append(Query.Item(name, text)) }
      } else if !(try writeDictionary(value)) {
        try value.encode(to: self)
      }
    }

    /// Writes a dictionary in the order of its keys, because it has no order of its own.
    ///
    /// Returns false if the value is no dictionary.
    func writeDictionary(_ value: some Encodable) throws -> Bool {
      guard let members = value as? [String: any Encodable] else { return false }
      var container = Keyed<Name>(level: self)
      for (key, value) in members.sorted(by: { $0.key < $1.key }) {
        try container.encode(value, forKey: Name(stringValue: key))
      }
      return true
    }

    func refuse(_ rule: String) throws {
      throw EncodingError.invalidValue(
        name ?? "", EncodingError.Context(codingPath: codingPath, debugDescription: rule))
    }
  }

  private struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let level: Level
    var codingPath: [any CodingKey] { level.codingPath }

    mutating func encodeNil(forKey key: Key) throws {}

    mutating func encode(_ value: some Encodable, forKey key: Key) throws {
      guard level.name == nil || level.nesting != .refused else {
        return try level.refuse(
          "a query has one level of names; \"\(key.stringValue)\" is nested deeper, which needs a nesting")
      }
      try level.member(key).write(value)
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy keyType: Nested.Type, forKey key: Key)
      -> KeyedEncodingContainer<Nested>
    { level.member(key).container(keyedBy: keyType) }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
      level.member(key).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { level }

    mutating func superEncoder(forKey key: Key) -> any Encoder { level.member(key) }
  }

  private struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }

    init?(intValue: Int) { nil }
  }

  private struct Values: UnkeyedEncodingContainer, SingleValueEncodingContainer {
    let level: Level
    let isList: Bool
    var count = 0
    var codingPath: [any CodingKey] { level.codingPath }

    init(level: Level, isList: Bool) {
      self.level = level
      self.isList = isList
    }

    /// Returns the level of the next value.
    private mutating func next() -> Level {
      defer { count += 1 }
      return isList ? level.element(count) : level
    }

    // A missing element has an index and no item.
    mutating func encodeNil() throws { _ = next() }

    mutating func encode(_ value: some Encodable) throws { try next().write(value) }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy keyType: Nested.Type) -> KeyedEncodingContainer<Nested> {
      next().container(keyedBy: keyType)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { next().unkeyedContainer() }

    mutating func superEncoder() -> any Encoder { next() }
  }
}
