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
  /// as ``RowFormat/uuids`` says, a type that decodes itself as a single value what that value becomes, and everything else TEXT: strings,
  /// URLs, decimals, and nested types as JSON. A property that is not optional is NOT NULL. Columns are called as ``RowFormat/keys`` says.
  ///
  /// What the properties are is found by decoding the type from placeholders. A property that is an enum of strings needs
  /// `CaseIterable` for that, unless it is optional.
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
    let columns = shape.columns.map { "\(SQL.quoted($0.name)) \($0.type)\($0.isOptional ? "" : " NOT NULL")" }
    let constraint = key.isEmpty ? [] : ["PRIMARY KEY (\(key.joined(separator: ", ")))"]
    let definition = (columns + constraint).joined(separator: ", ")
    try execute(SQL(verbatim: "CREATE TABLE IF NOT EXISTS \(SQL.quoted(name)) (\(definition))"))
  }
}
