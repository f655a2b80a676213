/// A destination of log records.
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
  /// It is called on the path of the request, by many tasks at once, and must not block.
  ///
  /// - Parameter record: The record to write; every secret in it is hidden already.
  func log(_ record: LogRecord)
}

/// A log sink of a closure.
public struct ClosureLogSink: LogSink {
  private let write: @Sendable (LogRecord) -> Void

  /// Creates a sink that calls a closure with each record.
  public init(_ write: @escaping @Sendable (LogRecord) -> Void) { self.write = write }

  /// Calls the closure.
  public func log(_ record: LogRecord) { write(record) }
}

/// A log sink that writes to the standard error stream: time, level and the record, or JSON lines.
///
/// A record that cannot be written, as on a full disk, is lost. The call goes on. While the stream is not read, up to
/// 1 MiB waits for it on a thread of its own.
public struct StandardErrorLogSink: LogSink {
  /// The format of the written records.
  public enum Format: Sendable {
    /// Text to read: ``LogRecord/line`` after the time and the level.
    case lines
    /// JSON for machines: ``LogRecord/json``.
    case json
  }

  private let format: Format

  /// Creates a sink, which writes lines by default.
  public init(format: Format = .lines) { self.format = format }

  /// Writes a record.
  public func log(_ record: LogRecord) {
    StandardError.write(text(of: record))
  }

  package func text(of record: LogRecord) -> String {
    switch format {
    case .lines: "\(LogText.timestamp(record.date)) \(record.level) \(record.line)"
    case .json: record.json
    }
  }
}
