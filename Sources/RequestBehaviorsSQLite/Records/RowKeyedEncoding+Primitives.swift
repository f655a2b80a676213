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
