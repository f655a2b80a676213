import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

@Suite(.limited) struct LoopbackGateTests {
  private let get = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

  @Test func `a response waits at the gate until it is opened`() async throws {
    let gate = LoopbackGate()
    let server = try LoopbackServer { _ in .chunked(["one", "two"]).held(by: gate, at: .body(after: 8)) }
    let client = try RawClient(port: server.port)
    try client.send(get)
    _ = try await client.readHead()
    #expect(try await client.read(8) == "3\r\none\r\n")
    await gate.waitForArrivals(1)
    #expect(!gate.isOpen)
    gate.open()
    #expect(try await client.readToEnd() == "3\r\ntwo\r\n0\r\n\r\n")
  }

  @Test func `a gate passes responses while it is open, and those that waited when it opened`()
    async throws
  {
    let gate = LoopbackGate()
    let server = try LoopbackServer { _ in LoopbackResponse.status(204).held(by: gate) }
    gate.open()
    #expect(try await RawClient(port: server.port).exchange(get).hasPrefix("HTTP/1.1 204 "))
    #expect(gate.arrivalCount == 1)
    gate.close()
    let client = try RawClient(port: server.port)
    try client.send(get)
    await gate.waitForArrivals(2)
    gate.open()
    gate.close()
    #expect(try await client.readToEnd().hasPrefix("HTTP/1.1 204 "))
  }

  @Test func `the end of a client or of the server ends the wait`() async throws {
    let gate = LoopbackGate()
    let server = try LoopbackServer { _ in LoopbackResponse.status(204).held(by: gate) }
    do {
      let client = try RawClient(port: server.port)
      try client.send(get)
      await gate.waitForArrivals(1)
    }
    await server.waitForConnections(atMost: 0)
    let client = try RawClient(port: server.port)
    try client.send(get)
    await gate.waitForArrivals(2)
    server.stop()
    #expect(try await client.readToEnd() == "")
  }

  @Test func `an asynchronous handler is cancelled when its client goes away`() async throws {
    let clock = ManualClock()
    let (cancellations, cancelled) = AsyncStream<Bool>.makeStream()
    let server = try LoopbackServer { _ in
      do { try await clock.requestClock.sleep(for: .seconds(1)) } catch { cancelled.yield(error is CancellationError) }
      return .status(204)
    }
    do {
      let client = try RawClient(port: server.port)
      try client.send(get)
      await clock.waitForSleepers(1)
    }
    #expect(await cancellations.first { _ in true } == true)
    await server.waitForConnections(atMost: 0)
  }
}
