/// The SQL of the statements that save rows.
struct UpsertSQL {
  let table: String
  let columns: [TableSchema.Column]
  /// The conflict target; empty for a table without a key, or if the rows lack a column of the key.
  let key: [String]
  /// The numbers of the columns' parameters; nil if they are numbered in the order of the columns.
  var parameters: [Int]?

  /// The function that counts an updated row and returns 1.
  static let updateCounter = "rb_updated"

  /// Returns an `INSERT` for a number of rows that updates an existing row only if it differs.
  ///
  /// The condition makes saving unchanged rows free: no page is written, and `changes()` is 0.
  func statement(rows: Int) -> String {
    let places = parameters?.map { "?\($0)" } ?? Array(repeating: "?", count: columns.count)
    let row = "(" + places.joined(separator: ",") + ")"
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
    // Another collation may treat "a" and "A" as equal, and a change of case would be lost.
    let old = others.map { SQL.quoted($0.name) + ($0.hasLooseCollation ? " COLLATE BINARY" : "") }
    let new = others.map { "excluded." + SQL.quoted($0.name) }
    return " ON CONFLICT(\(target)) DO UPDATE SET \(assignments.joined(separator: ","))"
      + " WHERE CASE WHEN (\(old.joined(separator: ","))) IS NOT (\(new.joined(separator: ",")))"
      // SQLite short-circuits CASE, but does not promise to short-circuit AND.
      + " THEN \(Self.updateCounter)() ELSE 0 END"
  }
}
