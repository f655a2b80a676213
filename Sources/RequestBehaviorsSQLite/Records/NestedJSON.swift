import Foundation

/// The JSON of values that need more than a column: sorted keys, dates in milliseconds, data in base64.
enum NestedJSON {
  static func encoder() -> JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    encoder.dateEncodingStrategy = .millisecondsSince1970
    return encoder
  }

  static func decoder() -> JSONDecoder {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .millisecondsSince1970
    return decoder
  }
}

extension RowEncoder {
  /// Binds a value by its own encoding: as one value if it is one, or else as JSON.
  func bindEncoded(_ value: some Encodable, _ column: Int32) throws {
    let outer = isComposite
    defer { isComposite = outer }
    isComposite = false
    do {
      try value.encode(to: ColumnEncoding(encoder: self, column: column))
    } catch is ColumnEncoding.IsComposite {}
    guard isComposite else { return }
    let json = try NestedJSON.encoder().encode(value)
    try json.withUnsafeBytes { try binder.bind(text: $0.bindMemory(to: UInt8.self), column) }
  }
}
