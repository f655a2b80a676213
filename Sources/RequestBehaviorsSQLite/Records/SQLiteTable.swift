/// A table, and what makes two of its rows the same.
///
/// Written as a string literal where the table's primary key says so: `"artwork"`.
public struct SQLiteTable: Hashable, Sendable, ExpressibleByStringLiteral {
  /// The table's name.
  public var name: String

  /// The columns of a unique index or constraint that identify a row; empty for the table's primary key.
  ///
  /// Every record that is saved must name them; a column that is not among the saved ones is an error.
  public var key: [String]

  /// Creates a table.
  ///
  /// - Parameters:
  ///   - name: The table's name.
  ///   - key: The columns of a unique index or constraint that identify a row; none for the table's primary key.
  public init(_ name: String, key: String...) {
    self.name = name
    self.key = key
  }

  /// Creates a table whose primary key identifies a row.
  @inlinable
  public init(stringLiteral value: String) {
    // Inlined, because a literal names the table of most finds, of which this saves half a percent.
    name = value
    key = []
  }
}

/// Rows of a table, of which those that were not saved are deleted.
public struct SQLiteScope: Sendable {
  let condition: SQL

  /// Every row of the table.
  public static let all = SQLiteScope(condition: "TRUE")

  /// The rows that meet a condition, such as `"repository = \(name)"`.
  public static func rows(where condition: SQL) -> SQLiteScope { SQLiteScope(condition: condition) }
}

/// The numbers of rows that a save inserted, updated, left unchanged and deleted.
public struct SQLiteSaveCounts: Hashable, Sendable {
  /// Rows that were not there.
  public var inserted = 0

  /// Rows that were there with other values.
  public var updated = 0

  /// Rows that were there with the same values; they cost no write.
  public var unchanged = 0

  /// Rows that were there and are not among the saved ones; only where deletion was asked for.
  public var deleted = 0

  /// Creates counts of zero.
  public init() {}

  /// Adds two counts.
  public static func + (left: SQLiteSaveCounts, right: SQLiteSaveCounts) -> SQLiteSaveCounts {
    var sum = left
    sum.inserted += right.inserted
    sum.updated += right.updated
    sum.unchanged += right.unchanged
    sum.deleted += right.deleted
    return sum
  }
}
