import Foundation
import Testing

// The parser is not public: what it does with every way to cut a stream into chunks is quicker to see without a client.
@testable import RequestBehaviors

/// How bytes become server-sent events.
@Suite(.limited) struct EventParserTests {
  private static func events(_ chunks: [Data], limit: Int = 10_000) throws -> [ServerSentEvent] {
    var parser = EventParser(limit: limit)
    var events: [ServerSentEvent] = []
    for chunk in chunks {
      parser.add(chunk)
      while let event = try parser.next() { events.append(event) }
    }
    return events
  }

  struct Example: Sendable {
    let text: String
    let events: [ServerSentEvent]

    init(_ text: String, _ events: ServerSentEvent...) {
      self.text = text
      self.events = events
    }
  }

  /// The examples of WHATWG HTML §9.2.
  static let published: [Example] = [
    Example(
      "data: This is the first message.\n\ndata: This is the second message, it\ndata: has two lines.\n\n"
        + "data: This is the third message.\n\n",
      ServerSentEvent(data: "This is the first message."),
      ServerSentEvent(data: "This is the second message, it\nhas two lines."),
      ServerSentEvent(data: "This is the third message.")),
    Example(
      "event: add\ndata: 73857293\n\nevent: remove\ndata: 2153\n\nevent: add\ndata: 113411\n\n",
      ServerSentEvent(type: "add", data: "73857293"), ServerSentEvent(type: "remove", data: "2153"),
      ServerSentEvent(type: "add", data: "113411")),
    Example("data: YHOO\ndata: +2\ndata: 10\n\n", ServerSentEvent(data: "YHOO\n+2\n10")),
    Example(
      ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n",
      ServerSentEvent(data: "first event", id: "1"), ServerSentEvent(data: "second event")),
    Example(
      ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
      ServerSentEvent(data: "first event", id: "1"), ServerSentEvent(data: "second event"),
      ServerSentEvent(data: " third event")),
    Example("data\n\ndata\ndata\n\ndata:", ServerSentEvent(data: ""), ServerSentEvent(data: "\n")),
    Example("data:test\n\ndata: test\n\n", ServerSentEvent(data: "test"), ServerSentEvent(data: "test")),
  ]

  /// The expected events of the rest.
  static let rules: [Example] = [
    Example("\u{FEFF}data: a\n\n\u{FEFF}data: b\n\n", ServerSentEvent(data: "a")),
    Example("data: a\r\rdata: b\r\n\r\ndata: c\n\r\n", "abc".map { ServerSentEvent(data: "\($0)") }),
    Example("data: a: b\nData: c\n data: d\ndata : e\nother: f\nother\n\n", ServerSentEvent(data: "a: b")),
    Example("event: a\n\ndata: b\n\n", ServerSentEvent(data: "b")),
    Example("d: a\ndat: b\ndata: c\neven: d\ni: 7\nretr: 5\n\n", ServerSentEvent(data: "c")),
    Example(
      "event: a\nevent: b\ndata: c\n\ndata: d\n\n", ServerSentEvent(type: "b", data: "c"), ServerSentEvent(data: "d")),
    Example("event: a\nevent\ndata: c\n\n", ServerSentEvent(data: "c")),
    Example(
      "id: 1\n\ndata: a\n\nid: 2\u{0}\ndata: b\n\nid: \u{1F600}\ndata: c\n\n", ServerSentEvent(data: "a", id: "1"),
      ServerSentEvent(data: "b", id: "1"), ServerSentEvent(data: "c", id: "\u{1F600}")),
    Example(
      "retry: 1500\ndata: a\n\nretry: -1\nretry: 2 \nretry\nretry: 9999999999999999999\ndata: b\n\n",
      ServerSentEvent(data: "a", retry: .milliseconds(1_500)), ServerSentEvent(data: "b", retry: .milliseconds(1_500))),
    Example("data: a\n: comment\ndata: b\n:\n\n", ServerSentEvent(data: "a\nb")),
    Example("data: \u{1F469}\u{200D}\u{1F680}\n\n", ServerSentEvent(data: "\u{1F469}\u{200D}\u{1F680}")),
    Example("data: a", []), Example("data: a\n", []), Example("data: a\r", []), Example("\n\n\n", []),
  ]

  @Test(arguments: published + rules)
  func `a stream gives the events of the specification wherever it is cut`(example: Example) throws {
    let body = Data(example.text.utf8)
    #expect(try EventParserTests.events([body]) == example.events)
    #expect(try EventParserTests.events(body.map { Data([$0]) }) == example.events)
    for cut in 0...body.count {
      let events = try EventParserTests.events([body.prefix(cut), body.dropFirst(cut)])
      #expect(events == example.events, "cut at \(cut)")
    }
  }

  @Test func `invalid UTF-8 is replaced, wherever the stream is cut`() throws {
    let body = Data([0x64, 0x61, 0x74, 0x61, 0x3A, 0xFF, 0xE2, 0x82, 0x0A, 0x0A])
    for cut in 0...body.count {
      let events = try EventParserTests.events([body.prefix(cut), body.dropFirst(cut)])
      #expect(events == [ServerSentEvent(data: "\u{FFFD}\u{FFFD}")])
    }
  }

  @Test func `an event is available at the CR that ends it, before the LF arrives`() throws {
    #expect(try EventParserTests.events([Data("data: a\r\n\r".utf8)]) == [ServerSentEvent(data: "a")])
  }

  @Test func `an id takes effect at the empty line that ends its event, with data or without`() throws {
    var parser = EventParser()
    parser.add(Data("id: 1\ndata: a\n\nid: 2\n\nid: 3\ndata: b\n".utf8))
    #expect(try parser.next()?.id == "1")
    #expect(try parser.next() == nil)
    #expect(parser.lastEventID == "2")
  }

  @Test func `an event is as long as the limit and no longer, and comments do not count`() throws {
    let body = Data(": comment\n:comment\ndata:1234\ndata:6789\n\n".utf8)
    #expect(try EventParserTests.events([body], limit: 18) == [ServerSentEvent(data: "1234\n6789")])
    for cut in 0...body.count {
      let error = #expect(throws: NetworkError.self) {
        try EventParserTests.events([body.prefix(cut), body.dropFirst(cut)], limit: 17)
      }
      #expect(error?.code == .lineTooLong)
      #expect(error?.message.contains("event") == true)
    }
  }

  @Test func `the id, the type and the data count towards the length of an event, and other fields do not`() throws {
    let body = Data("id:1234\nretry:5\nevent:56\nother:7\ndata:8\n\n".utf8)
    let event = ServerSentEvent(type: "56", data: "8", id: "1234", retry: .milliseconds(5))
    #expect(try EventParserTests.events([body], limit: 21) == [event])
    let error = #expect(throws: NetworkError.self) { try EventParserTests.events([body], limit: 20) }
    #expect(error?.code == .lineTooLong)
  }
}

extension EventParserTests.Example {
  fileprivate init(_ text: String, _ events: [ServerSentEvent]) {
    self.text = text
    self.events = events
  }
}
