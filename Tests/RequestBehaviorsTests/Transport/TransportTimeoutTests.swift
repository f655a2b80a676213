import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

@Suite(.limited(to: .seconds(120))) struct TransportTimeoutTests {
  private func options(idle: Duration?, total: Duration? = nil) -> RequestOptions {
    var options = RequestOptions()
    options.idleTimeout = idle
    options.timeout = total
    return options
  }

  /// In real time, because it is the platform's own timers that must not decide: they count whole seconds, and less than
  /// one as nothing.
  @Test(arguments: [(Duration.milliseconds(300), Duration?.none), (.seconds(60), .milliseconds(300))])
  func `a timeout below a second fires when it is due`(idle: Duration, total: Duration?) async throws {
    let server = try LoopbackServer { _ in .status(200).fault(.stall, at: .request) }
    let transport = URLSessionTransport()
    let start = RequestClock.system.now()
    let error = try await transport.failure(of: server.request(options: options(idle: idle, total: total)))
    #expect(error.code == .timedOut)
    #expect(RequestClock.system.now() - start >= .milliseconds(300))
    await server.waitForConnections(atMost: 0)
  }

  @Test func `a timeout below a second leaves time for the response`() async throws {
    let gate = LoopbackGate()
    let server = try LoopbackServer { _ in .text("late").held(by: gate) }
    let clock = ManualClock()
    let transport = URLSessionTransport(clock: clock.requestClock)
    let options = options(idle: .milliseconds(999), total: .milliseconds(999))
    async let response = transport.send(server.request(options: options))
    await gate.waitForArrivals(1)
    await clock.waitForSleepers(1)
    clock.advance(by: .milliseconds(998))
    gate.open()
    #expect(try await response.text == "late")
  }

  @Test func `an idle timeout without a byte ends the send`() async throws {
    let server = try LoopbackServer { _ in .text("hello").fault(.stall, at: .body(after: 2)) }
    let clock = ManualClock()
    let transport = URLSessionTransport(clock: clock.requestClock)
    // A byte after the advance of the clock restarts the timeout.
    let ticking = Task {
      while !Task.isCancelled {
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(300))
      }
    }
    let error = try await transport.failure(of: server.request())
    ticking.cancel()
    #expect(error.code == .timedOut)
    #expect(error.message == "no byte came or went for 60.0 seconds; raise idleTimeout if the server may take longer")
  }

  @Test(arguments: [nil, Duration.seconds(90)])
  func `every byte restarts the idle timeout but not the total one`(total: Duration?) async throws {
    let (first, second) = (LoopbackGate(), LoopbackGate())
    let server = try LoopbackServer { _ in
      .text("hello").held(by: first).held(by: second, at: .body(after: 2))
    }
    let clock = ObservedClock()
    let transport = URLSessionTransport(clock: clock.requestClock)
    let call = Call(clock: clock.requestClock)
    let options = options(idle: .seconds(60), total: total)
    let send = Task {
      try await transport.send(NetworkRequest(url: server.baseURL, options: options, call: call))
    }
    await first.waitForArrivals(1)
    await clock.manual.waitForSleepers(1)
    clock.manual.advance(by: .seconds(40))
    // It looks first when a byte has come, which it notes; the second look tells that it has.
    await clock.waitForLooks(2) { first.open() }
    clock.manual.advance(by: .seconds(40))
    await clock.manual.waitForSleepers(1)
    if total == nil {
      second.open()
      #expect(try await send.value.text == "hello")
    } else {
      clock.manual.advance(by: .seconds(10))
      let error = await #expect(throws: NetworkError.self) { try await send.value }
      #expect(error?.message == "the send was not over after 90.0 seconds; raise timeout if it may take longer")
    }
  }

  @Test func `the error of a timeout has the progress of the attempt`() async throws {
    let clock = ManualClock()
    let transport = URLSessionTransport(clock: clock.requestClock)
    let server = try LoopbackServer { request in
      .text("hello").fault(.stall, at: request.path == "/head" ? .body(after: 2) : .request)
    }
    let endless = RequestBody.oneShot(ByteStream(AsyncThrowingStream<Data, any Error> { _ in }))
    let requests = [
      server.request(.get, "none"), server.request(.get, "head"), server.request(.put, "body", body: endless),
    ]
    let stages: [NetworkError.Progress.Stage] = [.sent, .headReceived, .notSent]
    for (request, stage) in zip(requests, stages) {
      let count = server.requestCount
      let hasEnded = Locked(false)
      let failure = Task {
        defer { hasEnded.withLock { $0 = true } }
        return try await transport.failure(of: request)
      }
      if stage != .notSent { _ = await server.waitForRequests(count + 1) }
      await clock.waitForSleepers(1)
      // A head after the advance of the clock restarts its timeout.
      let ends = try await eventually {
        clock.advance(by: .seconds(300))
        return hasEnded.withLock { $0 }
      }
      #expect(ends)
      let error = try await failure.value
      #expect(error.code == .timedOut)
      if stage != .headReceived { #expect(error.progress?.stage == stage) }
      #expect(error.mayHaveArrived == (stage != .notSent))
    }
  }

  @Test func `a timeout of zero ends the send at once`() async throws {
    let server = try LoopbackServer { _ in .status(200).fault(.stall, at: .request) }
    let transport = URLSessionTransport(clock: ManualClock().requestClock)
    for options in [options(idle: .zero), options(idle: nil, total: .seconds(-1))] {
      #expect(try await transport.failure(of: server.request(options: options)).code == .timedOut)
    }
  }

  @Test func `all sends share one timer, and sends without timeouts have none`() async throws {
    let gate = LoopbackGate()
    let server = try LoopbackServer { _ in .status(200).held(by: gate) }
    let clock = ManualClock()
    let transport = URLSessionTransport(clock: clock.requestClock)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { _ = try await transport.send(server.request(options: options(idle: nil))) }
      await gate.waitForArrivals(1)
      #expect(clock.sleeperCount == 0)
      for number in 1...10 {
        let idle = Duration.seconds(100 - number)
        group.addTask { _ = try await transport.send(server.request(options: options(idle: idle))) }
      }
      await gate.waitForArrivals(11)
      await clock.waitForSleepers(1)
      #expect(clock.sleeperCount == 1)
      gate.open()
      try await group.waitForAll()
    }
  }

  @Test func `a later deadline does not delay an earlier one`() async throws {
    let server = try LoopbackServer { _ in .status(200).fault(.stall, at: .request) }
    let clock = ManualClock()
    let transport = URLSessionTransport(clock: clock.requestClock)
    let long = Task { try await transport.send(server.request(options: options(idle: .seconds(60)))) }
    await server.waitForRequests(1)
    let short = Task { try await transport.send(server.request(options: options(idle: .seconds(5)))) }
    await server.waitForRequests(2)
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(5))
    await #expect(throws: NetworkError.self) { try await short.value }
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(55))
    await #expect(throws: NetworkError.self) { try await long.value }
  }

  @Test func `timings are on the clock of the call`() async throws {
    let gate = LoopbackGate()
    let server = try LoopbackServer { _ in .text("hello").held(by: gate) }
    let clock = ManualClock()
    let call = Call(clock: clock.requestClock)
    let transport = URLSessionTransport()
    async let response = transport.send(NetworkRequest(url: server.baseURL, call: call))
    await gate.waitForArrivals(1)
    clock.advance(by: .seconds(3))
    gate.open()
    #expect(try await response.timings == ResponseTimings(sent: .zero, firstByte: .seconds(3), lastByte: .seconds(3)))
  }

  @Test func `the first byte is earlier than the last`() async throws {
    let gate = LoopbackGate()
    let server = try LoopbackServer { _ in .text("hello").held(by: gate, at: .body) }
    // Each look at the clock is a second later than the one before.
    let seconds = Box(0)
    let tick: @Sendable (inout Int) -> Int = { count in
      count += 1
      return count
    }
    let call = Call(
      clock: RequestClock(now: { .seconds(seconds.update(tick)) }, date: { Date() }, sleep: { _ in }))
    async let response = URLSessionTransport().send(NetworkRequest(url: server.baseURL, call: call))
    await gate.waitForArrivals(1)
    gate.open()
    let timings = try await response.timings
    let (firstByte, lastByte) = (try #require(timings.firstByte), try #require(timings.lastByte))
    #expect(timings.sent < firstByte)
    #expect(firstByte < lastByte)
  }

  @Test(arguments: [Duration.seconds(Int64.max), .seconds(Int64.max) * 2])
  func `a timeout that is longer than a clock can sleep never fires`(_ time: Duration) async throws {
    let server = try LoopbackServer { _ in .text("hello") }
    let eternity = options(idle: time, total: time)
    let sleeps = Box<[Duration]>([])
    let clock = RequestClock(
      now: RequestClock.system.now, date: RequestClock.system.date,
      sleep: { duration in
        sleeps.update { $0.append(duration) }
        // Real time, but never waited out: the response ends it. A manual clock would not show what the system's can sleep.
        try await RequestClock.system.sleep(for: duration)
      })
    for clock in [clock, .system] {
      let transport = URLSessionTransport(clock: clock)
      #expect(try await transport.send(server.request(options: eternity)).text == "hello")
      await transport.shutdown()
    }
    #expect(sleeps.value.allSatisfy { $0 <= .seconds(86_400) })
  }

  @Test func `the idle timeout applies to a whole head that arrives in pieces`() async throws {
    let gates = [LoopbackGate(), LoopbackGate()]
    let server = try LoopbackServer { _ in
      LoopbackResponse.text("hello").header("X", "y").held(by: gates[0], at: .head(after: 20))
        .held(by: gates[1], at: .head(after: 30))
    }
    let clock = ManualClock()
    let transport = URLSessionTransport(clock: clock.requestClock)
    let send = Task { try await transport.failure(of: server.request(options: options(idle: .seconds(60)))) }
    await gates[0].waitForArrivals(1)
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(40))
    gates[0].open()
    await gates[1].waitForArrivals(1)
    clock.advance(by: .seconds(40))
    #expect(try await send.value.code == .timedOut)
    // On Linux a server that goes away in mid-head ends the process, unless the client has closed the connection.
    await server.waitForConnections(atMost: 0)
  }

  @Test func `the idle timeout ends a send that waits for a connection`() async throws {
    let gate = LoopbackGate()
    let server = try LoopbackServer { _ in .text("hello").held(by: gate) }
    let clock = ManualClock()
    let transport = URLSessionTransport(
      configuration: .init(maximumConnectionsPerHost: 1), clock: clock.requestClock)
    let first = Task { try await transport.send(server.request(options: options(idle: nil))) }
    await gate.waitForArrivals(1)
    let second = Task { try await transport.failure(of: server.request()) }
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(60))
    #expect(try await second.value.code == .timedOut)
    gate.open()
    #expect(try await first.value.text == "hello")
  }
}
