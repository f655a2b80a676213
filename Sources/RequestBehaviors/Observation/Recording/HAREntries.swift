import Foundation

/// The entries of one call in a HAR.
struct HAREntries {
  /// An entry, and what it is sorted by.
  struct Entry {
    let at: Duration
    let call: UInt64
    let send: Int
    let json: OrderedJSON
  }

  private let call: RecordedCall
  private let recording: Recording

  init(of call: RecordedCall, in recording: Recording) {
    self.call = call
    self.recording = recording
  }

  var entries: [Entry] {
    guard !call.sends.isEmpty else { return [Entry(at: call.startedAt, call: call.number, send: 0, json: unsent)] }
    return call.sends.map { Entry(at: $0.startedAt, call: call.number, send: $0.number, json: json(of: $0)) }
  }

  /// The entry of a call without a send: a cache hit, a refusal, a shared response.
  private var unsent: OrderedJSON {
    let isCached = call.source == .cache || call.source == .stale
    let duration = max(.zero, (call.endedAt ?? call.startedAt) - call.startedAt)
    var status = 0
    var error: String?
    switch call.outcome {
    case .response(let statusCode): status = statusCode
    case .failure(let code, let message): error = (code.map { "\($0): " } ?? "") + message
    case .cancelled: error = "cancelled"
    case .underWay: error = "under way"
    }
    let response = HARResponse(status: status, headers: HeaderFields(), bytes: 0, bodyBytes: 0, error: error)
    return .members([
      "pageref": .string("call_\(call.number)"), "startedDateTime": .string(recording.timestamp(call.startedAt)),
      "time": .milliseconds(duration),
      "request": request(call.method, call.url, HeaderFields(), "unknown", bytes: 0, body: nil),
      "response": response.json, "cache": .object([]),
      "timings": .members(["send": .integer(0), "wait": .milliseconds(duration), "receive": .integer(0)]),
      "comment": comment, "_resourceType": .string("fetch"), "_fromCache": isCached ? .string("memory") : nil,
      "_requestBehaviors": .members(["call": .integer(call.number), "send": .integer(0)]),
    ])
  }

  private func json(of send: RecordedSend) -> OrderedJSON {
    let times = HARTimes(send)
    let connection = send.timings?.connection
    let version = connection?.protocolName ?? "unknown"
    let isEvents = send.responseHeaders[.contentType]?.hasPrefix("text/event-stream") == true
    return .members([
      "pageref": .string("call_\(call.number)"), "startedDateTime": .string(recording.timestamp(send.startedAt)),
      "time": .milliseconds(times.total),
      "request": request(
        send.method, send.url, send.requestHeaders, version, bytes: send.requestBytes, body: send.requestBody),
      "response": HARResponse(send, version: version).json, "cache": .object([]), "timings": times.json,
      "serverIPAddress": connection?.remoteAddress.map { .string(HAREntries.host(of: $0)) },
      "comment": send.number == 1 ? comment : nil,
      "_resourceType": .string(isEvents ? "eventsource" : "fetch"),
      "_requestBehaviors": .members([
        "call": .integer(call.number), "send": .integer(send.number), "startedAt": .milliseconds(send.startedAt),
        "endedAt": send.endedAt.map { .milliseconds($0) }, "outcome": send.outcome.json,
        "firstByteAt": send.timings?.firstByte.map { .milliseconds($0) },
        "lastByteAt": send.timings?.lastByte.map { .milliseconds($0) },
        "isReused": connection.map { .bool($0.isReused) },
        "chunks": send.chunks.isEmpty
          ? nil : .array(send.chunks.map { .array([.milliseconds($0.at - send.startedAt), .integer($0.bytes)]) }),
      ]),
    ])
  }

  private func request(
    _ method: String, _ url: String, _ headers: HeaderFields, _ version: String, bytes: Int64?, body: String?
  ) -> OrderedJSON {
    .members([
      "method": .string(method), "url": .string(url), "httpVersion": .string(version), "cookies": .array([]),
      "headers": headers.har, "queryString": OrderedJSON.query(of: url), "headersSize": .integer(-1),
      "bodySize": .integer(bytes ?? (headers.contains("Content-Type") ? -1 : 0)),
      "postData": body.map {
        .members(["mimeType": .string(headers[.contentType] ?? ""), "text": .string($0)])
      },
    ])
  }

  /// The decisions in words.
  private var comment: OrderedJSON? {
    call.decisions.isEmpty ? nil : .string(call.decisions.map(\.message).joined(separator: "; "))
  }

  /// Returns an address without its port and brackets.
  static func host(of address: String) -> String {
    if let end = address.lastIndex(of: "]") { return String(address[..<end].dropFirst()) }
    guard address.utf8.count(where: { $0 == UInt8(ascii: ":") }) == 1 else { return address }
    return String(address.prefix { $0 != ":" })
  }
}

extension HeaderFields {
  /// The fields as HAR writes them.
  package var har: OrderedJSON {
    .array(map { .members(["name": .string($0.name), "value": .string($0.value)]) })
  }

  /// Reads a list of fields as HAR writes it; pseudo fields such as `:authority` are dropped.
  package init(har list: OrderedJSON?) {
    self.init(
      (list?.elements ?? []).compactMap { field in
        guard let name = field["name"]?.text, !name.hasPrefix(":") else { return nil }
        return Field(name, field["value"]?.text ?? "")
      })
  }
}

/// The response of an entry.
private struct HARResponse {
  private let status: Int
  private let version: String
  private let headers: HeaderFields
  private let bytes: Int
  private let bodyBytes: Int
  private let text: String?
  private let error: String?

  init(status: Int, headers: HeaderFields, bytes: Int, bodyBytes: Int, error: String?) {
    (self.status, self.headers, self.bytes, self.bodyBytes) = (status, headers, bytes, bodyBytes)
    (version, text, self.error) = ("unknown", nil, error)
  }

  init(_ send: RecordedSend, version: String) {
    self.version = version
    headers = send.responseHeaders
    text = send.responseBody
    let received = send.chunks.map(\.bytes).boundedSum
    switch send.outcome {
    case .response(let statusCode, let count):
      (status, bytes, bodyBytes, error) = (statusCode, count ?? received, -1, nil)
    case .failure(let code, let message):
      (status, bytes, bodyBytes, error) = (0, received, -1, (code.map { "\($0): " } ?? "") + message)
    case .cancelled: (status, bytes, bodyBytes, error) = (0, received, -1, "cancelled")
    case .underWay: (status, bytes, bodyBytes, error) = (0, received, -1, "under way")
    }
  }

  var json: OrderedJSON {
    .members([
      "status": .integer(status), "statusText": .string(""), "httpVersion": .string(version), "cookies": .array([]),
      "headers": headers.har,
      "content": .members([
        "size": .integer(bytes), "mimeType": .string(headers[.contentType] ?? "x-unknown"),
        "text": text.map { .string($0) },
      ]),
      "redirectURL": .string(headers["Location"] ?? ""), "headersSize": .integer(-1), "bodySize": .integer(bodyBytes),
      "_transferSize": .integer(bodyBytes == 0 ? 0 : bytes), "_error": error.map { .string($0) },
    ])
  }
}

/// The phases of a send; those of a HAR add up to its `time`, in which `connect` contains `ssl`.
struct HARTimes {
  let blocked: Duration?
  let lookup: Duration?
  let connect: Duration?
  let ssl: Duration?
  let wait: Duration
  let receive: Duration

  init(_ send: RecordedSend) {
    let connection = send.timings?.connection
    blocked = connection?.queued
    lookup = connection?.nameLookup
    ssl = connection?.securing
    connect = connection.flatMap { facts in
      facts.connecting == nil && facts.securing == nil
        ? nil : (facts.connecting ?? .zero) + (facts.securing ?? .zero)
    }
    let end = max(send.startedAt, send.timings?.lastByte ?? send.endedAt ?? send.startedAt)
    let first = min(end, max(send.startedAt, send.timings?.firstByte ?? end))
    let before = (blocked ?? .zero) + (lookup ?? .zero) + (connect ?? .zero)
    wait = max(.zero, first - send.startedAt - before)
    receive = end - first
  }

  var total: Duration {
    (blocked ?? .zero) + (lookup ?? .zero) + (connect ?? .zero) + wait + receive
  }

  var json: OrderedJSON {
    .members([
      "blocked": HARTimes.json(blocked), "dns": HARTimes.json(lookup), "connect": HARTimes.json(connect),
      "ssl": HARTimes.json(ssl), "send": .integer(0), "wait": .milliseconds(wait),
      "receive": .milliseconds(receive),
    ])
  }

  /// The time in milliseconds; −1 if it is unknown or there was no such phase.
  private static func json(_ time: Duration?) -> OrderedJSON { time.map { .milliseconds($0) } ?? .integer(-1) }
}

extension OrderedJSON {
  /// The items of a URL's query, which has been redacted.
  package static func query(of url: String) -> OrderedJSON {
    guard let mark = url.firstIndex(of: "?") else { return .array([]) }
    let items = url[url.index(after: mark)...].split { $0 == "&" || $0 == ";" }
    return .array(
      items.map { item in
        let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        return .members([
          "name": .string(decoded(parts[0])), "value": .string(parts.count > 1 ? decoded(parts[1]) : ""),
        ])
      })
  }

  private static func decoded(_ text: Substring) -> String {
    text.replacing("+", with: " ").removingPercentEncoding ?? String(text)
  }
}
