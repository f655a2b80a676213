import Foundation
import RequestBehaviors

/// Plays one entry to one request.
struct CassettePlayer: Sendable {
  private let entry: CassetteEntry
  private let pace: ReplayPace
  private let request: NetworkRequest
  private let start: Duration
  private let body: Data

  /// - Throws: ``CassetteError`` if the entry lacks its body.
  init(
    _ entry: CassetteEntry, folder: URL, pace: ReplayPace, _ request: NetworkRequest,
    at start: Duration
  ) throws {
    (self.entry, self.pace, self.request, self.start) = (entry, pace, request, start)
    body = try CassettePlayer.body(of: entry, folder: folder)
  }

  private static func body(of entry: CassetteEntry, folder: URL) throws -> Data {
    let content = entry.json["response"]?["content"]
    if lacksBody(entry) {
      throw CassetteError(
        "entry \(entry) is of a CallRecorder, which does not have the whole body; make a test of the archive by "
          + "Recording(har:) and reproduction(named:), or record a cassette")
    }
    if let name = content?["_file"]?.text {
      // The name of a cassette may hold dots, as in `v1..v2`.
      guard !name.split(separator: "/").contains(".."), let data = try? Data(contentsOf: folder.appending(path: name))
      else {
        throw CassetteError(
          "the body of entry \(entry) is not in \(name) beside the cassette; record it again")
      }
      return data
    }
    guard let text = content?["text"]?.text else {
      guard content?["size"]?.int ?? 0 <= 0 else {
        throw CassetteError(
          "entry \(entry) was recorded without its body; export the file with its contents")
      }
      return Data()
    }
    guard content?["encoding"]?.text == "base64" else { return Data(text.utf8) }
    guard let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else {
      throw CassetteError("the body of entry \(entry) is not base64")
    }
    return data
  }

  /// Whether an entry is of a recorder that did not keep the whole body: of a call without a send, such as a cache hit,
  /// or with a remark for people in place of bytes.
  private static func lacksBody(_ entry: CassetteEntry) -> Bool {
    let extras = entry.json["_requestBehaviors"]
    guard extras?["call"] != nil, entry.statusCode > 0 else { return false }
    return extras?["send"]?.int == 0 || Redactor.hasRemark(entry.json["response"]?["content"]?["text"]?.text ?? "")
  }

  private var extras: OrderedJSON? { entry.json["_requestBehaviors"] }

  /// The error at the end, as it was.
  private var failure: NetworkError? {
    let end = extras?["end"]
    if end?["error"]?.text == "cancelled" {
      return NetworkError(
        .unmatchedRequest,
        "the recording of entry \(entry.number) ends here, because its reader left the stream; record it again",
        request: request)
    }
    guard let code = end?["error"]?.text else {
      if let failure = entry.foreignFailure(after: body.count, to: request) { return failure }
      guard entry.statusCode <= 0 else { return nil }
      return NetworkError(
        .connectionLost, "the recording has no response to this request", request: request)
    }
    var error = NetworkError(
      NetworkError.Code(rawValue: code), end?["message"]?.text ?? "as recorded", request: request)
    if let delay = end?["repeatAfter"]?.milliseconds {
      error.availableAt = request.call.clock.date().addingTimeInterval(delay.inSeconds)
    }
    let stage = end?["stage"]?.text.flatMap { NetworkError.Progress.Stage(name: $0) }
    let isReused: Bool? = if case .bool(let isReused) = end?["reused"] { isReused } else { nil }
    error.progress = stage.map { NetworkError.Progress($0, reusedConnection: isReused) }
    return error
  }

  func response() async throws -> NetworkResponse {
    let end = extras?["end"]?["at"]?.milliseconds ?? (entry.isForeign ? entry.json["time"]?.milliseconds : nil)
    guard entry.statusCode > 0 else {
      try await wait(until: end ?? .zero, since: .zero)
      throw failure ?? CancellationError()
    }
    let head =
      extras?["head"]?.milliseconds ?? entry.json["timings"]?["wait"]?.milliseconds ?? .zero
    try await wait(until: max(.zero, head), since: .zero)
    let stream = CassetteStream(
      schedule: schedule(head: head), failure: failure, endsAt: start + pace.time(end ?? .zero),
      trailers: extras?["trailers"].map { HeaderFields(har: $0) }, request: request,
      deadline: request.bodyDeadline(status: entry.statusCode, sentAt: start))
    let now = request.call.clock.now()
    var response = NetworkResponse(
      request: request, statusCode: entry.statusCode, headers: headers,
      body: .stream(stream.byteStream),
      timings: ResponseTimings(sent: start, firstByte: now, lastByte: nil), source: .mock)
    response.interimResponses = (extras?["interim"]?.elements ?? []).compactMap { interim in
      interim["status"]?.int.map { InterimResponse(statusCode: $0, headers: HeaderFields(har: interim["headers"])) }
    }
    return request.options.delivery == .buffered ? try await response.buffered() : response
  }

  private func wait(until time: Duration, since last: Duration) async throws {
    let due = pace.time(time)
    let limit = [request.idleTimeout, request.timeout].compactMap(\.self).min()
    let now = request.call.clock.now() - start
    // No server responds within no time, whatever the pace.
    let hasNoTime = limit.map { $0 <= .zero } ?? false
    guard due > now || hasNoTime else { return }
    if let limit, limit <= max(.zero, due) {
      try await request.call.clock.sleep(for: limit - now)
      throw NetworkError(
        .timedOut, "no response came within \(limit); the recorded one came after \(due)",
        request: request)
    }
    try await request.call.clock.sleep(for: due - now)
  }

  /// The fields, in which echoes have the values of this request, and the length of a whole body is that of the file.
  private var headers: HeaderFields {
    var headers = HeaderFields(
      (entry.json["response"]?["headers"]?.elements ?? []).compactMap { field in
        guard let name = field["name"]?.text, !name.hasPrefix(":") else { return nil }
        let recorded = field["value"]?.text ?? ""
        let echoed = field["_echo"]?.text.flatMap { request.headers[$0] }
        return HeaderFields.Field(name, echoed ?? recorded)
      })
    // The body may have been edited since.
    if failure == nil, let length = entry.announcedLength, length != body.count {
      headers["Content-Length"] = "\(body.count)"
    }
    // Other tools write text as Unicode, whatever it was before, and it is played as UTF-8.
    if entry.isForeign, entry.json["response"]?["content"]?["encoding"] == nil, let type = headers[.contentType] {
      headers[.contentType] = CassettePlayer.withoutCharset(type)
    }
    return headers
  }

  private static func withoutCharset(_ type: String) -> String {
    type.split(separator: ";").filter { !$0.lowercased().contains("charset=") }.joined(separator: ";")
  }

  /// The chunks with the times at which they are due.
  private func schedule(head: Duration) -> [CassetteStream.Chunk] {
    var offset = 0
    var chunks = (extras?["chunks"]?.elements ?? []).compactMap { item -> CassetteStream.Chunk? in
      guard item.elements.count == 2, let at = item.elements[0].milliseconds,
        let length = item.elements[1].int
      else {
        return nil
      }
      let next = min(body.count, offset + max(0, length))
      defer { offset = next }
      return CassetteStream.Chunk(at: start + pace.time(at), data: body.subdata(in: offset..<next))
    }
    if chunks.isEmpty, !body.isEmpty {
      let end = entry.json["time"]?.milliseconds ?? head
      return [CassetteStream.Chunk(at: start + pace.time(max(head, end)), data: body)]
    }
    // The body may have been edited since.
    if offset < body.count, let last = chunks.last {
      chunks[chunks.count - 1].data = last.data + body.subdata(in: offset..<body.count)
    }
    return chunks.filter { !$0.data.isEmpty }
  }
}

/// A body whose chunks are due at absolute times, so that a slow reader does not delay those that follow.
final class CassetteStream: Sendable {
  struct Chunk: Sendable {
    let at: Duration
    var data: Data
  }

  private let schedule: [Chunk]
  private let failure: NetworkError?
  private let endsAt: Duration
  private let trailers: HeaderFields?
  private let request: NetworkRequest
  private let clock: RequestClock
  private let idleTimeout: Duration?
  private let deadline: Duration?
  private let paced: PacedBody
  private let next = Locked(0)

  init(
    schedule: [Chunk], failure: NetworkError?, endsAt: Duration, trailers: HeaderFields?,
    request: NetworkRequest, deadline: Duration?
  ) {
    (self.schedule, self.failure, self.endsAt, self.trailers) = (
      schedule, failure, endsAt, trailers
    )
    self.request = request
    clock = request.call.clock
    paced = PacedBody(clock)
    idleTimeout = request.idleTimeout
    self.deadline = deadline
  }

  var byteStream: ByteStream {
    paced.stream(trailers: trailers) { try await self.nextChunk() }
  }

  private func nextChunk() async throws -> Data? {
    try Task.checkCancellation()
    let index = next.withLock { next in
      defer { next += 1 }
      return next
    }
    let last =
      index == 0 || schedule.isEmpty ? clock.now() : schedule[min(index, schedule.count) - 1].at
    guard index < schedule.count else {
      guard index == schedule.count, let failure else { return nil }
      try await wait(until: endsAt, after: last)
      throw failure
    }
    try await wait(until: schedule[index].at, after: last)
    return schedule[index].data
  }

  /// Waits until a chunk is due, or one of the request's timeouts is over.
  private func wait(until due: Duration, after last: Duration) async throws {
    let now = clock.now()
    guard due > now else { return }
    let limit = [idleTimeout.map { max(now, last) + $0 }, deadline].compactMap(\.self).min()
    let isLate = limit.map { $0 <= due } ?? false
    let time = (isLate ? limit ?? due : due) - now
    try await paced.wait(for: max(.zero, time))
    if isLate {
      var error = NetworkError(
        .timedOut, "the recorded stream sends nothing for longer than the request waits", request: request)
      error.progress = NetworkError.Progress(.headReceived)
      throw error
    }
  }
}
