import Foundation
import RequestBehaviorsTesting
import TestSupport
import Testing

@testable import RequestBehaviors

/// No request is sent a second time while the origin's failures or latencies say overload.
@Suite(.limited) struct OverloadSignsTests {
  private let clock = ManualClock()

  private func signs(_ change: (inout OverloadSigns) -> Void) -> OverloadSigns {
    var signs = OverloadSigns()
    for _ in 0..<100 { signs.noteRequest(at: .zero) }
    change(&signs)
    return signs
  }

  private func arePresent(_ signs: OverloadSigns, at now: Duration = .zero) -> Bool {
    var signs = signs
    return signs.arePresent(at: now)
  }

  @Test func `more than a tenth of failures, besides one, is a sign`() {
    #expect(!arePresent(signs { signs in for _ in 0..<11 { signs.noteFailure(at: .zero) } }))
    #expect(arePresent(signs { signs in for _ in 0..<12 { signs.noteFailure(at: .zero) } }))
  }

  @Test func `more than a fifth of late requests, besides one, is a sign`() {
    #expect(!arePresent(signs { signs in for _ in 0..<21 { signs.noteLate(at: .zero) } }))
    #expect(arePresent(signs { signs in for _ in 0..<22 { signs.noteLate(at: .zero) } }))
  }

  @Test func `two more losing hedges than winning ones are a sign of overload`() {
    #expect(!arePresent(signs { $0.noteHedge(at: .zero) }))
    let two = signs { signs in for _ in 0..<2 { signs.noteHedge(at: .zero) } }
    #expect(arePresent(two))
    var won = two
    won.noteWin(at: .zero)
    #expect(!arePresent(won))
    won.noteHedge(at: .zero)
    #expect(!arePresent(won))
    won.noteHedge(at: .zero)
    #expect(arePresent(won))
  }

  @Test func `one late or failed request is not a sign of overload, and signs expire`() {
    var single = OverloadSigns()
    single.noteRequest(at: .zero)
    single.noteLate(at: .zero)
    single.noteFailure(at: .zero)
    #expect(!arePresent(single))
    single.noteLate(at: .zero)
    #expect(arePresent(single))
    #expect(arePresent(single, at: .seconds(9)))
    #expect(!arePresent(single, at: .seconds(10)))
  }

  /// Sends a request that takes three seconds, and returns what was decided about a second one.
  private func decision(_ client: NetworkClient, _ events: RecordedEvents, isSent: Bool) async throws -> String? {
    let decision = isSent ? "sent a second" : "not sent"
    let (count, total) = (events.count(decision), events.count("sent a second") + events.count("not sent"))
    let call = Task { try await client.send(Request<NetworkResponse>.get("x")) }
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(1))
    // The first send sleeps on, so the number of sleepers does not tell whether the second one has been decided.
    await events.waitFor(count + 1, decision)
    await clock.waitForSleepers(isSent ? 2 : 1)
    clock.advance(by: .seconds(2))
    let messages = try await call.value.request.call.messages(of: .hedge)
    #expect(events.count("sent a second") + events.count("not sent") == total + 1)
    return messages.first
  }

  @Test func `if all requests are slow, one is sent a second time`() async throws {
    let transport = ClosureTransport { request in
      try await request.call.clock.sleep(for: .seconds(3))
      return NetworkResponse(request: request, statusCode: 200)
    }
    let events = RecordedEvents()
    let hedging = HedgingBehavior.hedging(after: .seconds(1), budget: .unlimited)
    let client = NetworkClient(transport, clock.requestClock, [events, hedging])
    #expect(try await decision(client, events, isSent: true) == "sent a second time after 1 s")
    let overloaded = "not sent a second time: the origin is overloaded"
    #expect(try await decision(client, events, isSent: false) == overloaded)
    #expect(try await decision(client, events, isSent: false) == overloaded)
    #expect(transport.sent.count == 4)
  }

  @Test func `hedging continues while hedges win`() async throws {
    let transport = ClosureTransport(numbered: { number, request in
      try await request.call.clock.sleep(for: number.isMultiple(of: 2) ? .seconds(2) : .seconds(60))
      return NetworkResponse(request: request, statusCode: 200)
    })
    let events = RecordedEvents()
    let hedging = HedgingBehavior.hedging(after: .seconds(1), budget: .unlimited)
    let client = NetworkClient(transport, clock.requestClock, [events, hedging])
    // Others are as quick as usual, so that few are late.
    let quick = NetworkClient(ClosureTransport(), clock.requestClock, [hedging])
    for _ in 0..<20 { try await quick.send(.get("x")) }
    for _ in 0..<3 {
      #expect(try await decision(client, events, isSent: true) == "sent a second time after 1 s")
    }
    #expect(transport.sent.count == 6)
  }

  @Test func `requests to an origin with failures are not sent a second time`() async throws {
    let hedging = HedgingBehavior.hedging(after: .seconds(1), budget: .unlimited)
    let failing = NetworkClient(ClosureTransport(503), clock.requestClock, [hedging])
    for _ in 0..<2 { await #expect(throws: NetworkError.self) { try await failing.send(.get("x")) } }
    let (gate, events) = (TestGate(), RecordedEvents())
    let transport = ClosureTransport { request in
      await gate.pass()
      return NetworkResponse(request: request, statusCode: 200)
    }
    let client = NetworkClient(transport, clock.requestClock, [events, hedging])
    let call = Task { try await client.send(.get("x")) }
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(1))
    await events.waitFor(1, "not sent a second time: the origin is overloaded")
    gate.open()
    try await call.value
    #expect(transport.sent.count == 1)
  }

  @Test func `of more than 256 origins the least recently used one is forgotten`() {
    let history = LatencyHistory()
    func fill(_ number: Int) {
      for _ in 0..<20 { history.add(.seconds(number), of: .named("\(number)")) }
    }
    for number in 0..<256 { fill(number) }
    // The first one is used again.
    history.add(.seconds(0), of: "0")
    fill(256)
    #expect(history.percentile(0.5, of: "0") == .zero)
    #expect(history.percentile(0.5, of: "1") == nil)
    for number in 2...256 { #expect(history.percentile(0.5, of: .named("\(number)")) == .seconds(number)) }
    history.reset()
    #expect(history.percentile(0.5, of: "256") == nil)
  }
}
