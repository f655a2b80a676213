/// What an acknowledged transaction survives.
public enum SQLiteDurability: Hashable, Sendable {
  /// It survives a crash of the process; after a power cut the latest transactions may be missing, the file is intact.
  case normal
  /// It survives a power cut too; the commit waits for the disk (typically 0.1 to 4 ms more).
  ///
  /// On Apple systems SQLite orders the writes with a barrier; no application can prove more there.
  case full
}
