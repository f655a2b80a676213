#if canImport(os)
  public import os

  /// A log sink that writes to the unified logging system.
  ///
  /// The system cuts an entry at 1,024 bytes before it stores it (Apple: `os/log.h`), so a longer record becomes
  /// several entries, each with the number of its call.
  public struct OSLogSink: LogSink {
    /// The visibility of the parts of a record that name users and their actions.
    public enum Privacy: Sendable {
      /// The URL, headers and bodies, and the words of errors and behaviors are private text.
      ///
      /// The call's number, method, endpoint, status, sizes and durations are public.
      ///
      /// The system then shows the private parts only while a debugger is attached or a profile allows it (Apple:
      /// "Generating log messages from your code").
      case personalPartsAreHidden
      /// All text is public; secrets are hidden already.
      case everythingIsPublic
    }

    private static let entryLimit = 1_000
    private let logger: Logger
    private let privacy: Privacy

    /// Creates a sink.
    ///
    /// - Parameters:
    ///   - logger: The logger to write to; by default category `network` of the subsystem `RequestBehaviors`.
    ///   - privacy: The visibility of personal parts; by default they are hidden.
    public init(
      _ logger: Logger = Logger(subsystem: "RequestBehaviors", category: "network"),
      privacy: Privacy = .personalPartsAreHidden
    ) {
      self.logger = logger
      self.privacy = privacy
    }

    /// Writes a record.
    public func log(_ record: LogRecord) {
      let level = level(of: record)
      for entry in record.entries(limit: OSLogSink.entryLimit, hidesPersonal: privacy == .personalPartsAreHidden) {
        logger.log(level: level, "\(entry.open, privacy: .public)\(entry.personal, privacy: .private)")
      }
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
