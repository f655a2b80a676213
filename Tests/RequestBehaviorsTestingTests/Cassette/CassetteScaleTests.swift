import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Long recordings, many cassettes, and many requests.
@Suite(.limited) struct CassetteScaleTests {
  private let bench = CassetteBench()

  /// The times at which something of an hour of traffic arrives, on the clock.
  private func hour(_ transport: any Transport, _ clock: ManualClock) async throws -> [Duration] {
    let client = bench.client(transport, clock: clock.requestClock)
    let start = clock.now
    return try await clock.run {
      let events = Task {
        var times: [Duration] = []
        for try await _ in try await client.stream(.get("feed")).bytes { times.append(clock.now - start) }
        return times
      }
      var times: [Duration] = []
      for number in 0..<100 {
        try await clock.requestClock.sleep(for: .seconds(35))
        try await client.send(.get("item/\(number)"))
        times.append(clock.now - start)
      }
      return try await events.value + times
    }
  }

  @Test func `an hour of a hundred calls and a thousand events plays at its times, without waiting`() async throws {
    let mock = MockTransport(baseURL: bench.baseURL)
    let steps = (0..<1_000).flatMap { [MockStreamStep.wait(.milliseconds(3_600)), .text("data: \($0)\n\n")] }
    mock.on(.get, "feed").stream(steps: steps, headers: ["Content-Type": "text/event-stream"])
    mock.on(.get, "item/*").respond(200, text: "an item").delayed(by: .milliseconds(730)).times(100)
    let recording = try bench.cassette(.recordAll, over: mock)
    let live = try await hour(recording, ManualClock())
    await recording.shutdown()
    let playing = try bench.cassette(.replay, pace: .recorded)
    let clock = ManualClock(date: playing.recordedAt)
    let started = ContinuousClock.now
    let played = try await hour(playing, clock)
    let taken = started.duration(to: .now)
    #expect(live.count == 1_100)
    #expect(clock.now >= .seconds(3_600))
    let late = zip(live, played).count { abs(($1 - $0).inSeconds) > 0.001 }
    #expect(late == 0)
    #expect(played.count == live.count)
    try playing.verify()
    print("an hour of traffic played in \(taken)")
    // No wait uses real time; the bound leaves room for a busy machine.
    #expect(taken < .seconds(30))
  }

  @Test func `a thousand concurrent tests on two hundred cassettes get the right entries`() async throws {
    let names = (0..<200).map { "tape-\($0)" }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for name in names {
        group.addTask { [bench] in
          let mock = MockTransport { request in
            let body = Data("\(name) \(request.url.lastPathComponent)".utf8)
            return NetworkResponse(request: request, statusCode: 200, body: .data(body))
          }
          let recording = try bench.cassette(.recordAll, name: name, over: mock)
          for item in 0..<3 { try await bench.client(recording).send(.get("\(item)")) }
          await recording.shutdown()
        }
      }
      try await group.waitForAll()
    }
    let wrong = try await withThrowingTaskGroup(of: Int.self) { group in
      for test in 0..<1_000 {
        group.addTask { [bench] in
          let name = names[test % names.count]
          let playing = try bench.cassette(.replay, name: name)
          let client = bench.client(playing)
          async let first = client.send(Request<String>.get("0"))
          async let second = client.send(Request<String>.get("1"))
          async let third = client.send(Request<String>.get("2"))
          let bodies = try await [first, second, third]
          try playing.verify()
          return bodies == (0..<3).map { "\(name) \($0)" } ? 0 : 1
        }
      }
      return try await group.reduce(0, +)
    }
    #expect(wrong == 0)
  }

  @Test func `two thousand requests at a time get their entries, also at one place`() async throws {
    let mock = MockTransport { request in
      NetworkResponse(request: request, statusCode: 200, body: .data(request.body?.data ?? Data()))
    }
    @Sendable func request(_ number: Int) -> Request<String> {
      number.isMultiple(of: 5)
        ? .post("same", body: .json(["number": number])) : .post("\(number)", body: .json(["number": number]))
    }
    let recording = try bench.cassette(.recordAll, over: mock)
    let live = bench.client(recording)
    for number in 0..<2_000 { _ = try await live.send(request(number)) }
    await recording.shutdown()
    let cassette = try bench.cassette(.replay)
    let playing = bench.client(cassette)
    let wrong = try await withThrowingTaskGroup(of: Int.self) { group in
      for number in (0..<2_000).shuffled() {
        group.addTask { try await playing.send(request(number)).contains(":\(number)}") ? 0 : 1 }
      }
      return try await group.reduce(0, +)
    }
    #expect(wrong == 0)
    try cassette.verify()
  }
}
