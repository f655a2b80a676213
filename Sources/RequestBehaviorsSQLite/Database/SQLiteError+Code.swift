internal import CRequestBehaviorsSQLite

extension SQLiteError {
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
    /// A write to what can only be read.
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
    /// A value has a type that its place does not take.
    public static let mismatch = Code(rawValue: SQLITE_MISMATCH)
    /// The library was used in a way its documentation forbids; the message says how.
    public static let misuse = Code(rawValue: SQLITE_MISUSE)
    /// The file is not a database.
    public static let notADatabase = Code(rawValue: SQLITE_NOTADB)

    /// SQLite's words for the code.
    public var description: String { sqlite3_errstr(rawValue).map { String(cString: $0) } ?? "code \(rawValue)" }
  }
}
