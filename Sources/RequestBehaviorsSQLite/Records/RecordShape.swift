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
          + "make an enum CaseIterable, or the property optional, or write CREATE TABLE as SQL (\(error))")
    }
    guard !probe.properties.isEmpty else {
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

/// Gives a record type placeholders to decode itself from, and notes what it asks for.
private final class ShapeProbe: Decoder {
  let format: RowFormat
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }
  var properties: [(name: String, type: String, isOptional: Bool)] = []
  /// The key that was asked for being nil, before its value is decoded: it is optional.
  var optionalKey: String?

  init(format: RowFormat) { self.format = format }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(ShapeKeyedDecoding<Key>(probe: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Self.unsupported("an array") }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { throw Self.unsupported("a single value") }

  static func unsupported(_ what: String) -> SQLiteError {
    SQLiteError(.mismatch, "\(what) decodes no properties, so a table for it would have no columns")
  }

  /// Returns a value of the type, nil if none is known, and the type of column that it wants; a column without a type takes anything.
  func placeholder(_ type: Any.Type) -> (value: Any?, column: String) {
    if let cases = type as? any CaseIterable.Type {
      let raw = (type as? any RawRepresentable.Type).map { Self.rawType(of: $0) }
      return (Self.first(of: cases), raw.map { placeholder($0).column } ?? "")
    }
    if let raw = type as? any RawRepresentable.Type { return (nil, placeholder(Self.rawType(of: raw)).column) }
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
    case is URL.Type: return (URL(string: "placeholder:"), "TEXT")
    case is Decimal.Type: return (Decimal(0), "TEXT")
    default: return (nil, "")
    }
  }

  private static func first<Cases: CaseIterable>(of type: Cases.Type) -> Any? { Cases.allCases.first }

  private static func rawType<Raw: RawRepresentable>(of type: Raw.Type) -> Any.Type { Raw.RawValue.self }

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
    probe.properties.append((key.stringValue, column, probe.optionalKey == key.stringValue))
    guard let value = value as? T else { throw unsupported(key) }
    return value
  }

  // Asked for optional properties of types that are none of the standard library's primitives.
  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    probe.properties.append((key.stringValue, probe.placeholder(type).column, true))
    return nil
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { throw unsupported(key) }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw unsupported(key) }

  func superDecoder() throws -> any Decoder { throw ShapeProbe.unsupported("superDecoder()") }

  func superDecoder(forKey key: Key) throws -> any Decoder { throw unsupported(key) }

  private func unsupported(_ key: Key) -> SQLiteError {
    SQLiteError(.mismatch, "there is no placeholder for \"\(key.stringValue)\"")
  }
}
