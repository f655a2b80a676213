import Foundation
import RequestBehaviors

extension CassetteRecord {
  /// Returns the entry of the file; `nil` for a record that is not playable.
  func entry(_ redaction: PlayableRedaction, _ files: inout CassetteBodies) -> OrderedJSON? {
    guard isPlayable else { return nil }
    let facts = facts
    let url = redaction.url(url)
    let fields = redaction.requestFields(fields)
    let end = facts.endedAt ?? facts.chunks.last?.at ?? facts.headAt ?? .zero
    let head = facts.headAt ?? end
    let version = OrderedJSON.string(facts.version ?? "unknown")
    return .members([
      "startedDateTime": .string(
        date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))),
      "time": .milliseconds(end),
      "request": .members([
        "method": .string(method), "url": .string(url), "httpVersion": version,
        "cookies": .array([]),
        "headers": fields.har, "queryString": OrderedJSON.query(of: url),
        "headersSize": .integer(-1),
        "bodySize": .integer(body?.count ?? 0), "postData": postData(redaction),
      ]),
      "response": response(facts, redaction, &files), "cache": .object([]),
      "timings": .members([
        "blocked": .integer(-1), "dns": .integer(-1), "connect": .integer(-1), "ssl": .integer(-1),
        "send": .integer(0), "wait": .milliseconds(head),
        "receive": .milliseconds(max(.zero, end - head)),
      ]),
      "_resourceType": .string(
        facts.headers[.contentType]?.hasPrefix("text/event-stream") == true
          ? "eventsource" : "fetch"),
      "_requestBehaviors": extras(facts, redaction),
    ])
  }

  private func postData(_ redaction: PlayableRedaction) -> OrderedJSON? {
    guard let body, !body.isEmpty else { return nil }
    let type = OrderedJSON.string(PlayableRedaction.withFixedBoundary(contentType ?? ""))
    guard let shown = redaction.text(of: body, contentType, fields) else {
      let sketch = redaction.sketch(
        method: method, url: url, fields: fields, body: body, contentType: contentType
      ).body
      // A hash of all parts would tell whether a guess of a short secret among them is right.
      return .members([
        "mimeType": type, "text": .string(""),
        "_sha256": sketch.parts == nil ? .string(Digest.sha256(of: body).hexadecimal) : nil,
        "_parts": sketch.parts.map { .array($0.map { .string($0) }) },
      ])
    }
    return .members(["mimeType": type, "text": .string(shown)])
  }

  private func response(
    _ facts: State, _ redaction: PlayableRedaction, _ files: inout CassetteBodies
  ) -> OrderedJSON {
    let body = Data(facts.chunks.map(\.data).joined())
    let shown = shown(body, facts, redaction)
    var headers = redaction.responseFields(facts.headers)
    if let shown, facts.headers["Content-Length"] == "\(body.count)" {
      headers["Content-Length"] = "\(shown.count)"
    }
    let fields = zip(headers, sortedFields(facts.headers)).map { shown, original -> OrderedJSON in
      guard let echoed = echo(of: original) else {
        return .members(["name": .string(shown.name), "value": .string(shown.value)])
      }
      return .members(["name": .string(shown.name), "value": .string(""), "_echo": .string(echoed)])
    }
    return .members([
      "status": .integer(facts.statusCode ?? 0), "statusText": .string(""),
      "httpVersion": .string(facts.version ?? "unknown"), "cookies": .array([]),
      "headers": .array(fields),
      "content": files.content(
        of: body, shown: shown, facts.headers[.contentType]),
      "redirectURL": .string(headers["Location"] ?? ""), "headersSize": .integer(-1),
      "bodySize": .integer(-1),
      "_error": facts.failure.map { .string("\($0.code)") },
    ])
  }

  private func shown(_ body: Data, _ facts: State, _ redaction: PlayableRedaction) -> Data? {
    redaction.body(body, facts.headers[.contentType])
  }

  /// The fields in the order of the redacted ones.
  private func sortedFields(_ headers: HeaderFields) -> [HeaderFields.Field] {
    headers.enumerated().sorted {
      ($0.element.name.lowercased(), $0.offset) < ($1.element.name.lowercased(), $1.offset)
    }.map(\.element)
  }

  /// The request's field that a response's field repeats, such as a nonce or the key of an operation.
  private func echo(of field: HeaderFields.Field) -> String? {
    guard field.value.utf8.count >= 8 else { return nil }
    let isLasting = Redactor.defaultAllowedHeaders.contains {
      HeaderFields.areEqual($0, field.name)
    }
    guard !isLasting || field.name.lowercased().hasSuffix("id") else { return nil }
    return fields.first { $0.value == field.value }?.name
  }

  private func extras(_ facts: State, _ redaction: PlayableRedaction) -> OrderedJSON {
    let body = Data(facts.chunks.map(\.data).joined())
    let lengths = ChunkLengths(
      of: facts.chunks.map(\.data.count), in: body, shown: shown(body, facts, redaction))
    let chunks = zip(facts.chunks, lengths.lengths).map { chunk, length in
      OrderedJSON.array([.milliseconds(chunk.at), .integer(length)])
    }
    let interim = facts.interim.map { response in
      OrderedJSON.members([
        "status": .integer(response.statusCode), "headers": redaction.responseFields(response.headers).har,
      ])
    }
    return .members([
      "interim": interim.isEmpty ? nil : .array(interim),
      "head": facts.headAt.map { .milliseconds($0) },
      "chunks": chunks.isEmpty ? nil : .array(chunks),
      "trailers": facts.trailers.map { redaction.responseFields($0).har },
      "end": facts.isCancelled
        ? CassetteEntry.cancelledEnd(facts.endedAt)
        : facts.failure.map { error in
          .members([
            "error": .string(error.code.rawValue),
            // A transport may name a value that only the call knows to be secret.
            "message": .string(redaction.hidden(Redactor.standard.redact(text: error.message))),
            "stage": (error.progress?.stage).map { .string($0.name) },
            "reused": (error.progress?.reusedConnection).map { .bool($0) },
            "repeatAfter": facts.repeatDelay.map { .milliseconds($0) },
            "at": .milliseconds(facts.endedAt ?? .zero),
          ])
        },
    ])
  }
}

extension RequestSketch.BodySketch {
  var parts: [String]? { if case .parts(let parts) = self { parts } else { nil } }
}
