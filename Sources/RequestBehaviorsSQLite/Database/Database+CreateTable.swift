import Foundation

extension Database {
  /// Creates a table with a column for each property of a record type, unless there is a table of that name.
  ///
  /// It covers the simple case; write indexes, defaults, collations and references as SQL. Call it in a
  /// ``SQLiteMigration``. An existing table stays as it is, even if the type has other properties by now.
  ///
  /// ```swift
  /// try db.createTable("artwork", for: Artwork.self)
  /// ```
  ///
  /// Integers become INTEGER, `Bool` BOOLEAN, `Double` and `Float` REAL, `Date` DATETIME, `Data` and `[UInt8]` BLOB,
  /// `UUID` BLOB or TEXT as ``RowFormat/uuids`` says. Strings, URLs and decimals become TEXT. An enum gets the type of
  /// its raw value. Other types get a column without a type, which takes any value. A property that is not optional is
  /// NOT NULL. ``RowFormat/keys`` determines the names of the columns.
  ///
  /// The properties are found by decoding the type from placeholders, which exist for the types above. An enum must be
  /// `CaseIterable` for that. A property of another type must be optional.
  ///
  /// - Parameters:
  ///   - name: The table's name.
  ///   - type: The type of the records.
  ///   - primaryKey: The properties that identify a record; `id` by default, empty for a table without a key.
  /// - Throws: ``SQLiteError`` with ``SQLiteError/Code/mismatch`` when the type has no properties, lacks a property of
  ///   the key, or does not accept the placeholders.
  public func createTable<Record: Codable>(
    _ name: String, for type: Record.Type, primaryKey: [String] = ["id"]
  ) throws {
    let format = try connection().configuration.format
    let shape = try RecordShape(of: type, format: format)
    // The key is named by properties, but their columns may have other names.
    let key = try primaryKey.map { property in
      guard let found = shape.columns.first(where: { $0.property == property }) else {
        throw SQLiteError(
          .mismatch, "\(type) has no property \"\(property)\" for the primary key; it has \(shape.propertyList)")
      }
      return SQL.quoted(found.name)
    }
    // SQLite enforces what the type requires: only an optional property may be NULL.
    let columns = shape.columns.map { column in
      [SQL.quoted(column.name), column.type, column.isOptional ? "" : "NOT NULL"].filter { !$0.isEmpty }
        .joined(separator: " ")
    }
    let constraint = key.isEmpty ? [] : ["PRIMARY KEY (\(key.joined(separator: ", ")))"]
    let definition = (columns + constraint).joined(separator: ", ")
    try execute(SQL(verbatim: "CREATE TABLE IF NOT EXISTS \(SQL.quoted(name)) (\(definition))"))
  }
}

/// The columns that the properties of a record type need.
struct RecordShape {
  struct Column {
    var property: String
    var name: String
    var type: String
    var isOptional: Bool
  }

  private(set) var columns: [Column] = []
  var propertyList: String { columns.map(\.property).joined(separator: ", ") }

  /// Decodes the type from placeholders and records its properties.
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
    // A type may decode a property twice, but a table has one column for it.
    for property in probe.properties where !columns.contains(where: { $0.property == property.name }) {
      columns.append(
        Column(
          property: property.name, name: format.keys.column(for: property.name), type: property.type,
          isOptional: property.isOptional))
    }
  }
}

/// A decoder that gives a record type placeholders and records its properties.
private final class ShapeProbe: Decoder {
  let format: RowFormat
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }
  var properties: [(name: String, type: String, isOptional: Bool)] = []
  /// The last key that was checked for nil, which is the key of an optional property.
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

  /// Returns a placeholder of the type, or nil if none is known, and the type of its column.
  ///
  /// A column without a type takes any value.
  func placeholder(_ type: Any.Type) -> (value: Any?, column: String) {
    // An enum decodes only its own raw values, so its first case is the placeholder.
    if let cases = type as? any CaseIterable.Type {
      let raw = (type as? any RawRepresentable.Type).map { Self.rawType(of: $0) }
      return (Self.first(of: cases), raw.map { placeholder($0).column } ?? "")
    }
    if let raw = type as? any RawRepresentable.Type { return (nil, placeholder(Self.rawType(of: raw)).column) }
    // A type that is not listed here gets a column without a type.
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

/// Records the properties of a record.
private struct ShapeKeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let probe: ShapeProbe
  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { [] }

  func contains(_ key: Key) -> Bool { true }

  // The standard library's decodeIfPresent calls it, for optional properties only, before it decodes.
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

  // It is called for optional properties whose type is not one of the standard library's primitives.
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
