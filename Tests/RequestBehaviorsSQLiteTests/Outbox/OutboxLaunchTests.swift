import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Launches of the program, extensions of an app, and databases in memory.
@Suite(.limited) struct OutboxLaunchTests {
  /// The first version of an operation.
  private struct Old: OutboxOperation {
    static let name = "rename"
    var title: String

    func request(in db: Database) -> Request<Void> { .post("old/\(title)") }
  }

  /// The same operation in an update of the app, which sends it elsewhere.
  private struct New: OutboxOperation {
    static let name = "rename"
    var title: String
    var color: String?

    func request(in db: Database) -> Request<Void> { .put("new/\(title)", query: ["color": color]) }
  }

  @Test func `a newer version sends the entry of an older one in its own format`() async throws {
    let world = try OutboxWorld()
    do { try await world.outbox(operations: [Old.self]).enqueue(Old(title: "a")) }
    let outbox = try await world.outbox(operations: [New.self], OutboxConfiguration(concurrency: 1))
    try await outbox.enqueue(New(title: "b", color: "red"))
    #expect(try await outbox.drain().isEmpty)
    #expect(world.sent == ["PUT /new/a", "PUT /new/b"])
  }

  @Test func `an entry that an extension enqueues is sent by the app within an interval`() async throws {
    let app = try OutboxWorld()
    let outbox = try await app.outbox()
    outbox.start()
    await app.clock.waitForSleepers(1)
    let other = try OutboxWorld(MockTransport(), file: app.folder)
    let id = try await other.outbox().enqueue(Ping(number: 1)).id
    #expect(app.sent.isEmpty)
    try await app.letTimePass { try await outbox.state(of: id) == .delivered }
    #expect(app.sent == ["POST /pings/1"])
    #expect(other.sent.isEmpty)
    await outbox.stop()
  }

  @Test func `values and states of an entry continue after a restart`() async throws {
    let first = try OutboxWorld()
    let id: UUID
    do {
      let outbox = try await first.outbox()
      id = try await outbox.enqueue(Ping(number: 1)).id
      await first.store.close()
    }
    let world = try OutboxWorld(first.mock, file: first.folder)
    let outbox = try await world.outbox()
    let entry = try #require(try await outbox.entry(id, of: Ping.self))
    #expect(entry.operation.number == 1)
    var states = entry.states.makeAsyncIterator()
    guard case .waiting? = await states.next() else {
      Issue.record("the entry does not wait")
      return
    }
    var numbers = world.store.values { db in try outbox.waiting(Ping.self, in: db).map(\.operation.number) }
      .makeAsyncIterator()
    #expect(try await numbers.next() == [1])
    try await outbox.drain()
    #expect(try await numbers.next() == [])
    var last = await states.next()
    while let state = last, state != .delivered { last = await states.next() }
    #expect(last == .delivered)
    try await entry.value
    #expect(try await outbox.entry(id, of: Ping.self) == nil)
  }

  @Test func `a queue in memory works as one in a file, without attachments`() async throws {
    let world = try OutboxWorld()
    let store = try SQLiteStore(path: ":memory:", migrations: [OutboxWorld.notes])
    let outbox = try await Outbox(store, client: world.client(), operations: OutboxWorld.operations)
    let other = try await Outbox(store, client: world.client(), operations: OutboxWorld.operations)
    for number in 1...10 { try await outbox.enqueue(Ping(number: number, lane: "a")) }
    // The one that does not send looks again each second.
    let drains = Shared(0)
    async let one = outbox.drain()
    async let two = other.drain()
    async let time: Void = world.letTimePass { drains.value == 1 }
    _ = try await (one, two)
    _ = drains.next()
    await time
    #expect(world.sent == (1...10).map { "POST /pings/\($0)" })
    let error = await #expect(throws: SQLiteError.self) { try await outbox.attach(URL(filePath: "/etc/hostname")) }
    #expect(error?.code == .misuse)
    // Another database in memory is another queue.
    let separate = try await Outbox(
      SQLiteStore(path: ":memory:"), client: world.client(), operations: OutboxWorld.operations)
    try await separate.enqueue(Ping(number: 11))
    #expect(try await separate.drain().isEmpty)
  }

  @Test func `a queue that is opened again keeps its tables, and two versions of one name are one queue`() async throws
  {
    let world = try OutboxWorld()
    for number in 1...3 { try await world.outbox().enqueue(Ping(number: number)) }
    #expect(try await world.count("SELECT count(*) FROM outbox_meta") == 1)
    // The migration of the user's own table is the only one that is counted here.
    #expect(try await world.count("PRAGMA user_version") == 1)
    #expect(try await world.outbox().drain().isEmpty)
    #expect(world.sent.count == 3)
  }
}
