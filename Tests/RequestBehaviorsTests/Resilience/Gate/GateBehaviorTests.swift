import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

/// What holds or refuses requests before anything is tried: gates, and a device that is offline.
@Suite(.timeLimit(.minutes(1))) struct GateBehaviorTests {
  private let clock = ManualClock()
  private let transport = ClosureTransport()

  private func client(_ behaviors: any RequestBehavior...) -> NetworkClient {
    NetworkClient(transport, clock.requestClock, behaviors)
  }

  @Test func `a closed gate holds requests and releases them together`() async throws {
    let gate = Gate(isOpen: false)
    let client = client(.gate(gate))
    let calls = (0..<5).map { _ in Task { try await client.send(Request<NetworkResponse>.get("x")) } }
    await drift()
    #expect(gate.waitingCount == 5 && transport.sent.isEmpty)
    gate.open()
    for call in calls {
      let response = try await call.value
      #expect(response.request.call.messages(of: .gate) == ["held", "released"])
    }
    #expect(transport.sent.count == 5 && gate.waitingCount == 0)
  }

  @Test func `a request that waits longer than it may fails`() async throws {
    let gate = Gate(isOpen: false, longestWait: .seconds(30))
    let call = Task { try await client(.gate(gate)).send(.get("x")) }
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(30))
    let error = await #expect(throws: NetworkError.self) { try await call.value }
    #expect(error?.code == .gateClosed && error?.mayHaveArrived == false && error?.isTransient == true)
    #expect(gate.waitingCount == 0 && transport.sent.isEmpty)
  }

  @Test func `where too many wait a request is refused at once, and one that bypasses the gate passes`() async throws {
    let gate = Gate(isOpen: false, queueLimit: 0)
    let client = client(.gate(gate))
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    #expect(error?.code == .gateClosed)
    try await client.send(.get("x").with(\.bypassesGate, true))
  }

  @Test func `whoever is cancelled leaves the gate at once, shutdown ends all waits`() async throws {
    let gate = Gate(isOpen: false)
    let client = client(.gate(gate))
    let cancelled = Task { try await client.send(.get("x")) }
    let waiting = Task { try await client.send(.get("x")) }
    await drift()
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    #expect(gate.waitingCount == 1)
    await client.shutdown()
    let error = await #expect(throws: NetworkError.self) { try await waiting.value }
    #expect(error?.code == .clientShutDown && gate.waitingCount == 0)
  }

  @Test func `after a reset those who wait look at the gate again`() async throws {
    let gate = Gate(isOpen: false)
    let client = client(.gate(gate))
    let call = Task { try await client.send(.get("x")) }
    await drift()
    await client.reset()
    await drift()
    #expect(gate.waitingCount == 1)
    gate.open()
    try await call.value
  }

  @Test func `a gate that closes and opens in between lets pass whoever finds it open`() async throws {
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

  // MARK: - Offline

  private func connectivity() async -> (Connectivity, AsyncStream<Bool>.Continuation) {
    let (stream, continuation) = AsyncStream.makeStream(of: Bool.self)
    return (Connectivity(stream), continuation)
  }

  @Test func `while the device is offline requests fail at once`() async throws {
    let (connectivity, updates) = await connectivity()
    let client = client(.offline(connectivity))
    try await client.send(.get("x"))
    updates.yield(false)
    await drift()
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    #expect(error?.code == .offline && error?.isTransient == true)
    try await client.send(.get("x").with(\.bypassesGate, true))
    updates.yield(true)
    await drift()
    try await client.send(.get("x"))
  }

  @Test func `a request can wait for a network`() async throws {
    let (connectivity, updates) = await connectivity()
    let client = client(.offline(connectivity))
    updates.yield(false)
    await drift()
    let call = Task { try await client.send(.get("x").with(\.offlineRule, .wait)) }
    await drift()
    #expect(transport.sent.isEmpty)
    updates.yield(true)
    try await call.value
  }

  @Test func `the system is asked whether there is a network`() async {
    let connectivity = Connectivity.system(clock: clock.requestClock)
    #if !canImport(Network)
      // It has looked once, and waits to look again.
      await clock.waitForSleepers(1)
      #expect(clock.sleeperCount == 1)
    #endif
    withExtendedLifetime(connectivity) {}
  }
}
