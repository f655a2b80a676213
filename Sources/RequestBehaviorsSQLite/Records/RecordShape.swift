import Foundation

/// The columns that the properties of a record type want.
struct RecordShape {
  struct Column {
    var property: String
    var name: String
    var type: String
    var isOptional: Bool
  }

  private(set) var columns: [Column] = []
  var propertyList: String { columns.map(\.property).joined(separator: ", ") }

  /// Decodes the type from placeholders and notes what it asks for.
  init<Record: Decodable>(of type: Record.Type, format: RowFormat) throws {
    let probe = ShapeProbe(format: format)
    do { _ = try Record(from: probe) } catch {
      let property = probe.properties.last.map { "the property \"\($0.name)\" of " } ?? ""
      throw SQLiteError(
        .mismatch,
        "\(property)\(type) cannot be decoded from a placeholder, so its columns are not known; "
          + "make an enum CaseIterable, or write CREATE TABLE as SQL (\(error))")
    }
    guard probe.container == .keyed, !probe.properties.isEmpty else {
      throw SQLiteError(.mismatch, "\(type) decodes no properties, so a table for it would have no columns")
    }
    for property in probe.properties where !columns.contains(where: { $0.property == property.name }) {
      columns.append(
        Column(
          property: property.name, name: format.keys.column(for: property.name), type: property.type,
          isOptional: property.isOptional))
    }
  }
}

/// Gives a type placeholders to decode itself from, and notes what it asks for.
final class ShapeProbe: Decoder {
  enum Container { case keyed, unkeyed, single }

  let format: RowFormat
  /// Whether the value is within a property: what it consists of is not a column, and may be of its own type again.
  let isNested: Bool
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }
  fileprivate(set) var container: Container?
  fileprivate(set) var properties: [(name: String, type: String, isOptional: Bool)] = []
  /// The type of column that a single value wants.
  fileprivate var singleType = "TEXT"
  /// The key that was asked for being nil, before its value is decoded: it is optional.
  fileprivate var optionalKey: String?

  init(format: RowFormat, isNested: Bool = false) {
    self.format = format
    self.isNested = isNested
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    container = .keyed
    return KeyedDecodingContainer(ShapeKeyedDecoding<Key>(probe: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    container = .unkeyed
    return ShapeEmptyDecoding(probe: self)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    container = .single
    return ShapeSingleDecoding(probe: self)
  }

  /// Returns a value of the type, and the type of column that it wants.
  fileprivate func placeholder<T: Decodable>(_ type: T.Type) -> (value: Result<T, any Error>, column: String) {
    if let (value, column) = standard(type), let value = value as? T { return (.success(value), column) }
    let probe = ShapeProbe(format: format, isNested: true)
    let decoded = Result { try T(from: probe) }
    let column = probe.container == .single ? probe.singleType : "TEXT"
    // An enum refuses a raw value that is none of its cases; any case will do.
    if case .failure = decoded, let cases = type as? any CaseIterable.Type, let first = Self.first(of: cases) as? T {
      return (.success(first), column)
    }
    return (decoded, column)
  }

  private static func first<Cases: CaseIterable>(of type: Cases.Type) -> Any? { Cases.allCases.first }

  private func standard(_ type: Any.Type) -> (Any, String)? {
    if let integer = type as? any FixedWidthInteger.Type { return (Self.zero(integer), "INTEGER") }
    switch type {
    case is Bool.Type: return (false, "BOOLEAN")
    case is Double.Type: return (0.0, "REAL")
    case is Float.Type: return (Float(0), "REAL")
    case is String.Type: return ("", "TEXT")
    case is Date.Type: return (Date(timeIntervalSince1970: 0), "DATETIME")
    case is UUID.Type: return (UUID(), format.uuids == .blob ? "BLOB" : "TEXT")
    case is Data.Type: return (Data(), "BLOB")
    case is [UInt8].Type: return ([UInt8](), "BLOB")
    case is URL.Type: return URL(string: "placeholder:").map { ($0, "TEXT") }
    case is Decimal.Type: return (Decimal(0), "TEXT")
    default: return nil
    }
  }

  private static func zero<I: FixedWidthInteger>(_ type: I.Type) -> Any { I.zero }
}

/// Notes the properties of a record.
private struct ShapeKeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let probe: ShapeProbe
  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { [] }

  func contains(_ key: Key) -> Bool { true }

  // Only optional properties ask; the library's decodeIfPresent does so before it decodes.
  func decodeNil(forKey key: Key) throws -> Bool {
    probe.optionalKey = key.stringValue
    return false
  }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    let (value, column) = probe.placeholder(type)
    let isOptional = probe.optionalKey == key.stringValue || type is any OptionalValue.Type
    probe.properties.append((key.stringValue, column, isOptional))
    return try value.get()
  }

  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    if !probe.isNested { probe.properties.append((key.stringValue, probe.placeholder(type).column, true)) }
    return nil
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { throw unsupported(key) }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw unsupported(key) }

  func superDecoder() throws -> any Decoder { ShapeProbe(format: probe.format, isNested: true) }

  func superDecoder(forKey key: Key) throws -> any Decoder { ShapeProbe(format: probe.format, isNested: true) }

  private func unsupported(_ key: Key) -> SQLiteError {
    SQLiteError(.mismatch, "a nested container for \"\(key.stringValue)\" has no place in a row")
  }
}

/// An array without elements.
private struct ShapeEmptyDecoding: UnkeyedDecodingContainer {
  let probe: ShapeProbe
  var codingPath: [any CodingKey] { [] }
  var count: Int? { 0 }
  var isAtEnd: Bool { true }
  var currentIndex: Int { 0 }

  func decodeNil() throws -> Bool { true }

  func decode<T: Decodable>(_ type: T.Type) throws -> T { try probe.placeholder(type).value.get() }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> { KeyedDecodingContainer(ShapeKeyedDecoding(probe: probe)) }

  func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { self }

  func superDecoder() throws -> any Decoder { ShapeProbe(format: probe.format, isNested: true) }
}

/// A single value, such as that of an enum.
private struct ShapeSingleDecoding: SingleValueDecodingContainer {
  let probe: ShapeProbe
  var codingPath: [any CodingKey] { [] }

  func decodeNil() -> Bool { false }

  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    let (value, column) = probe.placeholder(type)
    probe.singleType = column
    return try value.get()
  }
}

/// An optional of whatever type.
private protocol OptionalValue {}

extension Optional: OptionalValue {}
