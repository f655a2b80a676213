import Foundation

extension RecordedFailure {
  /// Hides the secrets of a failed call, and takes what a test needs.
  ///
  /// The order of the steps is that of the numbers of placeholders.
  init(_ error: NetworkError, _ call: FailedCall) {
    let redaction = PlayableRedaction(call.redactor, numbered: true, hidesAmbiguous: true)
    let replies = ReplyMaking(error, call, redaction).replies
    let url = redaction.url(call.url.absoluteString)
    self.init(
      call.method, url, code: error.code.rawValue, statusCode: error.statusCode,
      message: call.redactor.redact(text: error.message), sendCount: error.attempts.count)
    self.replies = replies
    let plain = call.userHeaders.filter { !$0.isSensitive && !$0.isNamedLikeCredential }
    fields = redaction.responseFields(HeaderFields(plain))
    if let body = call.requestBody, !call.method.forbidsBody {
      bodyType = body.contentType ?? "application/octet-stream"
      self.body = body.data.flatMap { redaction.shown($0, bodyType) } ?? Data()
    }
    isStreamed = error.request?.options.delivery == .streamed
    wantedType = error.wantedType
    decodingPath = error.request?.options.decodingPath
    behaviors = call.behaviors
  }
}

/// Makes the replies of the sends of a failed call.
private struct ReplyMaking {
  private let error: NetworkError
  private let call: FailedCall
  private let redaction: PlayableRedaction

  init(_ error: NetworkError, _ call: FailedCall, _ redaction: PlayableRedaction) {
    (self.error, self.call, self.redaction) = (error, call, redaction)
  }

  var replies: [RecordedFailure.Reply] {
    let start = call.sends.first?.startedAt ?? .zero
    return call.sends.enumerated().map { index, send in
      reply(to: send, call.sends[(index + 1)...].first, at: send.startedAt - start)
    }
  }

  private func reply(
    to send: FailedCall.Send, _ next: FailedCall.Send?, at time: Duration
  ) -> RecordedFailure.Reply {
    let url = redaction.url(send.url.absoluteString)
    var reply: RecordedFailure.Reply
    switch send.outcome {
    case .pending, .cancelled: return RecordedFailure.Reply(send.method, url, .never, at: time)
    case .response(let statusCode, _):
      reply = RecordedFailure.Reply(send.method, url, .response, at: time)
      reply.status = statusCode
    case .failure(let code, let message):
      let isStreamed = error.request?.options.delivery == .streamed
      reply = RecordedFailure.Reply(send.method, url, isStreamed && send.hasHead ? .cut : .failure, at: time)
      reply.status = error.statusCode ?? 200
      reply.code = (code ?? .transportFailed).rawValue
      reply.message = call.redactor.redact(text: message)
      reply.stage = stage(of: send, next, code)
    }
    if let headers = send.headers { reply.headers = redaction.responseFields(headers).forReplay }
    // Where the fields are unknown, the next send tells where a redirect led.
    if (300..<400).contains(reply.status), !reply.headers.contains("Location"), let next {
      reply.headers["Location"] = redaction.url(next.url.absoluteString)
    }
    if let body = send.body, !body.isEmpty {
      reply.body = redaction.shown(body, send.headers?[.contentType]) ?? Data()
    }
    return reply
  }

  /// Returns the stage that a send had reached when it failed.
  private func stage(
    of send: FailedCall.Send, _ next: FailedCall.Send?, _ code: NetworkError.Code?
  ) -> NetworkError.Progress.Stage? {
    if next == nil, error.code == code { return error.progress?.stage }
    if send.hasHead { return .headReceived }
    // What may not be sent twice was sent again, so it had not left.
    return next != nil && !send.method.isIdempotent ? .notSent : nil
  }
}

extension PlayableRedaction {
  /// Returns a body without its secrets; `nil` if that is not possible.
  fileprivate func shown(_ body: Data, _ contentType: String?) -> Data? {
    let isText = String(data: body, encoding: .utf8) != nil
    var type = contentType
    if type == nil, isText { type = (try? OrderedJSON(parsing: body)) == nil ? "text/plain" : "application/json" }
    if let shown = self.body(body, type) {
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
