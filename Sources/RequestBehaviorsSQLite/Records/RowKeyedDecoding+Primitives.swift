extension RowKeyedDecoding {
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try type.init(column: required(key)) }

  func decode(_ type: String.Type, forKey key: Key) throws -> String { try type.init(column: required(key)) }

  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try type.init(column: required(key)) }

  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try type.init(column: required(key)) }

  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try type.init(column: required(key)) }

  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try type.init(column: required(key)) }

  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try type.init(column: required(key)) }

  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try type.init(column: required(key)) }

  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try type.init(column: required(key)) }

  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try type.init(column: required(key)) }

  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try type.init(column: required(key)) }

  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try type.init(column: required(key)) }

  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try type.init(column: required(key)) }

  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try type.init(column: required(key)) }
}
