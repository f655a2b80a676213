internal import CRequestBehaviorsSQLite

/// Reading rows: with a closure, with a type that reads itself, or by decoding.
extension Database {
  /// Returns the values that the closure makes of the rows that the SQL selects.
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
  /// - Throws: ``SQLiteError``; `DecodingError` naming the column if it is missing or its value does not fit; the error
  ///   of the closure.
  @inlinable
  public func query<Value>(_ sql: SQL, _ read: (SQLiteRow) throws -> Value) throws -> [Value] {
    var values: [Value] = []
    try forEach(sql) { values.append(try read($0)) }
    return values
  }

  /// Returns the value that the closure makes of the first row that the SQL selects, or nil if there are no rows.
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

  /// Calls the closure with each row that the SQL selects.
  ///
  /// Rows are not kept in memory.
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
  /// Returns the records of all rows that the SQL selects, each read by its initializer.
  ///
  /// A single value is read from the first column.
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

  /// Returns the record of the first row that the SQL selects, read by its initializer, or nil if there are no rows.
  @inlinable
  public func first<Record: SQLiteRecord>(_ sql: SQL, as type: Record.Type = Record.self) throws -> Record? {
    try first(sql) { try Record(row: $0) }
  }

  /// Calls the closure with the record of each row that the SQL selects, read by its initializer.
  ///
  /// Records are not kept in memory.
  @inlinable
  public func forEach<Record: SQLiteRecord>(
    _ sql: SQL, as type: Record.Type = Record.self, _ body: (Record) throws -> Void
  ) throws {
    try forEach(sql) { try body(Record(row: $0)) }
  }

  /// Returns the record of the row with this key, read by its initializer, or nil if there is no such row.
  ///
  /// - Throws: As ``query(_:_:)``.
  @inlinable
  public func find<Record: SQLiteRecord>(
    _ type: Record.Type = Record.self, in table: SQLiteTable, key: some SQLBindable
  ) throws -> Record? {
    try find(in: table, key: key) { try Record(row: $0) }
  }
}

// A type that also reads itself has both overloads. These are disfavored, so the compiler picks the others.
extension Database {
  /// Returns the records of all rows that the SQL selects.
  ///
  /// Each property is read from the column of its name. A type that is a single value, such as an enum, is read from
  /// the first column. A type that is also a ``SQLiteRecord`` is read by its initializer.
  ///
  /// ```swift
  /// let recent: [Artwork] = try db.query(
  ///   "SELECT * FROM artwork WHERE seen > \(date) ORDER BY title")
  /// ```
  ///
  /// - Throws: ``SQLiteError``; `DecodingError` naming the column if a property has no column or its value does not
  ///   fit.
  @_disfavoredOverload
  @inlinable
  public func query<Record: Decodable>(_ sql: SQL, as type: Record.Type = Record.self) throws -> [Record] {
    if let read = Self.reader(of: type) { return try query(sql, read) }
    return try query(sql) { try $0.decode(type) }
  }

  /// Returns the record of the first row that the SQL selects, or nil if there are no rows.
  @_disfavoredOverload
  @inlinable
  public func first<Record: Decodable>(_ sql: SQL, as type: Record.Type = Record.self) throws -> Record? {
    if let read = Self.reader(of: type) { return try first(sql, read) }
    return try first(sql) { try $0.decode(type) }
  }

  /// Calls the closure with the record of each row that the SQL selects.
  ///
  /// Records are not kept in memory.
  @_disfavoredOverload
  @inlinable
  public func forEach<Record: Decodable>(
    _ sql: SQL, as type: Record.Type = Record.self, _ body: (Record) throws -> Void
  ) throws {
    if let read = Self.reader(of: type) { return try forEach(sql) { try body(read($0)) } }
    try forEach(sql) { try body($0.decode(type)) }
  }

  /// Returns the record of the row with this key, or nil if there is no such row.
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

  /// Returns a closure that reads a type which turns out to be a ``SQLiteRecord`` only at run time; nil for other
  /// types.
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

// The generic functions above are inlined, so they are compiled for the value's type. The following are not inlined.
extension Database {
  /// Calls the closure with each row that the SQL selects, as long as it returns true.
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
