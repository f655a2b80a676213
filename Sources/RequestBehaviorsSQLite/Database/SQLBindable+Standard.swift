public import Foundation

extension FixedWidthInteger where Self: SQLBindable {
  /// Returns INTEGER; throws for values above `Int64.max`, which SQLite cannot store.
  public func sqlValue() throws -> SQLValue {
    guard let value = Int64(exactly: self) else { throw SQLiteError.integerTooLarge(self) }
    return .integer(value)
  }
}

extension Int: SQLBindable {}
extension Int8: SQLBindable {}
extension Int16: SQLBindable {}
extension Int32: SQLBindable {}
extension Int64: SQLBindable {}
extension UInt: SQLBindable {}
extension UInt8: SQLBindable {}
extension UInt16: SQLBindable {}
extension UInt32: SQLBindable {}
extension UInt64: SQLBindable {}

extension Bool: SQLBindable {
  /// Returns INTEGER 0 or 1.
  public func sqlValue() -> SQLValue { .integer(self ? 1 : 0) }
}

extension Double: SQLBindable {
  /// Returns REAL; throws for NaN, which SQLite would store as NULL.
  public func sqlValue() throws -> SQLValue {
    guard !isNaN else { throw SQLiteError.notANumber }
    return .real(self)
  }
}

extension Float: SQLBindable {
  /// Returns REAL; throws for NaN, which SQLite would store as NULL.
  public func sqlValue() throws -> SQLValue { try Double(self).sqlValue() }
}

extension String: SQLBindable {
  /// Returns TEXT.
  public func sqlValue() -> SQLValue { .text(self) }
}

extension Substring: SQLBindable {
  /// Returns TEXT.
  public func sqlValue() -> SQLValue { .text(String(self)) }
}

extension Data: SQLBindable {
  /// Returns BLOB.
  public func sqlValue() -> SQLValue { .blob(self) }
}

extension Array: SQLBindable where Element == UInt8 {
  /// Returns BLOB.
  public func sqlValue() -> SQLValue { .blob(Data(self)) }
}

extension UUID: SQLBindable, FormattedBindable {
  /// Returns the 16 bytes as BLOB; a store whose ``RowFormat`` has it so binds TEXT.
  public func sqlValue() -> SQLValue { withUnsafeBytes(of: uuid) { .blob(Data($0)) } }

  func sqlValue(_ format: RowFormat) -> SQLValue { format.uuids == .text ? .text(uuidString) : sqlValue() }
}

extension URL: SQLBindable {
  /// Returns the absolute string as TEXT.
  public func sqlValue() -> SQLValue { .text(absoluteString) }
}

extension Decimal: SQLBindable {
  /// Returns TEXT with `.` as decimal separator; throws for NaN, which could not be read back.
  public func sqlValue() throws -> SQLValue {
    guard !isNaN else { throw SQLiteError.notANumber }
    return .text(description)
  }
}

extension Date: SQLBindable, FormattedBindable {
  /// Returns TEXT `yyyy-MM-dd HH:mm:ss.SSS` in UTC, rounded to the millisecond; a store binds as its ``RowFormat`` has it.
  public func sqlValue() throws -> SQLValue { .text(try DateText.string(from: self)) }

  func sqlValue(_ format: RowFormat) throws -> SQLValue {
    switch format.dates {
    case .text: return try sqlValue()
    case .iso8601: return .text(try DateText.string(from: self).replacing(" ", with: "T") + "Z")
    case .unixSeconds: return try timeIntervalSince1970.sqlValue()
    case .unixMilliseconds: return .integer(try DateText.milliseconds(of: self))
    }
  }
}

/// A value that is bound as it is written to a row: as the format of the store's rows has it.
protocol FormattedBindable: SQLBindable {
  func sqlValue(_ format: RowFormat) throws -> SQLValue
}

extension Optional: FormattedBindable where Wrapped: FormattedBindable {
  func sqlValue(_ format: RowFormat) throws -> SQLValue { try self?.sqlValue(format) ?? .null }
}

extension SQLBindable {
  /// Returns the value as a store with rows of a format has it.
  func stored(in format: RowFormat) throws -> SQLValue {
    // Most stores have the format that values have by themselves, and need no look at the type.
    guard format.dates != .text || format.uuids != .blob, let value = self as? any FormattedBindable else {
      return try sqlValue()
    }
    return try value.sqlValue(format)
  }
}

extension SQLiteError {
  static func integerTooLarge(_ value: some FixedWidthInteger) -> SQLiteError {
    SQLiteError(.mismatch, "\(value) is larger than Int64.max, the largest integer SQLite stores; save it as text")
  }

  static var notANumber: SQLiteError {
    SQLiteError(.mismatch, "SQLite has no NaN and would store NULL; save nil or a number")
  }
}
