/// A column of a row, for types that read themselves from one; see ``SQLReadable``.
public struct SQLiteColumn {
  @usableFromInline let cursor: RowCursor
  @usableFromInline let number: Int
  @usableFromInline let index: Int

  @inlinable
  init(row: SQLiteRow, index: Int) {
    cursor = row.cursor
    number = row.number
    self.index = index
  }
}
