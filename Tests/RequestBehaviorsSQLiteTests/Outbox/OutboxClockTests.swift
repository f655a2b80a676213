import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import TestSupport
import Testing

/// An outbox on a device whose date is set while it runs, as that of one without a battery is after each start.
@Suite(.limited) struct OutboxClockTests {
  private static let year: TimeInterval = 365 * 86_400
  private let session = TokenSession(source: .closure { _ in throw NetworkError.notSignedIn("the test") })

  // MARK: Back

  @Test func `a wait follows a clock that is set back while the file cannot be written`() async throws {
    let (vfs, folder, clock) = (FaultVFS(), try TemporaryFolder(), ManualClock())
    let mock = MockTransport { request in
      let nonce = request.headers["X-API-Nonce"] ?? ""
      return NetworkResponse(
        request: request, statusCode: 503, headers: ["X-API-Nonce": nonce, "Retry-After": "3600"])
    }
    var configuration = RequestConfiguration(
      baseURL: URL(string: "https://api.example.com"), behaviors: [.nonceVerification()])
    configuration.clock = clock.requestClock
    let store = try SQLiteStore(path: folder.file(), configuration: vfs.configuration())
    let client = NetworkClient(configuration: configuration, transport: mock)
    let outbox = try await Outbox(store, client: client, operations: [Ping.self])
    let entry = try await outbox.enqueue(Ping(number: 1))
    try await outbox.drain()
    clock.setDate(clock.date.addingTimeInterval(-Self.year))
    vfs.fail(at: 1, andAfter: true)
    await #expect(throws: SQLiteError.self) { try await outbox.drain() }
    #expect(vfs.heal())
    try await outbox.drain()
    #expect(try await outbox.state(of: entry.id) == .waiting(until: clock.date.addingTimeInterval(3_600)))
    clock.advance(by: .seconds(3_600))
    try await outbox.drain()
    #expect(mock.sent.count == 2)
    await outbox.stop()
    await store.close()
  }

  // MARK: Forward

  // The last date of a file is about 317,000 years away.
  @Test(arguments: [300_000.0, 400_000, 1e15])
  func `an entry that a server puts off after the last date rests`(_ years: Double) async throws {
    let world = try OutboxWorld { _ in (503, "") }
    let outbox = try await world.outbox()
    world.clock.setDate(Date(timeIntervalSince1970: years * Self.year))
    try await outbox.enqueue(Ping(number: 1))
    let summary = try await outbox.drain()
    #expect(summary.waiting == 1)
    #expect(world.sent.count == 1)
  }

  @Test func `the patience with a server does not end because the clock is set forward`() async throws {
    let world = try OutboxWorld { _ in (503, "") }
    let outbox = try await world.outbox(OutboxConfiguration(patience: .seconds(3_600)))
    try await outbox.enqueue(Ping(number: 1))
    try await outbox.drain()
    world.clock.setDate(world.clock.date.addingTimeInterval(Self.year))
    for attempts in 2...7 {
      #expect(try await world.states == [0])
      world.clock.advance(by: .seconds(601))
      try await outbox.drain()
      #expect(world.sent.count == attempts)
    }
    // Nor is it longer than it is.
    #expect(try await world.states == [3])
  }

  @Test func `a delivery is remembered for a day, although the clock is set forward by a year`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox()
    let first = try await outbox.enqueue(Ping(number: 1, identity: "x"))
    try await outbox.drain()
    world.clock.setDate(world.clock.date.addingTimeInterval(Self.year))
    try await outbox.enqueue(Ping(number: 2))
    try await outbox.drain()
    #expect(try await outbox.enqueue(Ping(number: 3, identity: "x")).id == first.id)
    world.clock.advance(by: .seconds(86_401))
    #expect(try await outbox.enqueue(Ping(number: 4, identity: "x")).id != first.id)
    #expect(world.sent == ["POST /pings/1", "POST /pings/2"])
  }

  @Test func `a delivery is remembered for as long as its own outbox says, whatever another one delivers`() async throws
  {
    let world = try OutboxWorld()
    var patient = OutboxConfiguration()
    patient.remembersDelivered = .seconds(30 * 86_400)
    let work = try await world.outbox(name: "work", patient)
    let home = try await world.outbox(name: "home")
    let first = try await work.enqueue(Ping(number: 1, identity: "x"))
    try await work.drain()
    world.clock.advance(by: .seconds(2 * 86_400))
    try await home.enqueue(Ping(number: 2))
    try await home.drain()
    #expect(try await work.enqueue(Ping(number: 3, identity: "x")).id == first.id)
    try await work.drain()
    #expect(world.sent == ["POST /pings/1", "POST /pings/2"])
  }

  @Test func `an account that is away for an hour keeps its entries, although the clock is set forward by a year`()
    async throws
  {
    let world = try OutboxWorld { _ in (503, "") }
    let outbox = try await world.outbox(world.client([.tokenAuth(session)]))
    try await session.signIn(AccessToken("token"), as: "a")
    try await outbox.enqueue(Ping(number: 1))
    try await session.signOut()
    try await outbox.drain()
    #expect(try await world.count("SELECT count(*) FROM outbox_absence") == 1)
    world.clock.setDate(world.clock.date.addingTimeInterval(Self.year))
    // The accounts are looked for once an hour.
    world.clock.advance(by: .seconds(3_600))
    try await outbox.drain()
    #expect(try await world.states == [0])
    // For 30 days, and not longer.
    world.clock.advance(by: .seconds(30 * 86_400))
    try await outbox.drain()
    #expect(try await world.states == [3])
  }

  @Test func `the patience does not end because the clock is set forward while a request is under way`() async throws {
    let (clock, count) = (Shared<ManualClock?>(nil), Shared(0))
    let world = try OutboxWorld { _ in
      if count.next() == 2, let clock = clock.value { clock.setDate(clock.date.addingTimeInterval(Self.year)) }
      return (503, "")
    }
    clock.value = world.clock
    let outbox = try await world.outbox()
    try await outbox.enqueue(Ping(number: 1))
    for attempts in 1...3 {
      try await outbox.drain()
      #expect(world.sent.count == attempts)
      #expect(try await world.states == [0])
      world.clock.advance(by: .seconds(601))
    }
  }
}
