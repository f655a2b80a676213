import Foundation

/// Binds the properties of a record to the parameters of a row.
struct RowKeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoder: RowEncoder
  let table: KeyTable
  var codingPath: [any CodingKey] { [] }

  /// Returns the column of the key, or a negative number if the key has no column to bind.
  @inline(__always)
  func column(of key: Key) throws -> Int32 {
    let column = try index(of: key)
    if column >= 0 { encoder.present.note(column) }
    return column
  }

  @inline(__always)
  private func index(of key: Key) throws -> Int32 {
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

  // By default a nil value is not encoded, and would count as a column that the record leaves out.
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

extension RowKeyedEncoding {
  @inline(__always)
  private func bind(_ key: Key, _ bind: (Int32) throws -> Void) throws {
    let column = try column(of: key)
    if column >= 0 { try bind(column) }
  }

  func encode(_ value: Int, forKey key: Key) throws { try bind(key) { try encoder.binder.bind(Int64(value), $0) } }
  func encode(_ value: Int8, forKey key: Key) throws { try bind(key) { try encoder.binder.bind(Int64(value), $0) } }
  func encode(_ value: Int16, forKey key: Key) throws { try bind(key) { try encoder.binder.bind(Int64(value), $0) } }
  func encode(_ value: Int32, forKey key: Key) throws { try bind(key) { try encoder.binder.bind(Int64(value), $0) } }
  func encode(_ value: Int64, forKey key: Key) throws { try bind(key) { try encoder.binder.bind(value, $0) } }
  func encode(_ value: UInt8, forKey key: Key) throws { try bind(key) { try encoder.binder.bind(Int64(value), $0) } }
  func encode(_ value: UInt16, forKey key: Key) throws { try bind(key) { try encoder.binder.bind(Int64(value), $0) } }
  func encode(_ value: UInt32, forKey key: Key) throws { try bind(key) { try encoder.binder.bind(Int64(value), $0) } }
  func encode(_ value: UInt, forKey key: Key) throws {
    try bind(key) { try encoder.binder.bind(unsigned: UInt64(value), $0) }
  }
  func encode(_ value: UInt64, forKey key: Key) throws {
    try bind(key) { try encoder.binder.bind(unsigned: value, $0) }
  }
  func encode(_ value: Bool, forKey key: Key) throws {
    try bind(key) { try encoder.binder.bind(value ? 1 as Int64 : 0, $0) }
  }
  func encode(_ value: Double, forKey key: Key) throws { try bind(key) { try encoder.binder.bind(value, $0) } }
  func encode(_ value: Float, forKey key: Key) throws { try bind(key) { try encoder.binder.bind(Double(value), $0) } }
  func encode(_ value: String, forKey key: Key) throws { try bind(key) { try encoder.binder.bind(value, $0) } }

  // MARK: Optionals

  func encodeIfPresent(_ value: Int?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: Int8?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: Int16?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: Int32?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: Int64?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: UInt?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: Bool?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: Double?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: Float?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: String?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }
}

/// The value of a slot in a ``KeyTable`` whose key was not yet looked up.
let unresolvedColumn: Int32 = -2

/// The column of each coding key of one type, by the key's byte.
///
/// A key of a synthesised `CodingKeys` is one trivial byte, so its column is found without creating a string. The class
/// is not generic, because unspecialised generic code would look up its metadata for each value.
final class KeyTable {
  private let slots: UnsafeMutablePointer<Int32>
  private let isIndexed: Bool

  init<Key: CodingKey>(_ type: Key.Type) {
    slots = .allocate(capacity: 256)
    slots.initialize(repeating: unresolvedColumn, count: 256)
    // The byte identifies the key only if it is the whole key, without a reference or payload elsewhere.
    isIndexed = MemoryLayout<Key>.size == 1 && _isPOD(Key.self)
  }

  deinit { slots.deallocate() }

  /// Returns the slot of a key of the table's type, or nil if that type is not one byte.
  @inline(__always)
  func slot<Key: CodingKey>(of key: Key) -> UnsafeMutablePointer<Int32>? {
    isIndexed ? slots + Int(unsafeBitCast(key, to: UInt8.self)) : nil
  }
}
