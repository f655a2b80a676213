/// The rows of a table of which a save deletes those that it did not save.
public struct SQLiteScope: Sendable {
  let condition: SQL

  /// Every row of the table.
  public static let all = SQLiteScope(condition: "TRUE")

  /// The rows that meet a condition, such as `"repository = \(name)"`.
  public static func rows(where condition: SQL) -> SQLiteScope { SQLiteScope(condition: condition) }
}
