import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Behaviors that hold or refuse requests before the first attempt: gates, and an offline device.
@Suite(.limited) struct GateBehaviorTests {
  private let clock = ManualClock()
  private let transport = ClosureTransport()
  private let events = RecordedEvents()

  private func client(_ behaviors: any RequestBehavior...) -> NetworkClient {
    NetworkClient(transport, clock.requestClock, [events] + behaviors)
  }

  @Test func `a closed gate holds requests and releases them together`() async throws {
    let gate = Gate(isOpen: false)
    let client = client(.gate(gate))
    let calls = (0..<5).map { _ in Task { try await client.send(Request<NetworkResponse>.get("x")) } }
    await events.waitFor(5, "held")
    #expect(gate.waitingCount == 5)
    #expect(transport.sent.isEmpty)
    gate.open()
    // Released requests have no place in the queue, even before they continue.
    #expect(gate.waitingCount == 0)
    for call in calls {
      let response = try await call.value
      #expect(response.request.call.messages(of: .gate) == ["held", "released"])
    }
    #expect(transport.sent.count == 5)
    #expect(gate.waitingCount == 0)
  }

  @Test func `a request that exceeds the longest wait fails`() async throws {
    let gate = Gate(isOpen: false, longestWait: .seconds(30))
    let call = Task { try await client(.gate(gate)).send(.get("x")) }
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(30))
    let error = await #expect(throws: NetworkError.self) { try await call.value }
    #expect(error?.code == .gateClosed)
    #expect(error?.mayHaveArrived == false)
    #expect(error?.isTransient == true)
    #expect(gate.waitingCount == 0)
    #expect(transport.sent.isEmpty)
  }

  @Test func `if too many wait a request is refused at once, and one that bypasses the gate passes`() async throws {
    let gate = Gate(isOpen: false, queueLimit: 0)
    let client = client(.gate(gate))
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    #expect(error?.code == .gateClosed)
    try await client.send(.get("x").with(\.bypassesGate, true))
  }

  @Test func `a cancelled request leaves the gate at once, and a shutdown ends all waits`() async throws {
    let gate = Gate(isOpen: false)
    let client = client(.gate(gate))
    let cancelled = Task { try await client.send(.get("x")) }
    let waiting = Task { try await client.send(.get("x")) }
    await events.waitFor(2, "held")
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    #expect(gate.waitingCount == 1)
    await client.shutdown()
    let error = await #expect(throws: NetworkError.self) { try await waiting.value }
    #expect(error?.code == .clientShutDown)
    #expect(gate.waitingCount == 0)
  }

  @Test func `after a reset waiting requests check the gate again`() async throws {
    let gate = Gate(isOpen: false)
    let client = client(.gate(gate))
    let call = Task { try await client.send(.get("x")) }
    await events.waitFor(1, "held")
    await client.reset()
    await events.waitFor(2, "held")
    #expect(gate.waitingCount == 1)
    gate.open()
    try await call.value
  }

  @Test func `a gate that closes and opens again passes the requests that find it open`() async throws {
    let gate = Gate()
    let client = client(.gate(gate))
    for _ in 0..<100 {
      gate.close()
      let call = Task { try await client.send(.get("x")) }
      gate.open()
      try await call.value
    }
    #expect(gate.waitingCount == 0)
  }

  @Test func `an observer gets a decision while the request waits, and none after the send`() async throws {
    let gate = Gate(isOpen: false)
    let client = client(.gate(gate))
    let call = Task { try await client.send(Request<NetworkResponse>.get("x")) }
    await events.waitFor(1, "held")
    #expect(events.count("released") == 0)
    gate.open()
    let response = try await call.value
    #expect(events.count("released") == 1)
    response.request.call.record("late", from: "test")
    #expect(events.count("late") == 0)
    #expect(response.request.call.events.last?.message == "late")
  }

  @Test func `a reset does not restart the longest wait`() async throws {
    let gate = Gate(isOpen: false, longestWait: .seconds(30))
    let client = client(.gate(gate))
    let call = Task { try await client.send(.get("x")) }
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(20))
    await client.reset()
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(10))
    let error = await #expect(throws: NetworkError.self) { try await call.value }
    #expect(error?.code == .gateClosed)
    #expect(clock.now == .seconds(30))
  }

  @Test func `a gate that opens exactly at the end of the longest wait passes the request`() async throws {
    let gate = Gate(isOpen: false, longestWait: .seconds(30))
    let clock = clock.requestClock
    let opening = RequestClock(
      now: clock.now, date: clock.date,
      sleep: { duration in
        try await clock.sleep(for: duration)
        gate.open()
      })
    let call = Task { try await NetworkClient(transport, opening, [.gate(gate)]).send(.get("x")) }
    await self.clock.waitForSleepers(1)
    self.clock.advance(by: .seconds(30))
    try await call.value
    #expect(transport.sent.count == 1)
  }

  // MARK: - Offline

  /// Says whether there is a network, and waits until that is known.
  private struct Updates: AsyncSequence, Sendable {
    private let values = AsyncStream.makeStream(of: Bool.self)
    private let asked = TestGate()
    private let sent = Box(0)

    init() { asked.open() }

    func send(_ isOnline: Bool) async {
      values.continuation.yield(isOnline)
      sent.update { $0 += 1 }
      // A reader that requests another value has taken this one.
      await asked.waitForArrivals(sent.value + 1)
    }

    func makeAsyncIterator() -> Iterator { Iterator(base: values.stream.makeAsyncIterator(), asked: asked) }

    struct Iterator: AsyncIteratorProtocol {
      var base: AsyncStream<Bool>.Iterator
      let asked: TestGate

      mutating func next() async -> Bool? {
        await asked.pass()
        return await base.next(isolation: #isolation)
      }
    }
  }

  @Test func `while the device is offline requests fail at once`() async throws {
    let updates = Updates()
    let client = client(.offline(Connectivity(updates)))
    try await client.send(.get("x"))
    await updates.send(false)
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    #expect(error?.code == .offline)
    #expect(error?.isTransient == true)
    try await client.send(.get("x").with(\.bypassesGate, true))
    await updates.send(true)
    try await client.send(.get("x"))
  }

  @Test func `a request can wait for a network`() async throws {
    let updates = Updates()
    let client = client(.offline(Connectivity(updates)))
    await updates.send(false)
    let call = Task { try await client.send(.get("x").with(\.offlineRule, .wait)) }
    await events.waitFor(1, "held")
    #expect(transport.sent.isEmpty)
    await updates.send(true)
    try await call.value
  }

  @Test func `a request's rule replaces the behavior's, in both directions`() async throws {
    let isFirst = Box(true)
    let asked = TestGate()
    asked.open()
    // Offline, and requests the next value after that one; after its end it stays offline.
    let updates = AsyncStream<Bool> {
      let answer = isFirst.update { was in
        defer { was = false }
        return was ? false : Bool?.none
      }
      if answer == nil { await asked.pass() }
      return answer
    }
    let connectivity = Connectivity(updates, longestWait: .seconds(30))
    await asked.waitForArrivals(1)
    let client = client(.offline(connectivity, rule: .wait))
    let refused = await #expect(throws: NetworkError.self) {
      try await client.send(.get("x").with(\.offlineRule, .refuse))
    }
    #expect(refused?.code == .offline)
    #expect(clock.sleeperCount == 0)
    let waiting = Task { try await client.send(.get("x")) }
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(30))
    let late = await #expect(throws: NetworkError.self) { try await waiting.value }
    #expect(late?.code == .offline)
    #expect(late?.message.contains("did not change within 30 s") == true)
  }

  @Test func `the behavior asks the system whether there is a network`() async {
    let connectivity = Connectivity.system(clock: clock.requestClock)
    #if !canImport(Network)
      // It has looked once, and waits to look again.
      await clock.waitForSleepers(1)
      #expect(clock.sleeperCount == 1)
    #endif
    withExtendedLifetime(connectivity) {}
  }
}
