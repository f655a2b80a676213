internal import CRequestBehaviorsSQLite
import Foundation

/// Counts the rows that are inserted into one table, which an upsert does not tell from those it updates.
///
/// SQLite's update hook tells of them, but not in a table without row ids; there a temporary trigger does, which calls a
/// function. Counting the rows before and after, as is done until the trigger is there, reads the whole table for every
/// record that is saved.
final class InsertionCounter {
  private let handle: OpaquePointer
  private var table: ContiguousArray<CChar> = []
  private var count = 0
  private var hasFunction = false
  private var wanted: [String: TableSchema] = [:]

  init(handle: OpaquePointer) { self.handle = handle }

  /// Makes the triggers that saves have missed.
  ///
  /// Between transactions: within one that has changed a schema, undoing a savepoint would end the cursors around it.
  func makeTriggers(on connection: Connection) {
    guard !wanted.isEmpty else { return }
    for schema in wanted.values {
      let trigger = SQL.quoted(Self.triggerName(for: schema))
      let name = schema.name.replacing("'", with: "''")
      // Without it, rows are counted: a table that has gone by now needs none.
      try? makeFunction(on: connection)
      try? connection.runScript(
        """
        DROP TRIGGER IF EXISTS temp.\(trigger);
        CREATE TEMP TRIGGER \(trigger) AFTER INSERT ON main.\(SQL.quoted(schema.name))
        BEGIN SELECT rb_inserted('\(name)'); END
        """)
    }
    connection.touched = []
    wanted = [:]
  }

  /// Runs the closure and returns how many rows were inserted into the table meanwhile.
  func insertions(into schema: TableSchema, on connection: Connection, _ body: () throws -> Void) throws -> Int {
    if schema.hasRowID { return try hooked(schema, body) }
    if try hasTrigger(on: schema, connection) { return try counting(schema, body) }
    wanted[schema.name] = schema
    let rows = "SELECT count(*) FROM \(SQL.quoted(schema.name))"
    let before = try connection.scalar(rows)
    try body()
    return try connection.scalar(rows) - before
  }

  private func hooked(_ schema: TableSchema, _ body: () throws -> Void) throws -> Int {
    sqlite3_update_hook(
      handle,
      { context, action, _, table, _ in
        if action == SQLITE_INSERT, let table { InsertionCounter.of(context).note(table) }
      }, Unmanaged.passUnretained(self).toOpaque())
    defer { sqlite3_update_hook(handle, nil, nil) }
    return try counting(schema, body)
  }

  private func counting(_ schema: TableSchema, _ body: () throws -> Void) throws -> Int {
    table = schema.hookName
    count = 0
    defer { table = [] }
    try body()
    return count
  }

  private func note(_ name: UnsafePointer<CChar>) {
    let isCounted = table.withUnsafeBufferPointer { table in table.baseAddress.map { strcmp(name, $0) == 0 } ?? false }
    if isCounted { count += 1 }
  }

  // MARK: The trigger

  private static func triggerName(for schema: TableSchema) -> String { "rb_inserted_" + schema.name }

  /// Whether the trigger is there, and on the table that has the name now.
  private func hasTrigger(on schema: TableSchema, _ connection: Connection) throws -> Bool {
    let statement = try connection.statement(
      "SELECT 1 FROM sqlite_temp_master WHERE type = 'trigger' AND name = ? AND tbl_name = ?")
    defer { statement.reset() }
    _ = statement.bind(.text(Self.triggerName(for: schema)), at: 1)
    _ = statement.bind(.text(schema.name), at: 2)
    return try connection.step(statement)
  }

  private func makeFunction(on connection: Connection) throws {
    guard !hasFunction else { return }
    let result = sqlite3_create_function_v2(
      handle, "rb_inserted", 1, SQLITE_UTF8 | SQLITE_INNOCUOUS, Unmanaged.passUnretained(self).toOpaque(),
      { context, _, values in
        guard let name = sqlite3_value_text(values?[0]) else { return }
        let counter = InsertionCounter.of(sqlite3_user_data(context))
        counter.note(UnsafeRawPointer(name).assumingMemoryBound(to: CChar.self))
      }, nil, nil, nil)
    guard result == SQLITE_OK else { throw connection.failure(result) }
    hasFunction = true
  }

  // The context is the counter of a connection that is alive: SQLite calls back only while it is used.
  private static func of(_ context: UnsafeMutableRawPointer?) -> InsertionCounter {
    Unmanaged<InsertionCounter>.fromOpaque(context.unsafelyUnwrapped).takeUnretainedValue()
  }
}
