/// Where log records go.
///
/// A sink for swift-log is a type of a few lines:
///
/// ```swift
/// struct LoggerSink: LogSink {
///   let logger: Logger
///
///   func log(_ record: LogRecord) {
///     let level: Logger.Level = record.level == .error ? .error : .info
///     logger.log(level: level, "\(record)")
///   }
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
