#if canImport(os)
  public import os

  /// A log sink that writes to the unified logging system.
  ///
  /// Records are written as public text, since every secret in them is hidden already.
  public struct OSLogSink: LogSink {
    private let logger: Logger

    /// Creates a sink over a logger; by default of category `network` in the subsystem `RequestBehaviors`.
    public init(_ logger: Logger = Logger(subsystem: "RequestBehaviors", category: "network")) {
      self.logger = logger
    }

    /// Writes a record.
    public func log(_ record: LogRecord) {
      logger.log(level: level(of: record), "\(record.line, privacy: .public)")
    }

    private func level(of record: LogRecord) -> OSLogType {
      switch record.level {
      case .debug: .debug
      case .info: .info
      case .error: .error
      }
    }
  }
#endif
