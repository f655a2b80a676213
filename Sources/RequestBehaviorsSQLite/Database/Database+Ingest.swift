internal import CRequestBehaviorsSQLite
public import Foundation

extension Database {
  /// Saves the records of a JSON text as rows, straight from its bytes.
  ///
  /// Several times faster than decoding and saving, for answers that only the database is to see. Rows are saved as
  /// ``save(_:into:)-([Record],_)`` saves them. A key goes to the column of exactly its name; other keys are left out; a key that some
  /// objects lack is NULL there. The text is read strictly as RFC 8259 has it, to its end.
  ///
  /// A value must fit the type its column was declared with: a string does not become an INTEGER. In a column declared as a date or time,
  /// a string is read as ISO 8601 and a number as seconds since 1970, and the store's form of dates is written. Objects and arrays go to
  /// TEXT columns as the JSON that they are. A BLOB column takes null only, for JSON has no form of bytes that everybody uses: decode and
  /// save such records. Of a key that an object has twice, the last counts.
  ///
  /// - Parameters:
  ///   - json: The text; UTF-8.
  ///   - path: Names of keys separated by `.` to one object or an array of objects; the whole text when nil.
  ///   - table: The table.
  ///   - paths: For columns whose key is called otherwise or stands deeper, the keys separated by `.`: `["owner": "owner.login"]`.
  ///     No two may take one value, or one a part of another's.
  /// - Returns: How many rows were inserted, updated and left unchanged.
  /// - Throws: ``SQLiteError`` with the byte and the ``SQLiteError/row`` at fault; nothing of the call is saved then.
  @discardableResult
  public func ingest(
    _ json: Data, at path: String? = nil, into table: SQLiteTable, columns paths: [String: String] = [:]
  ) throws -> SQLiteSaveCounts {
    let connection = try connection()
    try requireWrite(sql: nil)
    try connection.checkTransaction()
    let schema = try connection.currentSchema(of: table.name)
    let columns = try IngestColumns(schema: schema, paths: paths)
    let keys = (path?.split(separator: ".").map(String.init) ?? [])[...]
    var isRepeated = false
    while true {
      do {
        return try savepoint {
          try json.withUnsafeBytes { bytes in
            var ingest = try JSONIngest(
              bytes.bindMemory(to: UInt8.self), columns: columns, isRepeated: isRepeated, table: table,
              connection: connection)
            try ingest.run(at: keys)
            return ingest.counts
          }
        }
      } catch is JSONIngest.NewColumn {
        // A later object has a column that the first had not: all are saved anew, with it.
        isRepeated = true
      }
    }
  }
}
