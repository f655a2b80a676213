public import Foundation

extension Optional: SQLiteRecord where Wrapped: SQLReadable {}

extension Optional: SQLReadable where Wrapped: SQLReadable {
  /// Creates nil from NULL, the wrapped value from anything else.
  @inlinable
  public init(column: borrowing SQLiteColumn) throws { self = try column.isNull ? nil : Wrapped(column: column) }
}

extension FixedWidthInteger where Self: SQLReadable {
  /// Creates an integer from INTEGER, or from REAL without a fraction.
  @inlinable
  public init(column: borrowing SQLiteColumn) throws {
    guard let stored = try column.integer(), let value = Self(exactly: stored) else { throw column.mismatch(Self.self) }
    self = value
  }
}

extension Int: SQLReadable {}
extension Int8: SQLReadable {}
extension Int16: SQLReadable {}
extension Int32: SQLReadable {}
extension Int64: SQLReadable {}
extension UInt: SQLReadable {}
extension UInt8: SQLReadable {}
extension UInt16: SQLReadable {}
extension UInt32: SQLReadable {}
extension UInt64: SQLReadable {}

extension Bool: SQLReadable {
  /// Creates false from 0, true from any other number.
  @inlinable
  public init(column: borrowing SQLiteColumn) throws {
    guard let number = try column.double() else { throw column.mismatch(Self.self) }
    self = number != 0
  }
}

extension Double: SQLReadable {
  /// Creates a number from REAL or INTEGER.
  @inlinable
  public init(column: borrowing SQLiteColumn) throws {
    guard let number = try column.double() else { throw column.mismatch(Self.self) }
    self = number
  }
}

extension Float: SQLReadable {
  /// Creates a number from REAL or INTEGER; throws for one beyond the largest `Float`.
  @inlinable
  public init(column: borrowing SQLiteColumn) throws {
    guard let number = try column.double(), Float(number).isFinite || !number.isFinite else {
      throw column.mismatch(Self.self)
    }
    self = Float(number)
  }
}

extension String: SQLReadable {
  /// Creates a string from TEXT.
  @inlinable
  public init(column: borrowing SQLiteColumn) throws {
    guard let text = try column.text() else { throw column.mismatch(Self.self) }
    self = text
  }
}

extension Data: SQLReadable {
  /// Creates data from BLOB, or from the UTF-8 bytes of TEXT.
  public init(column: borrowing SQLiteColumn) throws { self = try column.bytes(orText: true) }
}

extension Array: SQLiteRecord where Element == UInt8 {}

extension Array: SQLReadable where Element == UInt8 {
  /// Creates bytes from BLOB, or from TEXT that is a JSON array of numbers.
  public init(column: borrowing SQLiteColumn) throws {
    // The characters of a text are not the bytes: what other libraries make of an array of numbers is JSON.
    self = try column.isText ? column.json(Self.self) : [UInt8](column.bytes(orText: false))
  }
}

extension Date: SQLReadable {
  /// Creates a date from TEXT in any form that a store writes, or from a number of seconds since 1970.
  ///
  /// Numbers are milliseconds where the store's ``RowFormat/dates`` are.
  public init(column: borrowing SQLiteColumn) throws { self = try column.date() }
}

extension UUID: SQLReadable {
  /// Creates a UUID from BLOB of 16 bytes or from TEXT.
  public init(column: borrowing SQLiteColumn) throws { self = try column.uuid() }
}

extension URL: SQLReadable {
  /// Creates a URL from TEXT.
  public init(column: borrowing SQLiteColumn) throws {
    let text = try String(column: column)
    // Some write a URL as JSON: in quotes, with which no URL begins.
    if text.hasPrefix("\"") {
      self = try column.json(Self.self)
    } else if let url = URL(string: text) {
      self = url
    } else {
      throw column.mismatch(Self.self)
    }
  }
}

extension Decimal: SQLReadable {
  /// Creates a number from TEXT, INTEGER or REAL.
  public init(column: borrowing SQLiteColumn) throws {
    switch try SQLValue(column: column) {
    case .integer(let number): self = Decimal(number)
    case .real(let number): self = Decimal(number)
    case .text(let text):
      // Foundation reads a number at the beginning of any text.
      guard text.wholeMatch(of: #/[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?/#) != nil,
        let decimal = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
      else { throw column.mismatch(Self.self) }
      self = decimal
    default: throw column.mismatch(Self.self)
    }
  }
}

extension SQLValue: SQLReadable {
  /// Creates the value as SQLite stores it.
  public init(column: borrowing SQLiteColumn) throws { self = try column.storedValue() }
}
