import Foundation

/// A log sink that writes to the standard error stream: time, level and the record, or JSON lines.
public struct StandardErrorLogSink: LogSink {
  /// How records are written.
  public enum Format: Sendable {
    /// For reading: ``LogRecord/line`` after the time and the level.
    case lines
    /// For machines: ``LogRecord/json``.
    case json
  }

  private let format: Format

  /// Creates a sink; by default for reading.
  public init(format: Format = .lines) { self.format = format }

  /// Writes a record.
  public func log(_ record: LogRecord) {
    FileHandle.standardError.write(Data((text(of: record) + "\n").utf8))
  }

  package func text(of record: LogRecord) -> String {
    switch format {
    case .lines: "\(LogText.timestamp(record.date)) \(record.level) \(record.line)"
    case .json: record.json
    }
  }
}
