internal import CSQLite
import Foundation

/// Counts the rows that are inserted into one table, which an upsert does not tell from those it updates.
///
/// SQLite's update hook tells of them, but not in a table without row ids; there a temporary trigger does, which calls a
/// function. Counting the rows before and after would read the whole table for every record that is saved.
final class InsertionCounter {
  private let handle: OpaquePointer
  private var table: ContiguousArray<CChar> = []
  private var count = 0
  private var hasFunction = false

  init(handle: OpaquePointer) { self.handle = handle }

  /// Runs the closure and returns how many rows were inserted into the table meanwhile.
  func insertions(into schema: TableSchema, on connection: Connection, _ body: () throws -> Void) throws -> Int {
    if !schema.hasRowID { try installTrigger(on: schema, connection) }
    table = schema.hookName
    count = 0
    let context = Unmanaged.passUnretained(self).toOpaque()
    if schema.hasRowID {
      sqlite3_update_hook(
        handle,
        { context, action, _, table, _ in
          if action == SQLITE_INSERT, let table { InsertionCounter.of(context).note(table) }
        }, context)
    }
    defer {
      if schema.hasRowID { sqlite3_update_hook(handle, nil, nil) }
      table = []
    }
    try body()
    return count
  }

  private func note(_ name: UnsafePointer<CChar>) {
    let isCounted = table.withUnsafeBufferPointer { table in table.baseAddress.map { strcmp(name, $0) == 0 } ?? false }
    if isCounted { count += 1 }
  }

  /// Makes the trigger unless it is there; undone with the transaction, it is made anew in the next.
  private func installTrigger(on schema: TableSchema, _ connection: Connection) throws {
    let touched = connection.touched
    defer { connection.touched = touched }
    if !hasFunction {
      let flags = SQLITE_UTF8 | SQLITE_INNOCUOUS
      let context = Unmanaged.passUnretained(self).toOpaque()
      let result = sqlite3_create_function_v2(
        handle, "rb_inserted", 1, flags, context,
        { context, _, values in
          guard let name = sqlite3_value_text(values?[0]) else { return }
          let counter = InsertionCounter.of(sqlite3_user_data(context))
          counter.note(UnsafeRawPointer(name).assumingMemoryBound(to: CChar.self))
        }, nil, nil, nil)
      guard result == SQLITE_OK else { throw connection.failure(result) }
      hasFunction = true
    }
    let name = schema.name.replacing("'", with: "''")
    try connection.runScript(
      """
      CREATE TEMP TRIGGER IF NOT EXISTS \(SQL.quoted("rb_inserted_" + schema.name))
      AFTER INSERT ON main.\(SQL.quoted(schema.name)) BEGIN SELECT rb_inserted('\(name)'); END
      """)
  }

  // The context is the counter of a connection that is alive: SQLite calls back only while it is used.
  private static func of(_ context: UnsafeMutableRawPointer?) -> InsertionCounter {
    Unmanaged<InsertionCounter>.fromOpaque(context.unsafelyUnwrapped).takeUnretainedValue()
  }
}
