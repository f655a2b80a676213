/// How a ``SQLiteStore`` opens its file and runs its work.
public struct SQLiteConfiguration: Sendable {
  /// What transactions survive when they do not say; ``SQLiteDurability/normal`` by default.
  public var durability: SQLiteDurability

  /// How long work waits for a lock that another process holds before it fails with ``SQLiteError/Code/busy``; 5 seconds by default.
  public var busyTimeout: Duration

  /// How many reads run at a time, beside the writer; 4 by default, at least 1.
  public var maximumReaders: Int

  /// How values are written to columns; GRDB's way by default.
  public var format: RowFormat

  /// Called after each statement, on the thread that ran it; nil by default.
  public var trace: (@Sendable (SQLiteTraceEvent) -> Void)?

  /// The name of the SQLite VFS to use, or nil for the system's; tests inject faults through it.
  package var vfs: String?

  /// Creates a configuration.
  public init(
    durability: SQLiteDurability = .normal,
    busyTimeout: Duration = .seconds(5),
    maximumReaders: Int = 4,
    format: RowFormat = RowFormat(),
    trace: (@Sendable (SQLiteTraceEvent) -> Void)? = nil
  ) {
    self.durability = durability
    self.busyTimeout = busyTimeout
    self.maximumReaders = maximumReaders
    self.format = format
    self.trace = trace
  }
}

/// What a trace hook is told about one statement.
public struct SQLiteTraceEvent: Hashable, Sendable {
  /// The SQL, with `?` where values were bound; never a bound value.
  public var sql: String

  /// How long the statement ran.
  public var duration: Duration
}
