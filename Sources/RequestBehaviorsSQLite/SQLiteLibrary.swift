internal import CSQLite

/// Facts about the SQLite library that is linked.
public enum SQLiteLibrary {
  /// The version of the library, such as `3.40.1`.
  public static var version: String { String(cString: sqlite3_libversion()) }
}
