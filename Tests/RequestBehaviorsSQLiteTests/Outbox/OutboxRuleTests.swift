import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import TestSupport
import Testing

/// The rules of an outbox that a client's behaviors, another store or the end of sending must not change.
@Suite(.limited) struct OutboxRuleTests {
  @Test func `entries are read in their own store only`() async throws {
    let (world, other) = (try OutboxWorld(), try OutboxWorld())
    let outbox = try await world.outbox()
    try await outbox.enqueue(Ping(number: 1))
    #expect(try await world.store.read { try outbox.summary(in: $0).waiting } == 1)
    let error = await #expect(throws: SQLiteError.self) {
      try await other.store.read { try outbox.summary(in: $0) }
    }
    #expect(error?.message.contains("another store") == true)
  }

  @Test func `a dead letter does not block later entries of its identity`() async throws {
    let world = try OutboxWorld { request in (request.url.path() == "/pings/1" ? 422 : 200, "") }
    let outbox = try await world.outbox()
    try await outbox.enqueue(Ping(number: 1, identity: "note", replaces: true))
    try await outbox.drain()
    try await outbox.enqueue(Ping(number: 2, identity: "note", replaces: true))
    try await outbox.drain()
    #expect(world.sent == ["POST /pings/1", "POST /pings/2"])
  }

  @Test func `an entry waits for a network in the file, not in the client`() async throws {
    let world = try OutboxWorld()
    let (updates, reports) = AsyncStream.makeStream(of: Bool.self)
    let connectivity = Connectivity(updates)
    let outbox = try await world.outbox(world.client([.offline(connectivity, rule: .wait)]))
    reports.yield(false)
    while connectivity.isOnline { await Task.yield() }
    try await outbox.enqueue(Ping(number: 1))
    #expect(try await outbox.drain().waiting == 1)
    #expect(world.sent.isEmpty)
  }

  @Test func `an entry is not sent a second time because its response is late`() async throws {
    let (begun, gate) = (TestGate(), TestGate())
    let world = try OutboxWorld { _ in
      begun.arrive()
      if begun.arrivalCount == 1 { await gate.pass() }
      return (200, "")
    }
    let outbox = try await world.outbox(world.client([.hedging(after: .milliseconds(1))]))
    try await outbox.enqueue(Ping(number: 1))
    async let drain = outbox.drain()
    await begun.waitForArrivals(1)
    world.clock.advance(by: .seconds(1))
    for _ in 0..<200 { await Task.yield() }
    gate.open()
    #expect(try await drain.isEmpty)
    #expect(world.sent.count == 1)
  }

  @Test func `the end of sending does not count as a failure of the entries under way`() async throws {
    let (begun, gate) = (TestGate(), TestGate())
    let world = try OutboxWorld { _ in
      begun.arrive()
      await gate.pass()
      try Task.checkCancellation()
      return (200, "")
    }
    let outbox = try await world.outbox()
    let events = outbox.events()
    let entry = try await outbox.enqueue(Ping(number: 1))
    outbox.start()
    await begun.waitForArrivals(1)
    async let end: Void = outbox.stop()
    // The transport notices the cancellation only when its gate is open.
    for _ in 0..<200 { await Task.yield() }
    gate.open()
    await end
    outbox.start()
    try await entry.value
    await outbox.stop()
    var kinds: [OutboxEvent.Kind] = []
    for await event in events {
      kinds.append(event.kind)
      if event.kind == .delivered { break }
    }
    #expect(kinds == [.delivered])
  }
}
