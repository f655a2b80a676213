import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import TestSupport
import Testing

/// The entries that are claimed ahead, so that requests go on while the ends of others are written.
@Suite(.limited) struct OutboxSlotTests {
  /// Ten entries, of which four are being sent and two are claimed ahead.
  private struct Busy {
    let world: OutboxWorld
    let outbox: Outbox
    let begun = TestGate()
    let gate = TestGate()
    let isDown = Shared(false)

    init() async throws {
      let (begun, gate, isDown) = (begun, gate, isDown)
      world = try OutboxWorld { request in
        begun.arrive()
        await gate.pass()
        try Task.checkCancellation()
        if isDown.value { throw NetworkError(.cannotConnect, "a test", request: request) }
        return (200, "")
      }
      outbox = try await world.outbox()
      for number in 1...10 { try await outbox.enqueue(Ping(number: number)) }
      outbox.start()
      await begun.waitForArrivals(4)
      while try await claimed() < 6 { await Task.yield() }
    }

    func claimed() async throws -> Int { try await world.count("SELECT count(*) FROM outbox_entry WHERE state = 1") }

    /// Waits until no entry is claimed.
    func waitForEnd() async throws { while try await claimed() > 0 { await Task.yield() } }
  }

  @Test func `half as many entries are claimed ahead as requests are sent at a time`() async throws {
    let busy = try await Busy()
    #expect(busy.begun.arrivalCount == 4)
    #expect(try await busy.claimed() == 6)
    busy.gate.open()
    #expect(try await busy.outbox.drain().isEmpty)
    await busy.outbox.stop()
    #expect(Set(busy.world.sent).count == 10)
    #expect(busy.world.sent.count == 10)
  }

  @Test func `entries that were claimed ahead are not sent in a pause, and keep their places`() async throws {
    let busy = try await Busy()
    let before = try await busy.world.count("SELECT sum(not_before) FROM outbox_entry WHERE seq IN (5, 6)")
    busy.isDown.value = true
    busy.gate.open()
    try await busy.waitForEnd()
    #expect(busy.begun.arrivalCount == 4)
    #expect(try await busy.world.count("SELECT count(*) FROM outbox_entry WHERE failure IS NULL") == 6)
    #expect(try await busy.world.count("SELECT sum(not_before) FROM outbox_entry WHERE seq IN (5, 6)") == before)
    await busy.outbox.stop()
  }

  @Test func `the end of sending gives the entries back that were claimed ahead`() async throws {
    let busy = try await Busy()
    async let end: Void = busy.outbox.stop()
    while try await busy.claimed() > 4 { await Task.yield() }
    busy.gate.open()
    await end
    #expect(busy.begun.arrivalCount == 4)
    #expect(try await busy.claimed() == 0)
    #expect(try await busy.world.count("SELECT count(*) FROM outbox_entry WHERE sends > 0 AND seq > 4") == 0)
  }

  @Test func `all entries are sent after requests that were cancelled`() async throws {
    let busy = try await Busy()
    async let end: Void = busy.outbox.stop()
    while try await busy.claimed() > 4 { await Task.yield() }
    busy.gate.open()
    await end
    busy.outbox.start()
    #expect(try await busy.outbox.drain().isEmpty)
    await busy.outbox.stop()
    #expect(try await busy.world.count("SELECT count(*) FROM outbox_entry WHERE state = 5") == 10)
  }
}
