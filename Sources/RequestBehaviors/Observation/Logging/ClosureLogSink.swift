/// A log sink of a closure.
public struct ClosureLogSink: LogSink {
  private let write: @Sendable (LogRecord) -> Void

  /// Creates a sink that calls a closure with each record.
  public init(_ write: @escaping @Sendable (LogRecord) -> Void) { self.write = write }

  /// Calls the closure.
  public func log(_ record: LogRecord) { write(record) }
}
