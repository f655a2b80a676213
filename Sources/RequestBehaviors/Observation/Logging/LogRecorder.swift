import Foundation

/// Makes log records of what happened, with every secret hidden.
struct LogRecorder {
  private let settings: LoggingBehavior.Settings
  private var redactor: Redactor { settings.redactor }

  init(_ settings: LoggingBehavior.Settings) { self.settings = settings }

  /// A call that failed is an error; one that the user cancelled is not.
  func level(of report: CallReport) -> LogLevel {
    report.error == nil || report.error is CancellationError ? .info : .error
  }

  func start(_ request: NetworkRequest) -> LogRecord { record(.start, .debug, request.call, request) }

  func attempt(_ exchange: Exchange, of report: CallReport) -> LogRecord {
    var record = record(.attempt, .debug, report.call, report.request)
    record.sends = exchange.number
    record.method = exchange.method
    record.url = redactor.redact(exchange.url)
    record.duration = exchange.endedAt.map { $0 - exchange.startedAt }
    switch exchange.outcome {
    case .pending: break
    case .response(let statusCode, let bytes):
      record.statusCode = statusCode
      record.responseBytes = bytes
    case .failure(let code, let message):
      let text = code.map { "\($0): \(message)" } ?? message
      record.error = redactor.redact(text: text, hiding: report.request.map { redactor.secrets(in: $0.headers) } ?? [])
    case .cancelled: record.error = "cancelled"
    }
    return record
  }

  func call(_ report: CallReport, level: LogLevel) -> LogRecord {
    var record = record(.call, level, report.call, report.request)
    record.sends = report.call.sendCount
    record.duration = report.duration
    record.phases = CallPhases(report)
    record.decisions = report.call.events.map { event in
      "\(event.source): \(redactor.redact(text: event.message))"
    }
    if let error = report.error { record.error = describe(error, report) }
    if let response = report.response { add(response, to: &record) }
    if let sent = report.response?.request ?? (report.error as? NetworkError)?.request ?? report.request {
      add(sent, to: &record)
    }
    return record
  }

  private func record(_ kind: LogRecord.Kind, _ level: LogLevel, _ call: Call, _ request: NetworkRequest?) -> LogRecord
  {
    LogRecord(
      kind: kind, level: level, date: call.clock.date(), call: call.id, parent: call.parent, sends: 0,
      method: request?.method ?? "?", url: request.map { redactor.redact($0.url) } ?? "(no URL)",
      endpoint: request?.endpoint ?? "", requestBytes: request?.body?.length)
  }

  private func add(_ response: NetworkResponse, to record: inout LogRecord) {
    record.statusCode = response.statusCode
    record.source = response.source
    if settings.includesHeaders { record.responseHeaders = redactor.redact(response.headers) }
    guard case .data(let data) = response.body else { return }
    record.responseBytes = data.count
    record.responseBody = excerpt(data, response.headers["Content-Type"])
  }

  private func add(_ sent: NetworkRequest, to record: inout LogRecord) {
    if settings.includesHeaders { record.requestHeaders = redactor.redact(sent.headers) }
    guard let data = sent.body?.data else { return }
    record.requestBody = excerpt(data, sent.headers["Content-Type"] ?? sent.body?.contentType)
  }

  private func excerpt(_ data: Data, _ contentType: String?) -> String? {
    guard settings.bodyLimit > 0, !data.isEmpty else { return nil }
    return redactor.redact(body: data, contentType: contentType, limit: settings.bodyLimit)
  }

  /// The error as text, without what the request kept secret even where an underlying error repeats it.
  private func describe(_ error: any Error, _ report: CallReport) -> String {
    if error is CancellationError {
      let last = report.lastFailure.map { ", after \(describe($0, report))" } ?? ""
      return "cancelled" + last
    }
    let sent = (error as? NetworkError)?.request ?? report.request
    return redactor.redact(text: "\(error)", hiding: sent.map { redactor.secrets(in: $0.headers) } ?? [])
  }
}
