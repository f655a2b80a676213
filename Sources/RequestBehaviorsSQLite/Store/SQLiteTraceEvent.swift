/// A statement that has run, as passed to the trace hook.
public struct SQLiteTraceEvent: Hashable, Sendable {
  /// The SQL, with `?` where values were bound; never a bound value.
  public var sql: String

  /// The time that the statement ran.
  public var duration: Duration
}
