import Foundation

/// Makes log records of events, with every secret hidden.
///
/// A reference, so that a copy of the behavior copies one pointer instead of every setting.
final class LogRecordMaker: Sendable {
  let settings: LoggingBehavior.Settings

  init(_ settings: LoggingBehavior.Settings) { self.settings = settings }

  /// Returns the level of a call's end: failed calls are errors, but cancelled ones are not.
  func level(of report: CallReport) -> LogLevel {
    report.error == nil || report.error is CancellationError ? .info : .error
  }

  func start(_ request: NetworkRequest) -> LogRecord {
    record(.start, .debug, request.call, request, redactor(for: request))
  }

  func attemptStart(_ request: NetworkRequest) -> LogRecord { attempt(.attemptStart, request, redactor(for: request)) }

  func attempt(_ attempt: Attempt, of request: NetworkRequest, as kind: LogRecord.Kind = .attempt) -> LogRecord {
    // The transport's message may repeat the URL and quote secrets.
    let redactor = redactor(for: request)
    var record = self.attempt(kind, request, redactor)
    record.duration = attempt.endedAt.map { $0 - attempt.startedAt }
    record.errorType = attempt.errorType
    switch attempt.outcome {
    case .pending: break
    case .response(let statusCode, let bytes):
      record.statusCode = statusCode
      record.responseBytes = bytes
    case .failure(let code, let message):
      let text = code.map { "\($0): \(message)" } ?? message
      record.error = redactor.redact(text: text).withoutRepeating(record.url)
    case .cancelled: record.error = "cancelled"
    }
    return record
  }

  private func attempt(_ kind: LogRecord.Kind, _ request: NetworkRequest, _ redactor: Redactor) -> LogRecord {
    var record = record(kind, .debug, request.call, request, redactor)
    record.sends = request.attemptNumber
    record.spanID = request.headers["traceparent"].flatMap { TraceContext(traceparent: $0) }?.parentID
    return record
  }

  /// Writes the record of a call's end.
  ///
  /// It is not returned, because that would copy its many values once more.
  func write(_ report: CallReport, level: LogLevel, to sink: any LogSink) {
    // The secrets come from the last request that was sent, which may differ from the first.
    let sent = report.response?.request ?? (report.error as? NetworkError)?.request ?? report.request
    let redactor = sent.map(redactor(for:)) ?? settings.redactor.hiding(secretsOf: report.call)
    var record = record(.call, level, report.call, report.request, redactor)
    record.sends = report.call.servingAttemptCount
    record.duration = report.duration
    record.phases = DurationBreakdown(report)
    record.decisions = report.call.events.map { "\($0.source): \(redactor.redact(text: $0.message))" }
    record.errorType = report.errorType
    if let error = report.error {
      let last = report.lastFailure.map { ", after \(describe($0, redactor))" } ?? ""
      record.error = (describe(error, redactor) + last).withoutRepeating(record.url)
    }
    if let response = report.response { add(response, to: &record, redactor) }
    if let completion = report.completion { record.responseBytes = Int(clamping: completion.byteCount) }
    if let sent { add(sent, to: &record, redactor) }
    sink.log(record)
  }

  /// Returns the redactor that also hides the secrets of the request and its call.
  private func redactor(for request: NetworkRequest) -> Redactor { settings.redactor.hiding(secretsOf: request) }

  private func record(
    _ kind: LogRecord.Kind, _ level: LogLevel, _ call: Call, _ request: NetworkRequest?, _ redactor: Redactor
  ) -> LogRecord {
    LogRecord(
      kind: kind, level: level, date: call.clock.date(), call: call.id, parent: call.parent,
      traceID: call.trace?.traceID, sends: 0, method: request?.method ?? "?",
      url: request.map { redactor.redact($0.url) } ?? "(no URL)",
      endpoint: request.map { redactor.redact(text: EndpointNames.template(of: $0)) } ?? "",
      requestBytes: request?.body?.length)
  }

  private func add(_ response: NetworkResponse, to record: inout LogRecord, _ redactor: Redactor) {
    record.statusCode = response.statusCode
    record.source = response.source
    if response.source == .network { record.connection = response.timings.connection }
    if settings.includesHeaders { record.responseHeaders = redactor.redact(response.headers) }
    guard case .data(let data) = response.body else { return }
    record.responseBytes = data.count
    record.responseBody = excerpt(data, response.headers[.contentType], redactor)
  }

  private func add(_ sent: NetworkRequest, to record: inout LogRecord, _ redactor: Redactor) {
    if settings.includesHeaders { record.requestHeaders = redactor.redact(sent.headers) }
    guard let data = sent.body?.data else { return }
    record.requestBody = excerpt(data, sent.headers[.contentType] ?? sent.body?.contentType, redactor)
  }

  private func excerpt(_ data: Data, _ contentType: String?, _ redactor: Redactor) -> String? {
    guard settings.bodyLimit > 0, !data.isEmpty else { return nil }
    return redactor.redact(body: data, contentType: contentType, limit: settings.bodyLimit)
  }

  /// Returns the error as text, without the request that it belongs to.
  private func describe(_ error: any Error, _ redactor: Redactor) -> String {
    switch error {
    case is CancellationError: "cancelled"
    case let error as NetworkError: error.describe(with: redactor)
    default: redactor.redact(text: "\(error)")
    }
  }
}

extension String {
  /// Returns the text with a URL that is in the record already replaced by a word.
  ///
  /// Errors of the platform repeat the URL, some of them twice. A longer URL that begins with it stays.
  fileprivate func withoutRepeating(_ url: String) -> String {
    var shown = ""
    var rest = self[...]
    while let found = rest.range(of: url) {
      let next = rest[found.upperBound...].first
      let isWhole = next.map { !($0.isLetter || $0.isNumber || "/?#%&=._~-:@+".contains($0)) } ?? true
      shown += rest[..<found.lowerBound] + (isWhole ? "(the URL)" : url)
      rest = rest[found.upperBound...]
    }
    return shown + rest
  }
}
