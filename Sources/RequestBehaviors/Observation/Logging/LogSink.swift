/// Where log records go.
///
/// A sink for swift-log is a conformance of three lines:
///
/// ```swift
/// extension Logger: LogSink {
///   public func log(_ record: LogRecord) { log(level: record.level == .error ? .error : .info, "\(record)") }
/// }
/// ```
public protocol LogSink: Sendable {
  /// Takes a record.
  ///
  /// It is called on the path of the request, by many at once: it must not block.
  ///
  /// - Parameter record: What to write; every secret in it is hidden already.
  func log(_ record: LogRecord)
}
