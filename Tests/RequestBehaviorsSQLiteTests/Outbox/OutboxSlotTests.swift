import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import TestSupport
import Testing

/// The entries that are claimed ahead, so that requests continue while the ends of others are written.
@Suite(.limited) struct OutboxSlotTests {
  /// Ten entries, of which four are being sent and two are claimed ahead.
  private struct Busy {
    let world: OutboxWorld
    let outbox: Outbox
    let begun = TestGate()
    let gate = TestGate()
    let isDown = Shared(false)
    /// The paths of the requests in the order in which they began.
    let paths = Shared<[String]>([])

    // The fifth entry can have a time after which it expires.
    init(expires limit: Duration? = nil) async throws {
      let (begun, gate, isDown, paths) = (begun, gate, isDown, paths)
      world = try OutboxWorld { request in
        paths.change { $0.append(request.url.path()) }
        begun.arrive()
        await gate.pass()
        try Task.checkCancellation()
        if isDown.value { throw NetworkError(.cannotConnect, "a test", request: request) }
        return (200, "")
      }
      outbox = try await world.outbox()
      let end = limit.map { world.clock.date.addingTimeInterval(Double($0.components.seconds)) }
      for number in 1...10 { try await outbox.enqueue(Ping(number: number, expires: number == 5 ? end : nil)) }
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

  @Test func `the oldest entries are sent first`() async throws {
    let busy = try await Busy()
    #expect(Set(busy.paths.value) == ["/pings/1", "/pings/2", "/pings/3", "/pings/4"])
    busy.gate.open()
    await busy.outbox.stop()
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

  @Test func `an entry that was claimed ahead does not wait for the time that a clock was set back`() async throws {
    let busy = try await Busy()
    let date = busy.world.clock.date.addingTimeInterval(-86_400)
    busy.world.clock.setDate(date)
    busy.isDown.value = true
    busy.gate.open()
    try await busy.waitForEnd()
    let now = Int(date.timeIntervalSince1970 * 1_000)
    let late = try await busy.world.count(
      "SELECT count(*) FROM outbox_entry WHERE seq IN (5, 6) AND not_before > \(now)")
    #expect(late == 0)
    await busy.outbox.stop()
  }

  @Test func `an entry whose time ends while it waits for its turn is not sent`() async throws {
    let busy = try await Busy(expires: .seconds(10))
    busy.world.clock.advance(by: .seconds(20))
    busy.gate.open()
    #expect(try await busy.outbox.drain().isEmpty)
    await busy.outbox.stop()
    #expect(!busy.world.sent.contains("POST /pings/5"))
    let letter = try #require(try await busy.outbox.deadLetters().first)
    guard case .dead(let failure) = letter.state else {
      Issue.record("the entry is \(letter.state)")
      return
    }
    #expect(failure.reason == .expired)
  }

  @Test func `any integer is accepted as the limit of concurrent requests`() async throws {
    let world = try OutboxWorld()
    for limit in [Int.max, 0, -1, .min] {
      let outbox = try await world.outbox(OutboxConfiguration(concurrency: limit))
      try await outbox.enqueue(Ping(number: 1))
      #expect(try await outbox.drain().isEmpty)
    }
    #expect(world.sent.count == 4)
  }

  @Test func `a part of the client that cancels itself does not keep later entries back`() async throws {
    let world = try OutboxWorld { request in
      if request.url.path() == "/pings/1" { throw CancellationError() }
      return (200, "")
    }
    let outbox = try await world.outbox(OutboxConfiguration(concurrency: 1))
    for number in 1...2 { try await outbox.enqueue(Ping(number: number)) }
    #expect(try await outbox.drain().waiting == 1)
    #expect(world.sent == ["POST /pings/1", "POST /pings/2"])
  }

  @Test func `a cancelled drain sends no further entry`() async throws {
    let (begun, gate) = (TestGate(), TestGate())
    let world = try OutboxWorld { _ in
      begun.arrive()
      await gate.pass()
      return (200, "")
    }
    let outbox = try await world.outbox()
    for number in 1...10 { try await outbox.enqueue(Ping(number: number)) }
    let drain = Task { try await outbox.drain() }
    await begun.waitForArrivals(4)
    while try await world.states.filter({ $0 == 1 }).count < 6 { await Task.yield() }
    drain.cancel()
    await #expect(throws: CancellationError.self) { try await drain.value }
    gate.open()
    while try await world.states.contains(1) { await Task.yield() }
    #expect(begun.arrivalCount == 4)
  }

  @Test func `the claims of an ended process are given back although the first try fails`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox()
    let entry = try await outbox.enqueue(Ping(number: 1))
    try await world.store.write { try $0.execute("UPDATE outbox_entry SET state = 1, claim = 7") }
    var events = outbox.events().makeAsyncIterator()
    await world.store.suspend()
    outbox.start()
    while let event = await events.next(), event.kind != .failed {}
    world.store.resume()
    try await world.letTimePass { try await outbox.state(of: entry.id) == .delivered }
    await outbox.stop()
    #expect(world.sent.count == 1)
  }

  @Test func `an entry whose time ends before its task begins is not sent`() async throws {
    let world = try OutboxWorld()
    let base = world.clock.requestClock
    let hasAsked = Shared(false)
    let isLate = Shared(false)
    // The attempt asks for its slot right after its request was made, and reads both clocks then.
    let clock = RequestClock(
      now: {
        if Late.isMade.value { hasAsked.value = true }
        return base.now()
      },
      date: {
        let date = base.date().addingTimeInterval(isLate.value ? 20 : 0)
        if hasAsked.value { isLate.value = true }
        return date
      },
      sleep: { try await base.sleep(for: $0) })
    var configuration = RequestConfiguration(
      baseURL: URL(string: "https://api.example.com/"), behaviors: [.nonceVerification()])
    configuration.clock = clock
    let client = NetworkClient(configuration: configuration, transport: world.mock)
    let outbox = try await world.outbox(client, operations: [Late.self], OutboxConfiguration(concurrency: 1))
    try await outbox.enqueue(Late(expires: world.clock.date.addingTimeInterval(10)))
    outbox.start()
    while try await world.count("SELECT count(*) FROM outbox_entry WHERE state < 2") > 0 { await Task.yield() }
    #expect(isLate.value)
    #expect(world.sent.isEmpty)
    await outbox.stop()
  }
}

private struct Late: OutboxOperation {
  static let name = "late"
  static let isMade = Shared(false)
  var expires: Date
  var delivery: OutboxDelivery { OutboxDelivery(expires: expires) }

  func request(in db: Database) -> Request<Void> {
    Late.isMade.value = true
    return .post("late")
  }
}
