/// Writes the statements that save rows.
struct UpsertSQL {
  let table: String
  let columns: [TableSchema.Column]
  /// The conflict target; empty for a table without key, or when the rows do not name the whole key.
  let key: [String]

  /// The function that notes that a row is updated, and returns 1.
  static let updateCounter = "rb_updated"

  /// Returns an `INSERT` for so many rows which updates rows of the same key only where they differ.
  ///
  /// The guard makes saving unchanged rows free: no page is written, `changes()` is 0.
  func statement(rows: Int) -> String {
    let row = "(" + repeatElement("?", count: columns.count).joined(separator: ",") + ")"
    let names = columns.map { SQL.quoted($0.name) }.joined(separator: ",")
    let values = repeatElement(row, count: rows).joined(separator: ",")
    return "INSERT INTO \(SQL.quoted(table))(\(names)) VALUES\(values)" + conflictClause
  }

  private var conflictClause: String {
    guard !key.isEmpty else { return "" }
    let target = key.map(SQL.quoted).joined(separator: ",")
    let keys = Set(key.map { $0.lowercased() })
    let others = columns.filter { !keys.contains($0.name.lowercased()) }
    guard !others.isEmpty else { return " ON CONFLICT(\(target)) DO NOTHING" }
    let assignments = others.map { "\(SQL.quoted($0.name))=excluded.\(SQL.quoted($0.name))" }
    // Under another collation "a" IS "A", and the change of case would be lost.
    let old = others.map { SQL.quoted($0.name) + ($0.hasLooseCollation ? " COLLATE BINARY" : "") }
    let new = others.map { "excluded." + SQL.quoted($0.name) }
    return " ON CONFLICT(\(target)) DO UPDATE SET \(assignments.joined(separator: ","))"
      + " WHERE CASE WHEN (\(old.joined(separator: ","))) IS NOT (\(new.joined(separator: ",")))"
      // Of a CASE, unlike of AND, SQLite promises to evaluate only what it needs.
      + " THEN \(Self.updateCounter)() ELSE 0 END"
  }
}
