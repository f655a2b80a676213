/// Writes a record of every call: its request, its end, its duration, and the decisions of behaviors.
///
/// ```swift
/// let client = NetworkClient(baseURL: baseURL, behaviors: [.logging()])
/// // #1 GET https://api.example.com/v1/issues 200 4213 B in 123.4 ms
/// ```
///
/// Secrets are hidden before a record reaches its sink; see ``Redactor``. Bodies are logged only on request: the
/// beginning of a text body that is in memory. No stream is read for the log.
public struct LoggingBehavior: UniqueBehavior {
  /// Around all behaviors except the user's `.first`.
  public let order = BehaviorOrder.observation
  /// `true`, because `intercept` holds nothing that a prerequisite could wait for.
  public let runsForPrerequisites = true

  /// The name that tells several logs in one list apart.
  public let name: String

  private let sink: any LogSink
  private let maker: LogRecordMaker

  /// The choice of what is logged besides the outcome of each call.
  public struct Settings: Sendable {
    /// The least level that is logged; ``LogLevel/info`` by default.
    ///
    /// With ``LogLevel/debug`` there are also records of the beginning of each call, and of the beginning and end of
    /// each of its sends, as they happen: the last record of a call that hangs shows why it waits.
    public var level = LogLevel.info
    /// Whether the fields of request and response are logged; by default they are not.
    public var includesHeaders = false
    /// The number of bytes of text bodies that are logged; 0 by default.
    public var bodyLimit = 0
    /// The redactor that hides the secrets.
    public var redactor = Redactor.standard

    /// Creates settings with their defaults.
    public init() {}
  }

  /// Creates a behavior that logs to a sink.
  ///
  /// - Parameters:
  ///   - sink: The destination of the records; by default the standard error stream.
  ///   - settings: The choice of what is logged besides the outcome of each call.
  ///   - name: The name that tells this log from others in the list.
  public init(_ sink: any LogSink = StandardErrorLogSink(), settings: Settings = Settings(), name: String = "") {
    self.sink = sink
    self.maker = LogRecordMaker(settings)
    self.name = name
  }

  /// Logs the beginning of the call if that level is logged.
  public func beforeSend(_ request: NetworkRequest) async {
    guard maker.settings.level <= .debug else { return }
    sink.log(maker.start(request))
  }
}

extension LoggingBehavior: CallObserver {
  /// Whether the level is ``LogLevel/debug`` or less.
  public var observesAttempts: Bool { maker.settings.level <= .debug }

  /// Logs the beginning of a send if that level is logged.
  public func attemptStarted(_ request: NetworkRequest) {
    guard observesAttempts else { return }
    sink.log(maker.attemptStart(request))
  }

  /// Logs the head of a streamed response if that level is logged.
  public func attemptReceivedHead(_ attempt: Attempt, of request: NetworkRequest) {
    guard observesAttempts else { return }
    sink.log(maker.attempt(attempt, of: request, as: .attemptHead))
  }

  /// Logs the end of a send if that level is logged.
  public func attemptEnded(_ attempt: Attempt, of request: NetworkRequest) {
    guard observesAttempts else { return }
    sink.log(maker.attempt(attempt, of: request))
  }

  /// Logs the end of the call.
  public func callEnded(_ report: CallReport) {
    let level = maker.level(of: report)
    guard level >= maker.settings.level else { return }
    maker.write(report, level: level, to: sink)
  }
}

extension RequestBehavior where Self == LoggingBehavior {
  /// Logs every call; see ``LoggingBehavior``.
  public static func logging(
    _ sink: any LogSink = StandardErrorLogSink(), level: LogLevel = .info, headers: Bool = false, bodyLimit: Int = 0,
    redactor: Redactor = .standard
  ) -> LoggingBehavior {
    var settings = LoggingBehavior.Settings()
    settings.level = level
    settings.includesHeaders = headers
    settings.bodyLimit = bodyLimit
    settings.redactor = redactor
    return LoggingBehavior(sink, settings: settings)
  }
}
