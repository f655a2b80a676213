/// A table, and the columns that identify its rows.
///
/// If the table's primary key identifies a row, write it as a string literal: `"artwork"`.
public struct SQLiteTable: Hashable, Sendable, ExpressibleByStringLiteral {
  /// The table's name.
  public var name: String

  /// The columns of a unique index or constraint that identify a row; empty for the table's primary key.
  ///
  /// Every saved record must have them; a key column that is not saved is an error.
  public var key: [String]

  /// Creates a table.
  ///
  /// - Parameters:
  ///   - name: The table's name.
  ///   - key: The columns of a unique index or constraint that identify a row; empty for the table's primary key.
  public init(_ name: String, key: String...) {
    self.name = name
    self.key = key
  }

  /// Creates a table whose primary key identifies a row.
  @inlinable
  public init(stringLiteral value: String) {
    // It is inlined because most finds name their table by a literal; that saves half a percent of a find.
    name = value
    key = []
  }
}

/// The numbers of rows that a save inserted, updated, left unchanged and deleted.
public struct SQLiteSaveCounts: Hashable, Sendable {
  /// The number of rows that did not exist before.
  public var inserted = 0

  /// The number of rows that existed with other values.
  public var updated = 0

  /// The number of rows that existed with the same values; they were not written.
  public var unchanged = 0

  /// The number of deleted rows, which existed and were not saved; 0 unless deletion was requested.
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
