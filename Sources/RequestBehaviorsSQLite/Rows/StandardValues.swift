public import Foundation

// The types of the standard library and of Foundation that are bound to parameters and read from columns.

// MARK: Numbers

extension Int: SQLBindable, SQLReadable {}
extension Int8: SQLBindable, SQLReadable {}
extension Int16: SQLBindable, SQLReadable {}
extension Int32: SQLBindable, SQLReadable {}
extension Int64: SQLBindable, SQLReadable {}
extension UInt: SQLBindable, SQLReadable {}
extension UInt8: SQLBindable, SQLReadable {}
extension UInt16: SQLBindable, SQLReadable {}
extension UInt32: SQLBindable, SQLReadable {}
extension UInt64: SQLBindable, SQLReadable {}

extension FixedWidthInteger where Self: SQLBindable {
  /// Returns INTEGER; throws for values above `Int64.max`, which SQLite cannot store.
  public func sqlValue() throws -> SQLValue {
    guard let value = Int64(exactly: self) else { throw SQLiteError.integerTooLarge }
    return .integer(value)
  }
}

extension FixedWidthInteger where Self: SQLReadable {
  /// Creates an integer from INTEGER, or from REAL without a fraction.
  @inlinable
  public init(column: borrowing SQLiteColumn) throws {
    guard let stored = try column.integer(), let value = Self(exactly: stored) else { throw column.mismatch(Self.self) }
    self = value
  }
}

extension Bool: SQLBindable, SQLReadable {
  /// Returns INTEGER 0 or 1.
  public func sqlValue() -> SQLValue { .integer(self ? 1 : 0) }

  /// Creates false from 0 and true from any other number.
  @inlinable
  public init(column: borrowing SQLiteColumn) throws { self = try column.number(as: Self.self) != 0 }
}

extension Double: SQLBindable, SQLReadable {
  /// Returns REAL; throws for NaN, which SQLite would store as NULL.
  public func sqlValue() throws -> SQLValue {
    guard !isNaN else { throw SQLiteError.notANumber }
    return .real(self)
  }

  /// Creates a number from REAL or INTEGER.
  @inlinable
  public init(column: borrowing SQLiteColumn) throws { self = try column.number(as: Self.self) }
}

extension Float: SQLBindable, SQLReadable {
  /// Returns REAL; throws for NaN, which SQLite would store as NULL.
  public func sqlValue() throws -> SQLValue { try Double(self).sqlValue() }

  /// Creates a number from REAL or INTEGER; throws for a number beyond the largest `Float`.
  @inlinable
  public init(column: borrowing SQLiteColumn) throws {
    let number = try column.number(as: Self.self)
    self = Float(number)
    guard isFinite || !number.isFinite else { throw column.mismatch(Self.self) }
  }
}

extension Decimal: SQLBindable, SQLReadable {
  /// Returns TEXT with `.` as decimal separator; throws for NaN, which could not be read back.
  public func sqlValue() throws -> SQLValue {
    guard !isNaN else { throw SQLiteError.notANumber }
    return .text(description)
  }

  /// Creates a number from TEXT, INTEGER or REAL.
  public init(column: borrowing SQLiteColumn) throws {
    switch try SQLValue(column: column) {
    case .integer(let number): self = Decimal(number)
    case .real(let number): self = Decimal(number)
    case .text(let text):
      // Foundation accepts any text that begins with a number, so the whole text is checked first.
      guard text.wholeMatch(of: #/[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?/#) != nil,
        let decimal = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
      else { throw column.mismatch(Self.self) }
      self = decimal
    default: throw column.mismatch(Self.self)
    }
  }
}

extension SQLiteError {
  /// The value is left out, because errors are logged.
  static var integerTooLarge: SQLiteError {
    SQLiteError(.mismatch, "the number is larger than Int64.max, the largest integer SQLite stores; save it as text")
  }

  static var notANumber: SQLiteError {
    SQLiteError(.mismatch, "SQLite has no NaN and would store NULL; save nil or a number")
  }
}

// MARK: Text

extension String: SQLBindable, SQLReadable {
  /// Returns TEXT.
  public func sqlValue() -> SQLValue { .text(self) }

  /// Creates a string from TEXT.
  @inlinable
  public init(column: borrowing SQLiteColumn) throws {
    guard let text = try column.text() else { throw column.mismatch(Self.self) }
    self = text
  }
}

extension Substring: SQLBindable {
  /// Returns TEXT.
  public func sqlValue() -> SQLValue { .text(String(self)) }
}

extension URL: SQLBindable, SQLReadable {
  /// Returns the absolute string as TEXT.
  public func sqlValue() -> SQLValue { .text(absoluteString) }

  /// Creates a URL from TEXT.
  public init(column: borrowing SQLiteColumn) throws {
    let text = try String(column: column)
    // Some programs write a URL as JSON, in quotes. A URL cannot begin with a quote.
    if text.hasPrefix("\"") {
      self = try column.json(Self.self)
    } else if let url = URL(string: text) {
      self = url
    } else {
      throw column.mismatch(Self.self)
    }
  }
}

// MARK: Bytes

extension Data: SQLBindable, SQLReadable {
  /// Returns BLOB.
  public func sqlValue() -> SQLValue { .blob(self) }

  /// Creates data from BLOB, or from the UTF-8 bytes of TEXT.
  public init(column: borrowing SQLiteColumn) throws { self = try column.bytes(orText: true) }
}

extension Array: SQLiteRecord where Element == UInt8 {}

extension Array: SQLBindable where Element == UInt8 {
  /// Returns BLOB.
  public func sqlValue() -> SQLValue { .blob(Data(self)) }
}

extension Array: SQLReadable where Element == UInt8 {
  /// Creates bytes from BLOB, or from TEXT that is a JSON array of numbers.
  public init(column: borrowing SQLiteColumn) throws {
    // The characters of a text are not the bytes, because other libraries write an array of numbers as JSON.
    self = try column.isText ? column.json(Self.self) : [UInt8](column.bytes(orText: false))
  }
}

extension UUID: SQLBindable, FormattedBindable, SQLReadable {
  /// Returns the 16 bytes as BLOB; a store whose ``RowFormat`` says TEXT binds the text instead.
  public func sqlValue() -> SQLValue { withUnsafeBytes(of: uuid) { .blob(Data($0)) } }

  func sqlValue(_ format: RowFormat) -> SQLValue { format.uuids == .text ? .text(uuidString) : sqlValue() }

  /// Creates a UUID from BLOB of 16 bytes or from TEXT.
  public init(column: borrowing SQLiteColumn) throws { self = try column.uuid() }
}

// MARK: Dates

extension Date: SQLBindable, FormattedBindable, SQLReadable {
  /// Returns TEXT `yyyy-MM-dd HH:mm:ss.SSS` in UTC, rounded to the millisecond.
  ///
  /// A store binds the form of its ``RowFormat``.
  public func sqlValue() throws -> SQLValue { .text(try DateText.string(from: self)) }

  func sqlValue(_ format: RowFormat) throws -> SQLValue {
    switch format.dates {
    case .text: return try sqlValue()
    case .iso8601: return .text(try DateText.string(from: self).replacing(" ", with: "T") + "Z")
    case .unixSeconds: return try timeIntervalSince1970.sqlValue()
    case .unixMilliseconds: return .integer(try DateText.milliseconds(of: self))
    }
  }

  /// Creates a date from TEXT in any form that a store writes, or from a number of seconds since 1970.
  ///
  /// A number means milliseconds if the store's ``RowFormat/dates`` do.
  public init(column: borrowing SQLiteColumn) throws { self = try column.date() }
}

// MARK: Optionals and raw values

extension Optional: SQLBindable where Wrapped: SQLBindable {
  /// Returns NULL for nil, and the form of the wrapped value otherwise.
  public func sqlValue() throws -> SQLValue { try self?.sqlValue() ?? .null }
}

extension Optional: SQLiteRecord where Wrapped: SQLReadable {}

extension Optional: SQLReadable where Wrapped: SQLReadable {
  /// Creates nil from NULL, and the wrapped value from anything else.
  @inlinable
  public init(column: borrowing SQLiteColumn) throws { self = try column.isNull ? nil : Wrapped(column: column) }
}

extension RawRepresentable where Self: SQLBindable, RawValue: SQLBindable {
  /// Returns the raw value's form.
  public func sqlValue() throws -> SQLValue { try rawValue.sqlValue() }
}

extension RawRepresentable where Self: SQLReadable, RawValue: SQLReadable {
  /// Creates the value whose raw value the column holds.
  @inlinable
  public init(column: borrowing SQLiteColumn) throws {
    guard let value = Self(rawValue: try RawValue(column: column)) else { throw column.mismatch(Self.self) }
    self = value
  }
}
