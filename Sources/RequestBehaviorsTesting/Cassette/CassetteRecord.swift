import Foundation
import RequestBehaviors

/// One send that is being recorded, with its true bytes; they are redacted when the file is written.
final class CassetteRecord: Sendable {
  struct State: Sendable {
    var statusCode: Int?
    var version: String?
    var headers = HeaderFields()
    var interim: [InterimResponse] = []
    var chunks: [(at: Duration, data: Data)] = []
    var trailers: HeaderFields?
    var headAt: Duration?
    var connection: ConnectionTimings?
    var failure: NetworkError?
    /// The time until a repeat may succeed, as the failure told it.
    var repeatDelay: Duration?
    /// Whether the reader left before the end.
    var isCancelled = false
    var endedAt: Duration?
    var secrets: Set<String> = []
  }

  let method: String
  let url: String
  let fields: HeaderFields
  let body: Data?
  let contentType: String?
  let date: Date
  private let start: Duration
  private let call: Call
  private let isStreamed: Bool
  private let redactor: Redactor
  private let state: Locked<State>

  /// Begins to record a request, whose body is in memory.
  init(_ request: NetworkRequest, redactor: Redactor) {
    method = request.method.rawValue
    url = request.url.absoluteString
    fields = request.headers
    body = request.body?.data
    contentType = request.headers[.contentType] ?? request.body?.contentType
    call = request.call
    isStreamed = request.options.delivery == .streamed
    date = call.clock.date()
    start = call.clock.now()
    // A value that is hidden in logs only because its name is not on the list must stay in bodies.
    var credentials = redactor
    credentials.allowedHeaders.formUnion(
      fields.filter { !$0.isSensitive && !$0.isNamedLikeCredential }.map(\.name))
    self.redactor = credentials
    var state = State()
    state.secrets = credentials.hiding(secretsOf: request).hiddenValues
    self.state = Locked(state)
  }

  /// The facts that are known by now, also the secrets that the call has learnt since its end.
  var facts: State {
    let learnt = redactor.hiding(secretsOf: call).hiddenValues
    return state.withLock { state in
      state.secrets.formUnion(learnt)
      return state
    }
  }

  /// Whether nothing more comes.
  var hasEnded: Bool { state.withLock { $0.endedAt != nil } }

  private var elapsed: Duration { call.clock.now() - start }

  func note(_ response: NetworkResponse) {
    let elapsed = elapsed
    state.withLock { state in
      state.statusCode = response.statusCode
      state.headers = response.headers
      state.interim = response.interimResponses
      state.headAt = elapsed
      state.connection = response.timings.connection
      state.version = response.timings.connection?.protocolName
    }
  }

  func note(_ chunk: Data) {
    let elapsed = elapsed
    state.withLock { $0.chunks.append((elapsed, chunk)) }
  }

  func end(_ error: (any Error)?, trailers: HeaderFields?, of request: NetworkRequest) {
    let (elapsed, now) = (elapsed, call.clock.date())
    let known = redactor.hiding(secretsOf: request).hiddenValues
    state.withLock { state in
      state.trailers = trailers
      // A reader that stops early is no failure of the server.
      state.isCancelled = error is CancellationError || (error as? NetworkError)?.code == .clientShutDown
      state.failure = state.isCancelled ? nil : error.map { $0 as? NetworkError ?? Self.unknown($0) }
      state.repeatDelay = state.failure?.availableAt.map { .seconds($0.timeIntervalSince(now)) }
      state.endedAt = elapsed
      state.secrets.formUnion(known)
      for field in state.headers where field.isSensitive || field.isNamedLikeCredential {
        state.secrets.formUnion(redactor.secrets(in: HeaderFields([field])))
      }
      let body = Data(state.chunks.map(\.data).joined())
      // Short values of bodies, such as a PIN, may be part of anything.
      let named = redactor.secrets(inBody: body, state.headers[.contentType])
      state.secrets.formUnion(named.filter { $0.utf8.count >= 8 })
    }
  }

  private static func unknown(_ error: any Error) -> NetworkError {
    NetworkError(.connectionLost, Redactor.standard.redact(text: "\(error)"))
  }
}

// MARK: - The entry in the file

extension CassetteRecord {
  /// Returns the entry of the file; `nil` for a send that was cancelled before its response was whole.
  ///
  /// A stream that its reader left is an entry, which says so at its end.
  func entry(_ redaction: CassetteRedaction, _ files: inout CassetteBodies) -> OrderedJSON? {
    let facts = facts
    guard facts.statusCode != nil || facts.failure != nil, isStreamed || !facts.isCancelled else { return nil }
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

  private func postData(_ redaction: CassetteRedaction) -> OrderedJSON? {
    guard let body, !body.isEmpty else { return nil }
    let type = OrderedJSON.string(contentType ?? "")
    guard let shown = redaction.body(body, contentType) else {
      let sketch = redaction.sketch(
        method: method, url: url, fields: fields, body: body, contentType: contentType
      ).body
      return .members([
        "mimeType": type, "text": .string(""),
        "_sha256": .string(Digest.sha256(of: body).hexadecimal),
        "_parts": sketch.parts.map { .array($0.map { .string($0) }) },
      ])
    }
    return .members(["mimeType": type, "text": .string(String(decoding: shown, as: UTF8.self))])
  }

  private func response(
    _ facts: State, _ redaction: CassetteRedaction, _ files: inout CassetteBodies
  ) -> OrderedJSON {
    let headers = redaction.responseFields(facts.headers)
    let fields = zip(headers, sortedFields(facts.headers)).map { shown, original -> OrderedJSON in
      guard let echoed = echo(of: original) else {
        return .members(["name": .string(shown.name), "value": .string(shown.value)])
      }
      return .members(["name": .string(shown.name), "value": .string(""), "_echo": .string(echoed)])
    }
    let body = Data(facts.chunks.map(\.data).joined())
    return .members([
      "status": .integer(facts.statusCode ?? 0), "statusText": .string(""),
      "httpVersion": .string(facts.version ?? "unknown"), "cookies": .array([]),
      "headers": .array(fields),
      "content": files.content(
        of: body, shown: shown(body, facts, redaction), facts.headers[.contentType]),
      "redirectURL": .string(headers["Location"] ?? ""), "headersSize": .integer(-1),
      "bodySize": .integer(-1),
      "_error": facts.failure.map { .string("\($0.code)") },
    ])
  }

  private func shown(_ body: Data, _ facts: State, _ redaction: CassetteRedaction) -> Data? {
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

  private func extras(_ facts: State, _ redaction: CassetteRedaction) -> OrderedJSON {
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
            "message": .string(Redactor.standard.redact(text: error.message)),
            "stage": (error.progress?.stage).map { .string("\($0)") },
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

/// The lengths of chunks in a body whose redaction changed its length.
struct ChunkLengths {
  let lengths: [Int]

  init(of lengths: [Int], in body: Data, shown: Data?) {
    guard let shown, shown.count != body.count else {
      self.lengths = lengths
      return
    }
    // Redaction keeps the lines, so a border between two lines stays one.
    let starts = ChunkLengths.lineStarts(body)
    let shownStarts = ChunkLengths.lineStarts(shown)
    var offset = 0
    var last = 0
    self.lengths = lengths.enumerated().map { index, length in
      offset += length
      var place =
        index == lengths.count - 1 ? shown.count : offset * shown.count / max(1, body.count)
      if index < lengths.count - 1, starts.count == shownStarts.count,
        let line = starts.lastIndex(where: { $0 <= offset })
      {
        let end = line + 1 < shownStarts.count ? shownStarts[line + 1] : shown.count
        place = min(shownStarts[line] + offset - starts[line], end)
      }
      defer { last = max(last, place) }
      return max(0, place - last)
    }
  }

  private static func lineStarts(_ data: Data) -> [Int] {
    [0] + data.enumerated().filter { $1 == UInt8(ascii: "\n") }.map { $0.offset + 1 }
  }
}

/// The bodies that are kept in files beside the cassette.
struct CassetteBodies {
  /// The name of the folder.
  let folder: String
  private(set) var files: [String: Data] = [:]
  /// The largest text in the cassette itself.
  static let inlineLimit = 16 * 1_024

  init(folder: String) { self.folder = folder }

  /// Returns the `content` of a response.
  mutating func content(of body: Data, shown: Data?, _ contentType: String?) -> OrderedJSON {
    let type = OrderedJSON.string(contentType ?? "x-unknown")
    let kept = shown ?? body
    if let shown, shown.count <= CassetteBodies.inlineLimit {
      return .members([
        "size": .integer(shown.count), "mimeType": type,
        "text": .string(String(decoding: shown, as: UTF8.self)),
      ])
    }
    if kept.isEmpty { return .members(["size": .integer(0), "mimeType": type]) }
    let name = Digest.sha256(of: kept).hexadecimal.prefix(16) + CassetteBodies.ending(contentType)
    files[String(name)] = kept
    return .members([
      "size": .integer(kept.count), "mimeType": type, "_file": .string("\(folder)/\(name)"),
    ])
  }

  private static func ending(_ contentType: String?) -> String {
    let type = (contentType ?? "").prefix { $0 != ";" }.lowercased()
    let known = [
      "json": ".json", "html": ".html", "xml": ".xml", "png": ".png", "jpeg": ".jpg", "pdf": ".pdf",
    ]
    return known.first { type.hasSuffix($0.key) }?.value
      ?? (type.hasPrefix("text/") ? ".txt" : ".bin")
  }
}
