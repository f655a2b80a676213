extension RowKeyedDecoding {
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try decoder.bool(required(key)) }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    guard let column = try present(key) else { return nil }
    return try decoder.bool(column)
  }

  func decode(_ type: String.Type, forKey key: Key) throws -> String { try decoder.string(required(key)) }

  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    guard let column = try present(key) else { return nil }
    return try decoder.string(column)
  }

  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try decoder.double(required(key)) }

  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    guard let column = try present(key) else { return nil }
    return try decoder.double(column)
  }

  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try decoder.float(required(key)) }

  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
    guard let column = try present(key) else { return nil }
    return try decoder.float(column)
  }

  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try decoder.integer(required(key)) }

  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    guard let column = try present(key) else { return nil }
    return try decoder.integer(column)
  }

  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try decoder.integer(required(key)) }

  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
    guard let column = try present(key) else { return nil }
    return try decoder.integer(column)
  }

  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try decoder.integer(required(key)) }

  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
    guard let column = try present(key) else { return nil }
    return try decoder.integer(column)
  }

  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try decoder.integer(required(key)) }

  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
    guard let column = try present(key) else { return nil }
    return try decoder.integer(column)
  }

  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try decoder.integer(required(key)) }

  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    guard let column = try present(key) else { return nil }
    return try decoder.integer(column)
  }

  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try decoder.integer(required(key)) }

  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
    guard let column = try present(key) else { return nil }
    return try decoder.integer(column)
  }

  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try decoder.integer(required(key)) }

  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
    guard let column = try present(key) else { return nil }
    return try decoder.integer(column)
  }

  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try decoder.integer(required(key)) }

  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
    guard let column = try present(key) else { return nil }
    return try decoder.integer(column)
  }

  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try decoder.integer(required(key)) }

  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
    guard let column = try present(key) else { return nil }
    return try decoder.integer(column)
  }

  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try decoder.integer(required(key)) }

  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
    guard let column = try present(key) else { return nil }
    return try decoder.integer(column)
  }
}
