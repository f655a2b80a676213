import Foundation
import RequestBehaviorsTesting
import TestSupport
import Testing

@testable import RequestBehaviors

/// Two limits in one list, queues of any length, and the limits of the server only.
@Suite(.limited) struct LimitNamesTests {
  @Test func `a limit for each host and one over all hosts stand in one list`() async throws {
    let underWay = Box<[String: Int]>([:])
    let most = Box<[String: Int]>([:])
    let transport = ClosureTransport { request in
      let host = request.url.host() ?? ""
      for name in [host, "all"] {
        let now = underWay.update { counts -> Int in
          counts[name, default: 0] += 1
          return counts[name, default: 0]
        }
        most.update { $0[name] = max($0[name] ?? 0, now) }
      }
      for _ in 0..<20 { await Task.yield() }
      for name in [host, "all"] { underWay.update { $0[name, default: 0] -= 1 } }
      return NetworkResponse(request: request, statusCode: 200)
    }
    let client = NetworkClient(
      configuration: RequestConfiguration(
        behaviors: [
          .concurrencyLimit(2), .concurrencyLimit(5, name: "all hosts", key: LimitKey.forAllRequests),
        ]), transport: transport)
    let requests = (0..<200).compactMap { URL(string: "https://h\($0 % 10).example/\($0)") }
      .map { Request<Void>.get(url: $0) }
    for try await outcome in client.responses(to: requests, atMost: 200) { try outcome.value }
    #expect(transport.sent.count == 200)
    #expect(most.value["all"].map { 2...5 ~= $0 } == true)
    #expect(most.value.allSatisfy { $0.key == "all" || $0.value <= 2 })
    #expect(try client.pipeline(for: requests[0]).description.contains(#"ConcurrencyLimitBehavior "all hosts""#))
  }

  @Test func `two limits without names are refused, and the message shows the remedy`() throws {
    let client = NetworkClient(ClosureTransport(), [.concurrencyLimit(2), .concurrencyLimit(4)])
    let error = #expect(throws: NetworkError.self) { try client.pipeline(for: Request<Void>.get("x")) }
    #expect(error?.message.contains("name:") == true)
  }

  @Test func `two rates stand in one list`() async throws {
    let clock = LeapingClock()
    let behaviors: [any RequestBehavior] = [
      .rateLimit(100, burst: 1), .rateLimit(1, burst: 1, name: "search", key: { _ in "search" }),
    ]
    let client = NetworkClient(ClosureTransport(), clock.requestClock, behaviors)
    for _ in 0..<3 { try await client.send(.get("x")) }
    #expect(clock.now == .seconds(2))
  }

  @Test(arguments: [nil, 3] as [Int?])
  func `any number of requests may wait, unless the factory limits the queue`(queueLimit: Int?) async throws {
    let gate = TestGate()
    let transport = ClosureTransport { request in
      await gate.pass()
      return NetworkResponse(request: request, statusCode: 200)
    }
    let limit: ConcurrencyLimitBehavior =
      if let queueLimit { .concurrencyLimit(1, queueLimit: queueLimit) } else { .concurrencyLimit(1) }
    let events = RecordedEvents()
    let client = NetworkClient(transport, [events, limit])
    let first = Task { try await client.send(.get("x")) }
    await gate.waitForArrivals(1)
    let others = (0..<1_500).map { _ in Task { try await client.send(.get("x")) } }
    await events.waitFor(queueLimit ?? 1_500, "waits")
    if let queueLimit { await events.waitFor(1_500 - queueLimit, "no permit") }
    gate.open()
    try await first.value
    var sent = 0
    for task in others where (try? await task.value) != nil { sent += 1 }
    #expect(sent == queueLimit ?? 1_500)
  }

  @Test func `10,000 waiting requests leave in any order without loss`() {
    let limiter = ConcurrencyLimiter(1)
    let clock = ContinuousClock()
    var turns: [ConcurrencyLimiter.Turn] = []
    guard case .go(let permit) = limiter.enter("k", .normal) else { return }
    let time = clock.measure {
      for number in 0..<10_000 {
        let priority: RequestPriority = number % 3 == 0 ? .high : number % 3 == 1 ? .normal : .low
        if case .wait(let turn) = limiter.enter("k", priority) { turns.append(turn) }
      }
      for turn in turns.shuffled() { limiter.leave(turn) }
    }
    #expect(limiter.waiting(for: "k") == 0)
    #expect(limiter.inUse(of: "k") == 1)
    limiter.release(permit)
    #expect(limiter.inUse(of: "k") == 0)
    #expect(time < .seconds(20))
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `a queue equals the sorted list of its members`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var (line, model) = (WaitingLine<Int>(), [Int]())
    for _ in 0..<500 {
      if Int.random(in: 0..<5, using: &random) < 2, !model.isEmpty {
        let place = Bool.random(using: &random) ? 0 : Int.random(in: 0..<model.count, using: &random)
        line.remove(at: place)
        model.remove(at: place)
      } else {
        let value = Int.random(in: 0..<1_000, using: &random)
        let place = line.place { $0 < value }
        #expect(place == model.count { $0 < value })
        line.insert(value, at: place)
        model.insert(value, at: place)
      }
      #expect((0..<line.count).map { line[$0] } == model)
      #expect(line.first == model.first)
    }
  }

  @Test func `a server limit alone delays no request until the server sends its limits`() async throws {
    let clock = LeapingClock()
    let transport = ClosureTransport(numbered: { number, request in
      NetworkResponse(
        request: request, statusCode: number == 100 ? 429 : 200, headers: number == 100 ? ["Retry-After": "30"] : [:])
    })
    let client = NetworkClient(transport, clock.requestClock, [.serverRateLimits()])
    for _ in 0..<99 { try await client.send(.get("x")) }
    #expect(clock.now == .zero)
    try? await client.send(.get("x"))
    try await client.send(.get("x"))
    #expect(clock.now == .seconds(30))
    try await client.send(.get("x"))
    #expect(clock.now == .seconds(30))
  }

  @Test func `an exhausted server limit delays requests, up to the longest pause`() async throws {
    let clock = LeapingClock()
    let transport = ClosureTransport(
      200, "", headers: ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "3600", "X-RateLimit-Limit": "60"])
    let client = NetworkClient(transport, clock.requestClock, [.serverRateLimits(longestPause: .seconds(90))])
    let first: NetworkResponse = try await client.send(.get("x"))
    try await client.send(.get("x"))
    #expect(clock.now == .seconds(90))
    let pauses = first.request.call.events.map(\.message).filter { $0.contains("pauses for 90 s") }
    #expect(pauses.count == 1 && pauses[0].contains("the server asks for 3600 s"), "\(first.request.call.events)")
  }
}
