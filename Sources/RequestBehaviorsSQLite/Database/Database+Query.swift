internal import CRequestBehaviorsSQLite

/// Reading rows: by a closure, by a type that reads itself, by decoding.
extension Database {
  /// Returns what the closure makes of each row that the SQL selects.
  ///
  /// ```swift
  /// let titles = try db.query(
  ///   "SELECT id, title FROM artwork"
  /// ) { row in
  ///   Title(id: try row[0], text: try row["title"])
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - sql: One statement.
  ///   - read: Makes a value of a row, which can be read until it returns.
  /// - Returns: The values, in the order of the rows.
  /// - Throws: ``SQLiteError``; `DecodingError` naming the column when there is none or its value does not fit; what
  ///   the closure throws.
  @inlinable
  public func query<Value>(_ sql: SQL, _ read: (SQLiteRow) throws -> Value) throws -> [Value] {
    var values: [Value] = []
    try forEach(sql) { values.append(try read($0)) }
    return values
  }

  /// Returns what the closure makes of the first row that the SQL selects, or nil when there is none.
  ///
  /// - Throws: As ``query(_:_:)``.
  @inlinable
  public func first<Value>(_ sql: SQL, _ read: (SQLiteRow) throws -> Value) throws -> Value? {
    var value: Value?
    try forEachRow(of: sql) { row in
      value = try read(row)
      return false
    }
    return value
  }

  /// Calls the closure with each row that the SQL selects, without keeping anything in memory.
  ///
  /// - Throws: As ``query(_:_:)``.
  @inlinable
  public func forEach(_ sql: SQL, _ body: (SQLiteRow) throws -> Void) throws {
    try forEachRow(of: sql) { row in
      try body(row)
      return true
    }
  }
}

extension Database {
  /// Returns the records of all rows that the SQL selects, each read by its initializer; a single value is the first
  /// column.
  ///
  /// ```swift
  /// let titles = try db.query(
  ///   "SELECT title FROM artwork", as: String.self)
  /// ```
  ///
  /// - Throws: As ``query(_:_:)``.
  @inlinable
  public func query<Record: SQLiteRecord>(_ sql: SQL, as type: Record.Type = Record.self) throws -> [Record] {
    try query(sql) { try Record(row: $0) }
  }

  /// Returns the record of the first row that the SQL selects, read by its initializer, or nil when there is none.
  @inlinable
  public func first<Record: SQLiteRecord>(_ sql: SQL, as type: Record.Type = Record.self) throws -> Record? {
    try first(sql) { try Record(row: $0) }
  }

  /// Calls the closure with the record of each row that the SQL selects, read by its initializer, without keeping them
  /// in memory.
  @inlinable
  public func forEach<Record: SQLiteRecord>(
    _ sql: SQL, as type: Record.Type = Record.self, _ body: (Record) throws -> Void
  ) throws {
    try forEach(sql) { try body(Record(row: $0)) }
  }

  /// Returns the record of the row with this key, read by its initializer, or nil when there is none.
  ///
  /// - Throws: As ``query(_:_:)``.
  @inlinable
  public func find<Record: SQLiteRecord>(
    _ type: Record.Type = Record.self, in table: SQLiteTable, key: some SQLBindable
  ) throws -> Record? {
    try find(in: table, key: key) { try Record(row: $0) }
  }
}

// A type that also reads itself has both doors; disfavored, these leave it the other.
extension Database {
  /// Returns the records of all rows that the SQL selects.
  ///
  /// Each property takes the column of its name; a type that is a single value, such as an enum, takes the first
  /// column. A type that is a ``SQLiteRecord`` too is read by its initializer.
  ///
  /// ```swift
  /// let recent: [Artwork] = try db.query(
  ///   "SELECT * FROM artwork WHERE seen > \(date) ORDER BY title")
  /// ```
  ///
  /// - Throws: ``SQLiteError``; `DecodingError` naming the column when a property has none or its value does not fit.
  @_disfavoredOverload
  @inlinable
  public func query<Record: Decodable>(_ sql: SQL, as type: Record.Type = Record.self) throws -> [Record] {
    if let read = Self.reader(of: type) { return try query(sql, read) }
    return try query(sql) { try $0.decode(type) }
  }

  /// Returns the record of the first row that the SQL selects, or nil when there is none.
  @_disfavoredOverload
  @inlinable
  public func first<Record: Decodable>(_ sql: SQL, as type: Record.Type = Record.self) throws -> Record? {
    if let read = Self.reader(of: type) { return try first(sql, read) }
    return try first(sql) { try $0.decode(type) }
  }

  /// Calls the closure with the record of each row that the SQL selects, without keeping them all in memory.
  @_disfavoredOverload
  @inlinable
  public func forEach<Record: Decodable>(
    _ sql: SQL, as type: Record.Type = Record.self, _ body: (Record) throws -> Void
  ) throws {
    if let read = Self.reader(of: type) { return try forEach(sql) { try body(read($0)) } }
    try forEach(sql) { try body($0.decode(type)) }
  }

  /// Returns the record of the row with this key, or nil when there is none.
  ///
  /// - Parameters:
  ///   - type: The record's type.
  ///   - table: The table, whose key is one column.
  ///   - key: The key's value.
  /// - Returns: The record, or nil.
  /// - Throws: As ``query(_:_:)``.
  @_disfavoredOverload
  @inlinable
  public func find<Record: Decodable>(
    _ type: Record.Type = Record.self, in table: SQLiteTable, key: some SQLBindable
  ) throws -> Record? {
    if let read = Self.reader(of: type) { return try find(in: table, key: key, read) }
    return try find(in: table, key: key) { try $0.decode(type) }
  }

  /// Returns what reads a type that, where it is generic, is not known to read itself; nil if it does not.
  @usableFromInline
  static func reader<Record>(of type: Record.Type) -> ((SQLiteRow) throws -> Record)? {
    guard let record = type as? any SQLiteRecord.Type else { return nil }
    return { row in
      guard let record = try record.init(row: row) as? Record else {
        throw SQLiteError(.mismatch, "\(type) does not read itself as \(type)")
      }
      return record
    }
  }
}

// The generic functions above are inlined, so that they are compiled for the value's type; these are not.
extension Database {
  /// Calls the closure with each row that the SQL selects for as long as it returns true.
  @usableFromInline
  func forEachRow(of sql: SQL, _ body: (SQLiteRow) throws -> Bool) throws {
    try withStatement(for: sql) { statement, connection in
      let cursor = statement.cursor
      guard try connection.step(statement), try body(cursor.firstRow(of: statement.pointer)) else { return }
      while try connection.step(statement) {
        guard try body(cursor.nextRow()) else { return }
      }
    }
  }
}
