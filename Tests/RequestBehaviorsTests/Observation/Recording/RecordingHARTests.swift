import Foundation
import RequestBehaviors
import Testing

/// The HTTP archive of a recording, against the schema of HAR 1.2 and the importer of Chromium.
@Suite(.limited) struct RecordingHARTests {
  /// The members that HAR 1.2 demands, and their types; `date` is an ISO 8601 date with a time zone.
  private indirect enum Shape: Sendable {
    case string, number, date, bool
    case list(Shape)
    case object([(String, Shape, isRequired: Bool)])
  }

  private static let pair = Shape.object([("name", .string, true), ("value", .string, true)])

  private static let request = Shape.object([
    ("method", .string, true), ("url", .string, true), ("httpVersion", .string, true), ("cookies", .list(pair), true),
    ("headers", .list(pair), true), ("queryString", .list(pair), true), ("headersSize", .number, true),
    ("bodySize", .number, true),
    ("postData", .object([("mimeType", .string, true), ("text", .string, true)]), false),
  ])

  private static let response = Shape.object([
    ("status", .number, true), ("statusText", .string, true), ("httpVersion", .string, true),
    ("cookies", .list(pair), true), ("headers", .list(pair), true), ("redirectURL", .string, true),
    ("headersSize", .number, true), ("bodySize", .number, true),
    ("content", .object([("size", .number, true), ("mimeType", .string, true), ("text", .string, false)]), true),
  ])

  private static let entry = Shape.object([
    ("pageref", .string, false), ("startedDateTime", .date, true), ("time", .number, true), ("request", request, true),
    ("response", response, true), ("cache", .object([]), true), ("comment", .string, false),
    ("serverIPAddress", .string, false), ("connection", .string, false), ("_resourceType", .string, true),
    (
      "timings",
      .object([
        ("send", .number, true), ("wait", .number, true), ("receive", .number, true), ("blocked", .number, false),
        ("dns", .number, false), ("connect", .number, false), ("ssl", .number, false),
      ]), true
    ),
  ])

  private static let page = Shape.object([
    ("startedDateTime", .date, true), ("id", .string, true), ("title", .string, true),
    (
      "pageTimings", .object([("onContentLoad", .number, false), ("onLoad", .number, false)]), true
    ),
  ])

  private static let archive = Shape.object([
    (
      "log",
      .object([
        ("version", .string, true), ("creator", .object([("name", .string, true), ("version", .string, true)]), true),
        ("pages", .list(page), false), ("entries", .list(entry), true),
      ]), true
    )
  ])

  private func violations(_ value: Any?, _ shape: Shape, at place: String) -> [String] {
    switch shape {
    case .string: return value is String ? [] : ["\(place) is no string"]
    case .number: return value is NSNumber ? [] : ["\(place) is no number"]
    case .bool: return value is Bool ? [] : ["\(place) is no boolean"]
    case .date:
      let text = value as? String ?? ""
      let isDate = (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text)) != nil
      return isDate ? [] : ["\(place) is no date: \(text)"]
    case .list(let element):
      guard let list = value as? [Any] else { return ["\(place) is no array"] }
      return list.enumerated().flatMap { violations($1, element, at: "\(place)/\($0)") }
    case .object(let members):
      guard let object = value as? [String: Any] else { return ["\(place) is no object"] }
      return members.flatMap { name, shape, isRequired -> [String] in
        guard let member = object[name] else { return isRequired ? ["\(place)/\(name) is missing"] : [] }
        return violations(member, shape, at: "\(place)/\(name)")
      }
    }
  }

  private func entries(_ har: Data) throws -> [[String: Any]] {
    let json = try #require(try JSONSerialization.jsonObject(with: har) as? [String: Any])
    let log = try #require(json["log"] as? [String: Any])
    return try #require(log["entries"] as? [[String: Any]])
  }

  @Test func `a thousand recordings at random are HAR 1.2`() throws {
    var samples = RecordingSamples(seed: 32)
    for _ in 0..<1_000 {
      let har = samples.recording(of: 2).har()
      let found = violations(try JSONSerialization.jsonObject(with: har), Self.archive, at: "")
      #expect(found.isEmpty)
      if !found.isEmpty { return }
    }
  }

  @Test func `the phases add up to the time, connecting contains TLS, and only unknown phases are negative`() throws {
    var samples = RecordingSamples(seed: 1)
    for entry in try entries(samples.recording(of: 300).har()) {
      let timings = try #require(entry["timings"] as? [String: Double])
      let sum = timings.filter { $0.key != "ssl" && $0.value > 0 }.values.reduce(0, +)
      #expect(abs(sum - (entry["time"] as? Double ?? -1)) < 0.02)
      #expect((timings["ssl"] ?? -1) <= max(timings["connect"] ?? -1, -1) + 0.001)
      #expect(timings.values.allSatisfy { $0 >= 0 || $0 == -1 })
    }
  }

  @Test func `there is an entry for each send and one for each call without a send, sorted by time`() throws {
    var samples = RecordingSamples(seed: 2)
    let recording = samples.recording(of: 200)
    let entries = try entries(recording.har())
    #expect(entries.count == recording.calls.reduce(0) { $0 + max(1, $1.sends.count) })
    let dates = entries.compactMap { $0["startedDateTime"] as? String }
    #expect(dates == dates.sorted())
  }

  @Test func `reading a written archive returns the same recording`() throws {
    var samples = RecordingSamples(seed: 3)
    let recording = samples.recording(of: 100)
    let read = try Recording(har: recording.har())
    #expect(read.calls.count == 100)
    #expect(read.droppedCalls == recording.droppedCalls)
    for (mine, other) in zip(recording.calls, read.calls) {
      #expect(mine.number == other.number)
      #expect(mine.outcome == other.outcome)
      #expect(mine.startedAt == other.startedAt)
      #expect(mine.decisions.map(\.message) == other.decisions.map(\.message))
      #expect(mine.sends.map(\.outcome) == other.sends.map(\.outcome))
      #expect(mine.sends.map(\.requestHeaders) == other.sends.map(\.requestHeaders))
      #expect(mine.sends.map(\.chunks.count) == other.sends.map(\.chunks.count))
      #expect(mine.sends.map { $0.timings == nil } == other.sends.map { $0.timings == nil })
      #expect(mine.sends.map { $0.timings?.connection == nil } == other.sends.map { $0.timings?.connection == nil })
      for (send, read) in zip(mine.sends, other.sends) {
        let difference = (send.timings?.firstByte ?? .zero) - (read.timings?.firstByte ?? .zero)
        #expect(abs(difference.inSeconds) < 0.000_001)
      }
    }
    #expect(read.har() == (try Recording(har: read.har())).har())
  }

  @Test func `the archive of a browser is read, with one call for each entry`() throws {
    let har = #"""
      {"log": {"version": "1.2", "creator": {"name": "WebInspector", "version": "537.36"},
        "pages": [{"startedDateTime": "2026-11-23T01:14:55.293Z", "id": "page_1", "title": "x", "pageTimings": {}}],
        "entries": [{"_initiator": {"type": "other"}, "_priority": "High", "cache": {}, "connection": "42",
          "pageref": "page_1", "startedDateTime": "2026-11-23T01:14:55.293+01:00", "time": 120.5,
          "request": {"method": "GET", "url": "https://shop.example.com/?a=1", "httpVersion": "http/2.0",
            "headers": [{"name": ":authority", "value": "shop.example.com"}, {"name": "accept", "value": "*/*"}],
            "queryString": [], "cookies": [], "headersSize": -1, "bodySize": 0},
          "response": {"status": 200, "statusText": "", "httpVersion": "http/2.0", "cookies": [], "headers": [],
            "content": {"size": 12, "mimeType": "text/html"}, "redirectURL": "", "headersSize": -1, "bodySize": -1},
          "timings": {"blocked": 2.5, "dns": null, "connect": 30, "ssl": 20, "send": 0.5, "wait": 60, "receive": 27}}]}}
      """#
    let recording = try Recording(har: Data(har.utf8))
    let send = try #require(recording.calls.first?.sends.first)
    #expect(recording.calls.count == 1)
    #expect(send.requestHeaders.map(\.name) == ["accept"])
    #expect(send.endedAt == .microseconds(120_500))
    #expect(send.timings?.connection?.securing == .milliseconds(20))
    #expect(send.timings?.connection?.nameLookup == nil)
  }

  @Test(arguments: ["", "{", "[]", #"{"log": {}}"#, #"{"log": {"entries": [{}]}}"#, "nil"])
  func `an invalid archive is refused with the place`(text: String) throws {
    let error = #expect(throws: NetworkError.self) { try Recording(har: Data(text.utf8)) }
    #expect(error?.code == .decodingFailed)
    #expect(error?.message.hasPrefix("the data is not an HTTP archive (HAR 1.2): ") == true)
  }
}
