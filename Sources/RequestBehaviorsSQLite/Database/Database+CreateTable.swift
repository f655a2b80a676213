extension Database {
  /// Creates a table with a column for each property of a record type, unless there is a table of that name.
  ///
  /// For the simple case; indexes, defaults, collations and references are written as SQL. Call it in a ``SQLiteMigration``: a table that
  /// is there already is left as it is, even if the type has other properties by now.
  ///
  /// ```swift
  /// try db.createTable("artwork", for: Artwork.self)
  /// ```
  ///
  /// Integers become INTEGER, `Bool` BOOLEAN, `Double` and `Float` REAL, `Date` DATETIME, `Data` and `[UInt8]` BLOB, `UUID` BLOB or TEXT
  /// as ``RowFormat/uuids`` says, strings, URLs and decimals TEXT, an enum what its raw value becomes. Other types get a column without a
  /// type, which takes anything. A property that is not optional is NOT NULL. Columns are called as ``RowFormat/keys`` says.
  ///
  /// What the properties are is found by decoding the type from placeholders, which exist for the types above. An enum needs
  /// `CaseIterable` for that. A property of another type must be optional.
  ///
  /// - Parameters:
  ///   - name: The table's name.
  ///   - type: The type of the records.
  ///   - primaryKey: The properties that identify a record; `id` by default, none for a table without key.
  /// - Throws: ``SQLiteError`` with ``SQLiteError/Code/mismatch`` when the type has no properties, lacks one of the key, or refuses the
  ///   placeholders.
  public func createTable<Record: Codable>(
    _ name: String, for type: Record.Type, primaryKey: [String] = ["id"]
  ) throws {
    let format = try connection().configuration.format
    let shape = try RecordShape(of: type, format: format)
    let key = try primaryKey.map { property in
      guard let found = shape.columns.first(where: { $0.property == property }) else {
        throw SQLiteError(
          .mismatch, "\(type) has no property \"\(property)\" for the primary key; it has \(shape.propertyList)")
      }
      return SQL.quoted(found.name)
    }
    let columns = shape.columns.map { column in
      [SQL.quoted(column.name), column.type, column.isOptional ? "" : "NOT NULL"].filter { !$0.isEmpty }
        .joined(separator: " ")
    }
    let constraint = key.isEmpty ? [] : ["PRIMARY KEY (\(key.joined(separator: ", ")))"]
    let definition = (columns + constraint).joined(separator: ", ")
    try execute(SQL(verbatim: "CREATE TABLE IF NOT EXISTS \(SQL.quoted(name)) (\(definition))"))
  }
}
