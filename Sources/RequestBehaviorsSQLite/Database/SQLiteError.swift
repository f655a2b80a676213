internal import CRequestBehaviorsSQLite
import Foundation

/// A failure of SQLite, or a misuse of it.
///
/// The error holds SQL text but no bound value, so it can be logged.
public struct SQLiteError: Error, Sendable, CustomStringConvertible {
  /// The primary result code, such as ``Code/busy``.
  public var code: Code

  /// SQLite's extended result code, such as 2067 for a unique constraint.
  public var extendedCode: Int32

  /// The message: what went wrong and, where the library knows it, what to do.
  public var message: String

  /// The SQL text that failed, with `?` where values were bound, or nil.
  public var sql: String?

  /// The UTF-8 offset in ``sql`` of the token at fault, or nil if SQLite does not report one.
  public var offset: Int?

  /// The path of the database file, or nil if it is not known.
  public var path: String?

  /// The 0-based index of the record at fault, or nil if no record caused the error.
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
    if message.hasPrefix("unsafe use of") {
      message += ", by a trigger or view; set SQLiteConfiguration.trustsSchema if you trust who made the file's schema"
    }
    systemErrno = matches ? handle.map { sqlite3_system_errno($0) } ?? 0 : 0
    if code == .cannotOpen || code == .io, systemErrno != 0 { message += ": " + String(cString: strerror(systemErrno)) }
    let position = matches ? handle.map { rb_sqlite3_error_offset($0) } ?? -1 : -1
    offset = position >= 0 && sql != nil ? Int(position) : nil
  }
}

extension SQLiteError {
  /// `SQLITE_READONLY_DBMOVED`, which is a macro that Swift does not import.
  private static let fileHasMovedCode: Int32 = SQLITE_READONLY | 4 << 8

  /// Whether the store's file is no longer at its path.
  var tellsOfMovedFile: Bool { extendedCode == Self.fileHasMovedCode }

  /// Returns the error of a store whose file is no longer at its path.
  static func movedFile(at path: String) -> SQLiteError {
    var error = SQLiteError(
      .readOnly,
      "the file was removed or replaced while the store had it open; close this store, and then open another",
      path: path)
    error.extendedCode = fileHasMovedCode
    return error
  }

  /// Returns the error that opening a file ended with; it names the folder of the file if no file may be created there.
  ///
  /// SQLite keeps a `-wal` and a `-shm` beside the file, and says only that the file is read-only or cannot be opened.
  static func naming(unwritableFolderOf file: String, or error: any Error) -> any Error {
    guard var error = error as? SQLiteError, [.readOnly, .cannotOpen].contains(error.code), file != ":memory:" else {
      return error
    }
    let folder = URL(filePath: file).deletingLastPathComponent().path
    guard faccessat(AT_FDCWD, folder, W_OK, AT_EACCESS) != 0 else { return error }
    error.message =
      "no file may be created in the folder \(folder): \(String(cString: strerror(errno))); "
      + "SQLite needs a -wal and a -shm file beside the database (\(error.message))"
    return error
  }

  /// A primary result code of SQLite.
  public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// SQLite's number for the code.
    public var rawValue: Int32

    /// Creates a code from SQLite's number.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// SQL that is not valid, or names a table or column that does not exist.
    public static let error = Code(rawValue: SQLITE_ERROR)
    /// Another connection holds the lock and did not release it in time.
    public static let busy = Code(rawValue: SQLITE_BUSY)
    /// A conflict within the same connection.
    public static let locked = Code(rawValue: SQLITE_LOCKED)
    /// Out of memory.
    public static let noMemory = Code(rawValue: SQLITE_NOMEM)
    /// A write to a read-only file or in a read.
    public static let readOnly = Code(rawValue: SQLITE_READONLY)
    /// The work was interrupted, for example because the store was suspended.
    public static let interrupted = Code(rawValue: SQLITE_INTERRUPT)
    /// The operating system reported an I/O failure.
    public static let io = Code(rawValue: SQLITE_IOERR)
    /// The file is damaged.
    public static let corrupt = Code(rawValue: SQLITE_CORRUPT)
    /// The disk is full, or the file has reached its limit of pages.
    public static let full = Code(rawValue: SQLITE_FULL)
    /// The file cannot be opened.
    public static let cannotOpen = Code(rawValue: SQLITE_CANTOPEN)
    /// A text or blob is larger than SQLite's limit.
    public static let tooBig = Code(rawValue: SQLITE_TOOBIG)
    /// A constraint was violated; ``SQLiteError/extendedCode`` says which kind.
    public static let constraint = Code(rawValue: SQLITE_CONSTRAINT)
    /// A value has a type that its column or parameter does not take.
    public static let mismatch = Code(rawValue: SQLITE_MISMATCH)
    /// The library was used in a way its documentation forbids; the message says how.
    public static let misuse = Code(rawValue: SQLITE_MISUSE)
    /// The file is not a database.
    public static let notADatabase = Code(rawValue: SQLITE_NOTADB)

    /// SQLite's words for the code.
    public var description: String { sqlite3_errstr(rawValue).map { String(cString: $0) } ?? "code \(rawValue)" }
  }
}
