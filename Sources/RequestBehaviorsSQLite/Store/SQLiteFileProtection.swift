/// A class of data protection, which says when the system decrypts a file (Apple: "Encrypting Your App's Files").
///
/// The database file, its `-wal` and its `-shm` get the class, even if they already exist.
public enum SQLiteFileProtection: Hashable, Sendable {
  /// The file can be read from the first unlock after the device starts. New files have this class unless the app
  /// chooses another.
  case completeUntilFirstUserAuthentication
  /// The file can be opened while the device is unlocked, and can then be used until it is closed.
  case completeUnlessOpen
  /// The file can be read while the device is unlocked.
  ///
  /// Statements fail while it is locked: call ``SQLiteStore/suspend()`` before, and ``SQLiteStore/resume()`` after.
  case complete

  /// The flag of `sqlite3_open_v2` that has Apple's SQLite create all files with the class.
  ///
  /// The flag is written as a number, because only the header in Apple's SDKs has the names,
  /// `SQLITE_OPEN_FILEPROTECTION_…`.
  package var openFlag: Int32 {
    switch self {
    case .complete: 0x0010_0000
    case .completeUnlessOpen: 0x0020_0000
    case .completeUntilFirstUserAuthentication: 0x0030_0000
    }
  }

  func checkIsSupported() throws {
    #if !(os(iOS) || os(tvOS) || os(watchOS) || os(visionOS))
      throw SQLiteError(
        .misuse,
        "the file protection \(self) is for iOS, tvOS, watchOS and visionOS; leave it out on this platform, where "
          + "nothing would protect the file")
    #endif
  }
}
