import Foundation
import RequestBehaviors

/// The responses of the sends of a failed call, redacted, for a mock or a cassette.
struct ReproducedResponses {
  struct Answer {
    enum Kind: Hashable {
      case response
      /// The head and a part of the body arrived, and then the send failed.
      case cut
      case failure
      /// Nothing came while the call waited.
      case never
    }

    let method: RequestMethod
    /// The URL without its query.
    let place: String
    let url: String
    let kind: Kind
    var status = 200
    var headers = HeaderFields()
    var body = Data()
    var code = ""
    var message = ""
    var stage: NetworkError.Progress.Stage?
    let at: Duration
  }

  private(set) var all: [Answer] = []
  private let redaction: CassetteRedaction
  private let redactor: Redactor
  private let date: Date

  init(_ error: NetworkError, _ call: FailedCall, _ redaction: CassetteRedaction) {
    (self.redaction, redactor, date) = (redaction, call.redactor, call.recording.startedAt)
    let start = call.sends.first?.startedAt ?? .zero
    for (index, send) in call.sends.enumerated() {
      let next = call.sends[(index + 1)...].first
      all.append(answer(of: send, next, error, at: send.startedAt - start))
    }
  }

  var hasFailures: Bool { all.contains { $0.kind == .failure || $0.kind == .cut } }
  var bodyBytes: Int { all.reduce(0) { $0 + $1.body.count } }

  private func answer(
    of send: FailedCall.Send, _ next: FailedCall.Send?, _ error: NetworkError, at time: Duration
  ) -> Answer {
    let url = redaction.url(send.url.absoluteString)
    let place = String(url.prefix { $0 != "?" })
    func made(_ kind: Answer.Kind) -> Answer {
      Answer(method: send.method, place: place, url: url, kind: kind, at: time)
    }
    var answer: Answer
    switch send.outcome {
    case .pending, .cancelled: return made(.never)
    case .response(let statusCode, _):
      answer = made(.response)
      answer.status = statusCode
    case .failure(let code, let message):
      let isStreamed = error.request?.options.delivery == .streamed
      answer = made(isStreamed && send.hasHead ? .cut : .failure)
      answer.status = error.statusCode ?? 200
      answer.code = (code ?? .transportFailed).rawValue
      answer.message = redactor.redact(text: message)
      answer.stage = stage(of: send, next, error, code)
    }
    if let headers = send.headers { answer.headers = redaction.responseFields(headers).forReplay }
    // Where the fields are unknown, the next send tells where a redirect led.
    if (300..<400).contains(answer.status), !answer.headers.contains("Location"), let next {
      answer.headers["Location"] = redaction.url(next.url.absoluteString)
    }
    if let body = send.body, !body.isEmpty { answer.body = shown(body, send.headers?[.contentType]) ?? Data() }
    return answer
  }

  /// Returns the stage that a send had reached when it failed.
  private func stage(
    of send: FailedCall.Send, _ next: FailedCall.Send?, _ error: NetworkError, _ code: NetworkError.Code?
  ) -> NetworkError.Progress.Stage? {
    if next == nil, error.code == code { return error.progress?.stage }
    if send.hasHead { return .headReceived }
    // What may not be sent twice was sent again, so it had not left.
    return next != nil && !send.method.isIdempotent ? .notSent : nil
  }

  /// Returns a body without its secrets; `nil` if that is not possible.
  func shown(_ body: Data, _ contentType: String?) -> Data? {
    let isText = String(data: body, encoding: .utf8) != nil
    var type = contentType
    if type == nil, isText { type = (try? OrderedJSON(parsing: body)) == nil ? "text/plain" : "application/json" }
    if let shown = redaction.body(body, type) {
      // Of JSON that is not well-formed, nothing is kept after the error; then the error must stay one.
      return shown.isEmpty && !body.isEmpty ? Data("?".utf8) : shown
    }
    // Nothing names the secrets in a body that cannot be read, and those in parts are not looked for.
    let isInParts = contentType?.lowercased().hasPrefix("multipart/") == true
    return isInParts || redactor.hasHiddenValue(in: body) ? nil : body
  }
}

extension HeaderFields {
  /// The fields that mean something to a client that gets the body as it was decoded.
  fileprivate var forReplay: HeaderFields {
    let dropped = ["content-encoding", "content-length", "transfer-encoding", "connection", "keep-alive"]
    return HeaderFields(filter { !dropped.contains($0.name.lowercased()) })
  }
}

// MARK: - Stubs

extension ReproducedResponses {
  /// The lines that add the responses to a mock, one stub for each method and place.
  var stubs: [String] {
    var places: [(method: RequestMethod, place: String)] = []
    for answer in all where !places.contains(where: { $0.method == answer.method && $0.place == answer.place }) {
      places.append((answer.method, answer.place))
    }
    return places.flatMap { method, place -> [String] in
      let answers = all.filter { $0.method == method && $0.place == place }
      let head = "    mock.on(\(SwiftSource.method(method)), \(SwiftSource.literal(place, indentation: 6)))"
      return [head] + merged(answers.map(stub))
    }
  }

  /// Returns the lines of responses, with equal neighbours as one.
  private func merged(_ stubs: [String]) -> [String] {
    var lines: [(text: String, count: Int)] = []
    for stub in stubs {
      if let last = lines.last, last.text == stub { lines[lines.count - 1].count += 1 } else { lines.append((stub, 1)) }
    }
    return lines.map { "      \($0.text)\($0.count > 1 ? ".times(\($0.count))" : "")" }
  }

  private func stub(_ answer: Answer) -> String {
    let fields = answer.headers.isEmpty ? nil : "headers: \(SwiftSource.fields(answer.headers))"
    switch answer.kind {
    case .never: return ".respond(200).delayed(by: .seconds(86_400))"
    case .failure: return ".fail(\(failure(answer)))"
    case .cut:
      let chunk = answer.body.isEmpty ? nil : ".chunk(\(SwiftSource.expression(answer.body, indentation: 10)))"
      let parts = [chunk, ".fail(\(failure(answer)))", "status: \(answer.status)", fields].compactMap(\.self)
      return ".stream(\n        \(parts.joined(separator: ",\n        ")))"
    case .response:
      let head = ["\(answer.status)", fields].compactMap(\.self).joined(separator: ", ")
      guard !answer.body.isEmpty else { return ".respond(\(head))" }
      return ".respond(\n        \(head),\n        body: \(SwiftSource.expression(answer.body, indentation: 10)))"
    }
  }

  private func failure(_ answer: Answer) -> String {
    let message = SwiftSource.literal(answer.message.prefix(300), indentation: 10)
    let stage = answer.stage.map { ", .\($0)" } ?? ""
    return "failure(\n          \(SwiftSource.literal(answer.code, indentation: 10)), \(message)\(stage))"
  }
}

// MARK: - The cassette

extension ReproducedResponses {
  /// The responses as a cassette.
  var cassette: Data {
    let log = OrderedJSON.members([
      "version": .string("1.2"),
      "creator": .members(["name": .string("RequestBehaviors"), "version": .string("1")]),
      "entries": .array(all.map(entry)),
    ])
    return OrderedJSON.members(["log": log]).data()
  }

  private func entry(_ answer: Answer) -> OrderedJSON {
    let time = date.addingTimeInterval(Double(answer.at.components.seconds))
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    let hasResponse = answer.kind == .response || answer.kind == .cut
    let text = String(data: answer.body, encoding: .utf8)
    let failure: OrderedJSON? =
      answer.kind == .response
      ? nil
      : .members([
        "error": .string(answer.kind == .never ? NetworkError.Code.timedOut.rawValue : answer.code),
        "message": .string(answer.message), "stage": answer.stage.map { .string("\($0)") }, "at": .integer(0),
      ])
    return .members([
      "startedDateTime": .string(time.formatted(style)), "time": .integer(0),
      "request": .members([
        "method": .string(answer.method.rawValue), "url": .string(answer.url), "httpVersion": .string("unknown"),
        "cookies": .array([]), "headers": .array([]), "queryString": OrderedJSON.query(of: answer.url),
        "headersSize": .integer(-1), "bodySize": .integer(-1),
      ]),
      "response": .members([
        "status": .integer(hasResponse ? answer.status : 0), "statusText": .string(""),
        "httpVersion": .string("unknown"), "cookies": .array([]), "headers": answer.headers.har,
        "content": .members([
          "size": .integer(answer.body.count), "mimeType": .string(answer.headers[.contentType] ?? "x-unknown"),
          "text": .string(text ?? answer.body.base64EncodedString()),
          "encoding": text == nil ? .string("base64") : nil,
        ]),
        "redirectURL": .string(answer.headers["Location"] ?? ""), "headersSize": .integer(-1),
        "bodySize": .integer(-1),
      ]),
      "cache": .object([]),
      "timings": .members(["send": .integer(0), "wait": .integer(0), "receive": .integer(0)]),
      "_requestBehaviors": .members(["end": failure]),
    ])
  }
}
