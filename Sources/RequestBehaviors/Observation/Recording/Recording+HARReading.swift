public import Foundation

extension Recording {
  /// Reads an HTTP archive: one that ``har()`` wrote, or that of a browser or another tool.
  ///
  /// An entry of another tool becomes a call with one send. Pseudo fields such as `:authority` are dropped. Nothing is
  /// redacted: what the file shows, the recording shows, and the page of an archive of another tool says so.
  ///
  /// - Parameter har: JSON in UTF-8.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/decodingFailed`` if it is no HAR, with the
  ///   place.
  public init(har: Data) throws {
    let json: OrderedJSON
    do { json = try OrderedJSON(parsing: har) } catch { throw NetworkError.notHAR("\(error)") }
    guard let log = json["log"], let entries = log["entries"] else {
      throw NetworkError.notHAR("it has no member log with entries")
    }
    let read = try entries.elements.enumerated().map { index, entry in try HARReader(entry, index: index) }
    let ours = (log["pages"]?.elements ?? []).filter { $0["_requestBehaviors"]?["call"] != nil }
    startedAt = read.map(\.startedAt).min() ?? Date(timeIntervalSince1970: 0)
    droppedCalls = log["_requestBehaviors"]?["droppedCalls"]?.int ?? 0
    failure = RecordedFailure(log["_requestBehaviors"]?["failure"])
    calls = []
    if ours.isEmpty {
      isForeign = true
      let origin = startedAt
      calls = read.enumerated().map { $1.call(number: UInt64($0 + 1), since: origin) }
    } else {
      let entries = Dictionary(grouping: read) { $0.callNumber }
      calls = ours.compactMap { HARReader.call(page: $0, entries) }
      if let seconds = log["_requestBehaviors"]?["startedAt"]?.double {
        startedAt = Date(timeIntervalSince1970: seconds)
      }
    }
  }
}

extension NetworkError {
  fileprivate static func notHAR(_ reason: String) -> NetworkError {
    NetworkError(.decodingFailed, "the data is not an HTTP archive (HAR 1.2): \(reason)")
  }
}

/// One entry of a HAR.
private struct HARReader {
  private let entry: OrderedJSON
  let startedAt: Date
  private let method: String
  private let url: String

  init(_ entry: OrderedJSON, index: Int) throws {
    guard let text = entry["startedDateTime"]?.text, let date = ISO8601.date(from: text) else {
      throw NetworkError.notHAR("entry \(index) has no startedDateTime")
    }
    guard let method = entry["request"]?["method"]?.text, let url = entry["request"]?["url"]?.text else {
      throw NetworkError.notHAR("entry \(index) has no request with a method and a URL")
    }
    guard entry["response"]?["status"]?.int != nil else {
      throw NetworkError.notHAR("entry \(index) has no response with a status")
    }
    (self.entry, startedAt, self.method, self.url) = (entry, date, method, url)
  }

  // MARK: Entries of other tools

  func call(number: UInt64, since origin: Date) -> RecordedCall {
    let start = Duration(clamping: startedAt.timeIntervalSince(origin))
    let end = start + (entry["time"]?.milliseconds ?? .zero)
    let status = entry["response"]?["status"]?.int ?? 0
    let isCached = entry["_fromCache"] != nil
    let message = entry["response"]?["_error"]?.text ?? "no response"
    let send = send(number: 1, start: start, end: end)
    return RecordedCall(
      number: number, method: method, url: url, startedAt: start, endedAt: end,
      outcome: status > 0 ? .response(statusCode: status) : .failure(code: nil, message: message),
      source: isCached ? .cache : .network, sends: isCached ? [] : [send])
  }

  private func send(number: Int, start: Duration, end: Duration) -> RecordedSend {
    let response = entry["response"]
    let status = response?["status"]?.int ?? 0
    var timings = ResponseTimings(
      sent: start, firstByte: end - (HARReader.phase(entry["timings"]?["receive"]) ?? .zero), lastByte: end)
    timings.connection = connection
    let size = entry["response"]?["content"]?["size"]?.int
    return RecordedSend(
      number: number, method: method, url: url, startedAt: start, endedAt: end,
      outcome: status > 0
        ? .response(statusCode: status, bytes: size)
        : .failure(code: nil, message: response?["_error"]?.text ?? "no response"),
      timings: status > 0 ? timings : nil, requestHeaders: HeaderFields(har: entry["request"]?["headers"]),
      responseHeaders: HeaderFields(har: response?["headers"]),
      requestBytes: entry["request"]?["bodySize"]?.int.map { Int64($0) },
      requestBody: entry["request"]?["postData"]?["text"]?.text,
      responseBody: response?["content"]?["encoding"] == nil ? response?["content"]?["text"]?.text : nil)
  }

  private var connection: ConnectionTimings {
    let phases = entry["timings"]
    let connect = HARReader.phase(phases?["connect"])
    let ssl = HARReader.phase(phases?["ssl"])
    return ConnectionTimings(
      queued: HARReader.phase(phases?["blocked"]), nameLookup: HARReader.phase(phases?["dns"]),
      connecting: connect.map { $0 - (ssl ?? .zero) }, securing: ssl,
      isReused: ours?["isReused"]?.isTrue ?? (connect == nil), protocolName: version,
      remoteAddress: entry["serverIPAddress"]?.text)
  }

  private var version: String? {
    let version = entry["response"]?["httpVersion"]?.text
    return version == "unknown" ? nil : version
  }

  /// A phase; `nil` for −1 and `null`.
  private static func phase(_ value: OrderedJSON?) -> Duration? {
    value?.milliseconds.flatMap { $0 < .zero ? nil : $0 }
  }

  // MARK: Our own entries

  private var ours: OrderedJSON? { entry["_requestBehaviors"] }

  /// The number of the call that made the send; `nil` for an entry of another tool.
  var callNumber: Int? { ours?["call"]?.int }

  /// Returns the call of one of our pages, with its sends.
  static func call(page: OrderedJSON, _ entries: [Int?: [HARReader]]) -> RecordedCall? {
    guard let facts = page["_requestBehaviors"], let number = facts["call"]?.int else { return nil }
    return RecordedCall(
      number: UInt64(max(0, number)), parent: facts["parent"]?.int.map { UInt64(max(0, $0)) },
      purpose: Call.Purpose(rawValue: facts["purpose"]?.text ?? Call.Purpose.request.rawValue),
      method: facts["method"]?.text ?? "?", url: facts["url"]?.text ?? "?", endpoint: facts["endpoint"]?.text ?? "",
      startedAt: facts["startedAt"]?.milliseconds ?? .zero, endedAt: facts["endedAt"]?.milliseconds,
      outcome: RecordedCall.Outcome(facts["outcome"]),
      source: facts["source"]?.text.map { ResponseSource(rawValue: $0) },
      sends: (entries[number] ?? []).compactMap(\.ownSend).sorted { $0.number < $1.number },
      decisions: (facts["decisions"]?.elements ?? []).map(RecordedDecision.init))
  }

  /// The timings of one of our sends, which a send that failed in its body has too; `nil` if no head arrived.
  private func timings(_ start: Duration, _ facts: OrderedJSON) -> ResponseTimings? {
    let (first, last) = (facts["firstByteAt"]?.milliseconds, facts["lastByteAt"]?.milliseconds)
    guard first != nil || last != nil else { return nil }
    var timings = ResponseTimings(sent: start, firstByte: first, lastByte: last)
    if facts["isReused"] != nil { timings.connection = connection }
    return timings
  }

  private var ownSend: RecordedSend? {
    guard let facts = ours, let number = facts["send"]?.int, number > 0 else { return nil }
    let start = facts["startedAt"]?.milliseconds ?? .zero
    var send = send(number: number, start: start, end: facts["endedAt"]?.milliseconds ?? start)
    send.endedAt = facts["endedAt"]?.milliseconds
    send.outcome = RecordedSend.Outcome(facts["outcome"])
    send.timings = timings(start, facts)
    if entry["request"]?["bodySize"]?.int ?? 0 < 1 { send.requestBytes = nil }
    send.chunks = (facts["chunks"]?.elements ?? []).compactMap { chunk in
      guard chunk.elements.count == 2, let at = chunk.elements[0].milliseconds, let bytes = chunk.elements[1].int else {
        return nil
      }
      return RecordedSend.Chunk(at: start + at, bytes: bytes)
    }
    return send
  }
}

extension RecordedCall.Outcome {
  fileprivate init(_ json: OrderedJSON?) {
    switch json?["kind"]?.text {
    case "response": self = .response(statusCode: json?["status"]?.int ?? 0)
    case "failure": self = .failure(code: json?["code"]?.text, message: json?["message"]?.text ?? "")
    case "cancelled": self = .cancelled
    default: self = .underWay
    }
  }
}

extension RecordedSend.Outcome {
  fileprivate init(_ json: OrderedJSON?) {
    switch json?["kind"]?.text {
    case "response": self = .response(statusCode: json?["status"]?.int ?? 0, bytes: json?["bytes"]?.int)
    case "failure": self = .failure(code: json?["code"]?.text, message: json?["message"]?.text ?? "")
    case "cancelled": self = .cancelled
    default: self = .underWay
    }
  }
}

extension RecordedDecision {
  fileprivate init(_ json: OrderedJSON) {
    self.init(
      at: json["at"]?.milliseconds ?? .zero, duration: json["duration"]?.milliseconds,
      source: json["source"]?.text ?? "", message: json["message"]?.text ?? "",
      kind: Call.Event.Kind(rawValue: json["kind"]?.text ?? "other"))
  }
}
