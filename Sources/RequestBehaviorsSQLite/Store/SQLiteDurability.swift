/// The failures that a committed transaction survives.
///
/// A write into a file that was removed or replaced while it was open fails with ``SQLiteError/Code/readOnly``: its
/// data would be lost when the file is closed. So does the next value of each ``SQLiteValues``. Other reads go on with
/// the old data until the store is closed.
public enum SQLiteDurability: Hashable, Sendable {
  /// It survives a crash of the process. After a power cut the latest transactions may be missing; the file is intact.
  case normal
  /// It survives a power cut too; the commit waits for the disk (typically 0.1 to 4 ms more).
  ///
  /// On Apple systems SQLite orders the writes with a barrier; an application cannot prove more there.
  case full
}
