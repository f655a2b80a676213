import Foundation
import RequestBehaviors
import Testing

/// The calls in the picture of "Looking at what a client did".
///
/// `UPDATE_PICTURES=page.html swift test --filter WaterfallPictureTests` writes the page of which the picture is taken.
@Suite(.limited) struct WaterfallPictureTests {
  @Test func `the picture has each mark that the article explains`() throws {
    let page = Self.recording.waterfall(title: "A shop")
    let html = String(decoding: page, as: UTF8.self)
    let marks = [
      "class=\"dns\"", "class=\"tcp\"", "class=\"tls\"", "class=\"ttfb\"", "class=\"recv\"", "<b style=\"left:",
      "class=\"held\"", "--lane:1", "class=\"gem\"", "class=\"stop\"", "call child",
    ]
    let missing = marks.filter { !html.contains($0) }
    #expect(missing.isEmpty)
    #expect(Self.recording.calls.count == 7)
    guard let path = ProcessInfo.processInfo.environment["UPDATE_PICTURES"] else { return }
    try page.write(to: URL(filePath: path))
  }

  private static func milliseconds(_ time: Int) -> Duration { .milliseconds(time) }

  private static func call(
    _ number: UInt64, _ path: String, _ times: ClosedRange<Int>,
    _ outcome: RecordedCall.Outcome = .response(statusCode: 200), method: String = "GET"
  ) -> RecordedCall {
    RecordedCall(
      number: number, method: method, url: "https://shop.example.com/v1/\(path)",
      startedAt: milliseconds(times.lowerBound), endedAt: milliseconds(times.upperBound), outcome: outcome,
      source: .network)
  }

  /// Adds a send; a new connection has the phases of its beginning.
  private static func add(
    to call: inout RecordedCall, _ times: ClosedRange<Int>, head: Int,
    _ outcome: RecordedSend.Outcome = .response(statusCode: 200, bytes: 1_840), isNew: Bool = false, chunks: [Int] = []
  ) {
    let (start, end) = (milliseconds(times.lowerBound), milliseconds(times.upperBound))
    var timings = ResponseTimings(sent: start, firstByte: milliseconds(head), lastByte: end)
    timings.connection = ConnectionTimings(
      queued: nil, nameLookup: isNew ? milliseconds(24) : nil, connecting: isNew ? milliseconds(31) : nil,
      securing: isNew ? milliseconds(46) : nil, isReused: !isNew, protocolName: "h2", remoteAddress: nil)
    call.sends.append(
      RecordedSend(
        number: call.sends.count + 1, method: call.method, url: call.url, startedAt: start, endedAt: end,
        outcome: outcome, timings: outcome == .cancelled ? nil : timings,
        chunks: chunks.map { RecordedSend.Chunk(at: milliseconds($0), bytes: 64) }))
  }

  private static func decision(
    _ time: Int, lasting length: Int? = nil, _ source: String, _ message: String, _ kind: Call.Event.Kind
  ) -> RecordedDecision {
    RecordedDecision(
      at: milliseconds(time), duration: length.map(milliseconds), source: source, message: message, kind: kind)
  }

  private static var recording: Recording {
    var recording = Recording(startedAt: Date(timeIntervalSince1970: 1_795_396_495))
    recording.calls = [profile, token, offers, stock, feed, cached, refused]
    return recording
  }

  private static var profile: RecordedCall {
    var call = call(1, "me", 0...372)
    call.decisions = [decision(0, lasting: 226, "TokenAuthBehavior", "waits for a token", .authentication)]
    add(to: &call, 226...372, head: 340)
    return call
  }

  private static var token: RecordedCall {
    var call = call(2, "token", 2...224, method: "POST")
    (call.parent, call.purpose) = (1, .prerequisite)
    add(to: &call, 2...224, head: 210, isNew: true)
    return call
  }

  private static var offers: RecordedCall {
    var call = call(3, "offers", 390...1_062)
    call.decisions = [
      decision(505, lasting: 412, "RetryBehavior", "retry 1 in 0.41 s, because of 503", .retry)
    ]
    add(to: &call, 390...505, head: 498, .response(statusCode: 503, bytes: 20))
    add(to: &call, 917...1_062, head: 1_020)
    return call
  }

  private static var stock: RecordedCall {
    var call = call(4, "stock", 395...871)
    call.decisions = [decision(695, "HedgingBehavior", "second request after 0.3 s", .hedge)]
    add(to: &call, 395...871, head: 871, .cancelled)
    add(to: &call, 695...870, head: 850)
    return call
  }

  private static var feed: RecordedCall {
    var call = call(5, "feed", 400...1_490)
    add(
      to: &call, 400...1_490, head: 470, .response(statusCode: 200, bytes: 768),
      chunks: [470, 520, 655, 700, 890, 905, 1_080, 1_130, 1_210, 1_330, 1_395, 1_480])
    return call
  }

  private static var cached: RecordedCall {
    var call = call(6, "logo", 1_080...1_081)
    call.source = .cache
    return call
  }

  private static var refused: RecordedCall {
    var call = call(7, "reviews", 1_100...1_101, .failure(code: "circuitOpen", message: "the circuit is open"))
    call.decisions = [decision(1_100, "CircuitBreakerBehavior", "the circuit is open", .circuitBreaker)]
    return call
  }
}
