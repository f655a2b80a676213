public import Foundation

extension Recording {
  /// Returns the recording as an HTTP archive (HAR 1.2), which the developer tools of browsers open.
  ///
  /// It has an entry for each send, and one for each call that ended without a send, such as a cache hit. Each call is
  /// a page. Facts that HAR does not know, such as the decisions of behaviors, are in members named
  /// `_requestBehaviors`; other readers ignore them, and ``init(har:)`` reads them.
  ///
  /// - Returns: JSON in UTF-8.
  public func har() -> Data {
    let entries = calls.flatMap { call in HAREntries(of: call, in: self).entries }
      .sorted { ($0.at, $0.call, $0.send) < ($1.at, $1.call, $1.send) }
    let log = OrderedJSON.members([
      "version": .string("1.2"),
      "creator": .members(["name": .string("RequestBehaviors"), "version": .string("1")]),
      "pages": .array(calls.map(page)), "entries": .array(entries.map(\.json)),
      "_requestBehaviors": .members([
        "startedAt": .decimal(startedAt.timeIntervalSince1970), "droppedCalls": .integer(droppedCalls),
        "failure": failure?.json,
      ]),
    ])
    return OrderedJSON.members(["log": log]).data()
  }

  /// The date of a time, as HAR writes it.
  func timestamp(_ time: Duration) -> String {
    LogText.timestamp(startedAt.addingTimeInterval(time.inSeconds))
  }

  private func page(_ call: RecordedCall) -> OrderedJSON {
    .members([
      "startedDateTime": .string(timestamp(call.startedAt)), "id": .string("call_\(call.number)"),
      "title": .string("#\(call.number) \(call.method) \(call.endpoint.isEmpty ? call.url : call.endpoint)"),
      "pageTimings": .members(["onContentLoad": .integer(-1), "onLoad": .integer(-1)]),
      "_requestBehaviors": .members([
        "call": .integer(call.number), "parent": call.parent.map { .integer($0) },
        "purpose": .string(call.purpose.rawValue), "method": .string(call.method), "url": .string(call.url),
        "endpoint": .string(call.endpoint), "startedAt": .milliseconds(call.startedAt),
        "endedAt": call.endedAt.map { .milliseconds($0) }, "outcome": call.outcome.json,
        "source": call.source.map { .string($0.rawValue) }, "decisions": .array(call.decisions.map(\.json)),
      ]),
    ])
  }
}

extension RecordedCall.Outcome {
  fileprivate var json: OrderedJSON {
    switch self {
    case .underWay: .members(["kind": .string("underWay")])
    case .response(let statusCode): .members(["kind": .string("response"), "status": .integer(statusCode)])
    case .failure(let code, let message):
      .members(["kind": .string("failure"), "code": code.map { .string($0) }, "message": .string(message)])
    case .cancelled: .members(["kind": .string("cancelled")])
    }
  }
}

extension RecordedSend.Outcome {
  var json: OrderedJSON {
    switch self {
    case .underWay: .members(["kind": .string("underWay")])
    case .response(let statusCode, let bytes):
      .members([
        "kind": .string("response"), "status": .integer(statusCode), "bytes": bytes.map { .integer($0) },
      ])
    case .failure(let code, let message):
      .members(["kind": .string("failure"), "code": code.map { .string($0) }, "message": .string(message)])
    case .cancelled: .members(["kind": .string("cancelled")])
    }
  }
}

extension RecordedDecision {
  fileprivate var json: OrderedJSON {
    .members([
      "at": .milliseconds(at), "duration": duration.map { .milliseconds($0) }, "source": .string(source),
      "kind": .string(kind.rawValue), "message": .string(message),
    ])
  }
}
