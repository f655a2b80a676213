internal import CRequestBehaviorsSQLite

/// Saves records of one type into one table, with several rows in a statement when there are many.
struct RecordWriter<Record: Encodable> {
  let plan: RecordPlan
  let connection: Connection
  let encoder: RowEncoder
  private let binder: RowBinder
  private var counts = SQLiteSaveCounts()

  init(plan: RecordPlan, connection: Connection, sample: Record) throws {
    self.plan = plan
    self.connection = connection
    encoder = try plan.encoder(for: Record.self)
    binder = encoder.binder
    try learn(sample)
  }

  /// Encodes the record until the plan has all columns that it names.
  private func learn(_ record: Record) throws {
    guard plan.isStale || plan.isEmpty else { return }
    try encoder.encode(record)
    plan.renew()
    if plan.isEmpty { throw nothingToSave() }
  }

  private func nothingToSave() -> SQLiteError {
    SQLiteError(.mismatch, "\(Record.self) encodes no property, so there is nothing to save")
  }

  /// Saves the records and returns how many rows were inserted, updated and left unchanged.
  mutating func save(_ records: [Record]) throws -> SQLiteSaveCounts {
    let size = plan.rowsPerStatement
    var index = 0
    if records.count >= 200, size > 1 {
      while index + size <= records.count {
        if try !saveTogether(records, at: index, count: size) {
          try saveSingly(records, from: index, to: index + size)
        }
        index += size
      }
    }
    try saveSingly(records, from: index, to: records.count)
    return counts
  }

  /// Saves rows by one statement; returns false if they must be saved one by one.
  private mutating func saveTogether(_ records: [Record], at start: Int, count: Int) throws -> Bool {
    do { return try saveBatch(records, at: start, count: count) } catch {
      // An error such as a full disk has ended the transaction: each later row would be committed on its own.
      guard sqlite3_get_autocommit(connection.handle) == 0 else { throw error }
      // A statement of many rows does not report which row failed, and has undone them all.
      return false
    }
  }

  private mutating func saveSingly(_ records: [Record], from start: Int, to end: Int) throws {
    for index in start..<end {
      do {
        if try !saveBatch(records, at: index, count: 1) { try savePart(records, at: index) }
      } catch var error as SQLiteError {
        error.row = index
        if error.path == nil { error.path = connection.path }
        throw error
      }
    }
  }

  /// Saves rows that have all columns of the plan; returns false, and saves none, if one of them has not.
  @inline(__always)
  private mutating func saveBatch(_ records: [Record], at start: Int, count: Int) throws -> Bool {
    var isWhole = try fill(try plan.statement(rows: count), records, start, count)
    if plan.isStale {
      plan.renew()
      isWhole = try fill(try plan.statement(rows: count), records, start, count)
    }
    let statement = try plan.statement(rows: count)
    defer { release(statement) }
    guard isWhole else { return false }
    counts = counts + (try connection.save(by: statement, rows: count))
    return true
  }

  /// Saves a record that leaves out columns of the plan, which keep their values.
  private mutating func savePart(_ records: [Record], at index: Int) throws {
    let columns = encoder.present.indexes
    guard !columns.isEmpty else { throw nothingToSave() }
    let statement = try plan.statement(columns: columns)
    _ = try fill(statement, records, index, 1)
    defer { release(statement) }
    counts = counts + (try connection.save(by: statement, rows: 1))
  }

  private func release(_ statement: Statement) {
    statement.reset()
    binder.arena.removeAll()
    binder.statement = nil
  }

  /// Binds the records; returns false at the first one that leaves out a column of the plan.
  private func fill(_ statement: Statement, _ records: [Record], _ start: Int, _ count: Int) throws -> Bool {
    binder.arena.removeAll()
    binder.statement = statement.pointer
    let width = plan.columns.count
    do {
      for offset in 0..<count {
        binder.base = Int32(truncatingIfNeeded: offset * width)
        try encoder.encode(records[start + offset])
        guard encoder.present.count == width else { return false }
      }
    } catch {
      statement.reset()
      throw error
    }
    return true
  }

  /// Adds the keys of the records to the table of keys to keep.
  func keep(_ records: [Record]) throws {
    let statement = try plan.keepingStatement()
    binder.base = 0
    for record in records {
      _ = try fill(statement, [record], 0, 1)
      defer {
        statement.reset()
        binder.statement = nil
      }
      _ = try connection.step(statement)
    }
    binder.arena.removeAll()
  }
}
