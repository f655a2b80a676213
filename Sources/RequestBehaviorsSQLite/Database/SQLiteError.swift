internal import CRequestBehaviorsSQLite
import Foundation

/// A failure of SQLite, or of the way it was used.
///
/// The error holds SQL text but no bound value, so it can be logged.
public struct SQLiteError: Error, Sendable, CustomStringConvertible {
  /// The primary result code, such as ``Code/busy``.
  public var code: Code

  /// SQLite's extended result code, such as 2067 for a unique constraint.
  public var extendedCode: Int32

  /// What went wrong and, where the library knows it, what to do.
  public var message: String

  /// The SQL text that failed, with `?` where values were bound, or nil.
  public var sql: String?

  /// The UTF-8 offset in ``sql`` of the token at fault, or nil when SQLite names none.
  public var offset: Int?

  /// The path of the database file, or nil when there is none.
  public var path: String?

  /// The 0-based index of the record at fault, or nil when it was not a record's.
  public var row: Int?

  /// The operating system's `errno` behind the failure, or 0.
  public var systemErrno: Int32

  /// Creates an error of the given code.
  public init(_ code: Code, _ message: String, sql: String? = nil, path: String? = nil) {
    self.code = code
    self.extendedCode = code.rawValue
    self.message = message
    self.sql = sql
    self.path = path
    self.systemErrno = 0
  }

  /// The code, the message and where it happened, in one line.
  public var description: String {
    var text = "SQLite error \(extendedCode) (\(code)): \(message)"
    if let sql { text += offset.map { " at byte \($0) of \"\(sql)\"" } ?? " in \"\(sql)\"" }
    if let row { text += ", record \(row)" }
    if let path { text += " [\(path)]" }
    return text
  }
}

extension SQLiteError {
  /// Creates the error that a connection reports after a call returned `result`.
  init(_ result: Int32, handle: OpaquePointer?, sql: String? = nil, path: String? = nil) {
    let matches = handle.map { sqlite3_extended_errcode($0) & 0xFF == result & 0xFF } ?? false
    let extended = matches ? handle.map { sqlite3_extended_errcode($0) } ?? result : result
    let text = matches ? handle.flatMap { sqlite3_errmsg($0) } : sqlite3_errstr(result)
    self.init(
      Code(rawValue: extended & 0xFF), text.map { String(cString: $0) } ?? "unknown error", sql: sql, path: path)
    extendedCode = extended
    systemErrno = matches ? handle.map { sqlite3_system_errno($0) } ?? 0 : 0
    if code == .cannotOpen || code == .io, systemErrno != 0 { message += ": " + String(cString: strerror(systemErrno)) }
    let position = matches ? handle.map { rb_sqlite3_error_offset($0) } ?? -1 : -1
    offset = position >= 0 && sql != nil ? Int(position) : nil
  }
}
