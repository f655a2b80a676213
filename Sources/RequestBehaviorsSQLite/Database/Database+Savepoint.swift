internal import CRequestBehaviorsSQLite

extension Database {
  /// Runs the closure so that an error in it undoes only the closure's own changes.
  ///
  /// - Throws: The closure's error, after its changes are undone. A full disk, an I/O error or a cancellation ends the
  ///   whole transaction, and every later statement then throws.
  @discardableResult
  public func savepoint<T>(_ body: () throws -> T) throws -> T {
    let connection = try connection()
    try connection.checkTransaction()
    try connection.control("SAVEPOINT nested")
    // An undone savepoint takes its actions and its touched tables with it.
    let actions = connection.afterCommit.count
    let touched = connection.touched
    do {
      let result = try body()
      try connection.checkTransaction()
      try connection.control("RELEASE nested")
      return result
    } catch {
      connection.undoSavepoint()
      connection.forgetUndoneSchema()
      connection.touched = touched
      connection.afterCommit.removeLast(max(0, connection.afterCommit.count - actions))
      throw error
    }
  }
}

extension Connection {
  /// Undoes the innermost savepoint; the whole transaction if that fails, so that no part of it is committed.
  func undoSavepoint() {
    guard sqlite3_get_autocommit(handle) == 0 else { return }
    do {
      try control("ROLLBACK TO nested")
      try control("RELEASE nested")
    } catch {
      do { try control("ROLLBACK") } catch { isBroken = true }
    }
  }
}
