/// The prepared statements of one connection by their SQL; the least recently used is dropped first.
struct StatementCache {
  private var statements: [String: Statement] = [:]
  private var uses: UInt64 = 0
  let capacity: Int

  init(capacity: Int = 64) { self.capacity = capacity }

  /// Returns the idle statement with this SQL, or nil.
  mutating func statement(for sql: String) -> Statement? {
    guard let statement = statements[sql], !statement.isInUse else { return nil }
    uses += 1
    statement.lastUse = uses
    return statement
  }

  mutating func insert(_ statement: Statement) {
    guard statements[statement.sql] == nil else { return }
    if statements.count >= capacity, let oldest = statements.values.min(by: { $0.lastUse < $1.lastUse }) {
      statements[oldest.sql] = nil
    }
    uses += 1
    statement.lastUse = uses
    statements[statement.sql] = statement
  }

  mutating func removeAll() { statements.removeAll() }
}
