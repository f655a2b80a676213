package import RequestBehaviors

/// The settings of a ``SQLiteStore``.
public struct SQLiteConfiguration: Sendable {
  /// The durability of transactions that do not name one; ``SQLiteDurability/normal`` by default.
  public var durability: SQLiteDurability

  /// The time that work waits for another process's lock before it fails with ``SQLiteError/Code/busy``; 5 seconds by
  /// default.
  public var busyTimeout: Duration

  /// The number of reads that run at a time, beside the writer; 4 by default, at least 1.
  public var maximumReaders: Int

  /// The interval at which the store looks for commits of other stores and processes while its `values` or
  /// ``SQLiteStore/changes(in:)`` wait for changes.
  ///
  /// At least 10 ms; nil, for never, by default.
  ///
  /// Set it for a file that an app and its extension use. SQLite reports that there was a commit but not what it
  /// changed, so all waiters are woken. A look takes about 10 µs.
  public var changePollInterval: Duration?

  /// The form in which values are written to columns; GRDB's by default.
  public var format: RowFormat

  /// Whether triggers and views may use any function, and virtual tables such as those of full-text search and R-trees;
  /// false by default.
  ///
  /// Set it to save into tables whose triggers keep a search index, as GRDB makes them. The schema is part of the file:
  /// leave it false for files that can be written by users or programs you do not trust (SQLite: "Defense Against The
  /// Dark Arts").
  public var trustsSchema: Bool

  /// The class of data protection of the files.
  ///
  /// Nil, the default, leaves the class to the system.
  ///
  /// It is for iOS, tvOS, watchOS and visionOS. On other platforms opening a store with a class fails with
  /// ``SQLiteError/Code/misuse``, because the files would not be protected.
  public var fileProtection: SQLiteFileProtection?

  /// Called after each statement, on the thread that ran it; nil by default.
  public var trace: (@Sendable (SQLiteTraceEvent) -> Void)?

  /// Whether every write overwrites in the file what it deletes and replaces; the default is that of SQLite's build.
  package var overwritesDeleted = false

  /// The name of the SQLite VFS to use, or nil for the system's; tests inject faults through it.
  package var vfs: String?

  /// The clock that measures the interval; tests move it by hand.
  package var clock = RequestClock.system

  /// Creates a configuration.
  public init(
    durability: SQLiteDurability = .normal,
    busyTimeout: Duration = .seconds(5),
    maximumReaders: Int = 4,
    changePollInterval: Duration? = nil,
    format: RowFormat = RowFormat(),
    trustsSchema: Bool = false,
    fileProtection: SQLiteFileProtection? = nil,
    trace: (@Sendable (SQLiteTraceEvent) -> Void)? = nil
  ) {
    self.durability = durability
    self.busyTimeout = busyTimeout
    self.maximumReaders = maximumReaders
    self.changePollInterval = changePollInterval
    self.format = format
    self.trustsSchema = trustsSchema
    self.fileProtection = fileProtection
    self.trace = trace
  }
}
