import Foundation
import RequestBehaviors

/// Recordings at random, for what has to hold for all of them.
struct RecordingSamples {
  private var generator: SplitMix

  init(seed: UInt64) { generator = SplitMix(state: seed) }

  struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = state
      z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return z ^ (z >> 31)
    }
  }

  /// Texts that break what is quoted badly.
  static let hostile = [
    "\"><script>alert(1)</script>", "' onmouseover='alert(1)", "\u{202E}gpj.exe", "</style><script>", "a\u{0}b\n\u{7F}",
    "javascript:alert(1)", "&lt;b&gt; & <b>", "\u{1F600}\u{200D}", "\\\" \\u0000", "]]><!--",
  ]

  mutating func recording(of count: Int) -> Recording {
    var recording = Recording(startedAt: Date(timeIntervalSince1970: 1_763_860_495.25))
    for number in 0..<count { recording.calls.append(call(UInt64(number + 1))) }
    recording.calls.sort { $0.startedAt < $1.startedAt }
    recording.droppedCalls = Int.random(in: 0...2, using: &generator)
    return recording
  }

  private mutating func time(_ most: Int) -> Duration { .microseconds(Int.random(in: 0...most, using: &generator)) }

  private mutating func chance(_ share: Int) -> Bool { Int.random(in: 0..<share, using: &generator) == 0 }

  private mutating func text() -> String { Self.hostile.randomElement(using: &generator) ?? "" }

  private mutating func call(_ number: UInt64) -> RecordedCall {
    var call = RecordedCall(
      number: number, parent: chance(4) ? UInt64.random(in: 1...number, using: &generator) : nil,
      purpose: chance(4) ? .prerequisite : .request, method: chance(9) ? "M-SEARCH" : "GET",
      url: "https://api.example.com/v1/\(chance(3) ? text() : "items/\(number)")?q=REDACTED",
      endpoint: chance(2) ? "items/{}" : "", startedAt: time(5_000_000))
    var end = call.startedAt
    for _ in 0..<Int.random(in: 0...3, using: &generator) {
      let send = send(call.sends.count + 1, call, after: end)
      end = send.endedAt ?? end
      call.sends.append(send)
    }
    for _ in 0..<Int.random(in: 0...3, using: &generator) {
      call.decisions.append(
        RecordedDecision(
          at: call.startedAt + time(1_000), duration: chance(2) ? time(90_000) : nil, source: "RetryBehavior",
          message: text(), kind: chance(2) ? .retry : .limit))
    }
    if !chance(9) { call.endedAt = end + time(500) }
    call.outcome = chance(4) ? .failure(code: "timedOut", message: text()) : .response(statusCode: 200)
    if call.endedAt == nil { call.outcome = .underWay }
    call.source = chance(3) ? .cache : .network
    return call
  }

  private mutating func send(_ number: Int, _ call: RecordedCall, after start: Duration) -> RecordedSend {
    let begin = start + time(20_000)
    var send = RecordedSend(
      number: number, method: call.method, url: call.url, startedAt: begin, endedAt: begin + time(900_000))
    send.requestHeaders = ["Accept": "*/*", "X-Text": text()]
    if chance(4) {
      send.outcome = .failure(code: chance(2) ? "connectionLost" : nil, message: text())
      // Some fail in the middle of their body.
      if chance(3) {
        send.timings = ResponseTimings(sent: begin, firstByte: begin + .milliseconds(1), lastByte: send.endedAt)
      }
      return send
    }
    send.outcome = .response(statusCode: chance(5) ? 503 : 200, bytes: chance(5) ? nil : 1_234)
    send.responseHeaders = ["Content-Type": chance(3) ? "text/event-stream" : "application/json"]
    send.responseBody = chance(3) ? text() : nil
    let length = (send.endedAt ?? begin) - begin
    var timings = ResponseTimings(sent: begin, firstByte: begin + length * 0.6, lastByte: send.endedAt)
    if !chance(3) {
      timings.connection = ConnectionTimings(
        queued: chance(3) ? length * 0.1 : nil, nameLookup: chance(2) ? length * 0.1 : nil,
        connecting: chance(2) ? length * 0.1 : nil, securing: chance(2) ? length * 0.2 : nil, isReused: chance(2),
        protocolName: "h2", remoteAddress: chance(2) ? "192.0.2.1:443" : "[2001:db8::1]:443")
    }
    send.timings = timings
    if chance(3) {
      send.chunks = (0..<20).map { RecordedSend.Chunk(at: begin + length * Double($0) / 20, bytes: $0 + 1) }
    }
    return send
  }
}
