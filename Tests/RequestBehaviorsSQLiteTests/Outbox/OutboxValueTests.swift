import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Many tasks that wait for the values of their entries, and entries that others end.
@Suite(.limited) struct OutboxValueTests {
  /// A store that counts the reads of single entries, and a client whose server takes all.
  private struct Counted {
    let folder: TemporaryFolder
    let store: SQLiteStore
    let client: NetworkClient
    let clock = ManualClock()
    let reads = Shared(0)

    init(_ folder: TemporaryFolder? = nil, pollInterval: Duration? = nil) throws {
      let folder = try folder ?? TemporaryFolder()
      var configuration = SQLiteConfiguration(changePollInterval: pollInterval)
      configuration.clock = clock.requestClock
      configuration.trace = { [reads] event in
        let isRead = event.sql.hasPrefix("SELECT") && event.sql.contains("FROM outbox_entry WHERE id = ?")
        if isRead { _ = reads.next() }
      }
      var settings = RequestConfiguration(
        baseURL: URL(string: "https://api.example.com"), behaviors: [.nonceVerification()])
      settings.clock = clock.requestClock
      let mock = MockTransport { request in
        NetworkResponse(
          request: request, statusCode: 200, headers: ["X-API-Nonce": request.headers["X-API-Nonce"] ?? ""])
      }
      self.folder = folder
      store = try SQLiteStore(path: folder.file(), configuration: configuration)
      client = NetworkClient(configuration: settings, transport: mock)
    }

    func outbox() async throws -> Outbox { try await Outbox(store, client: client, operations: [Ping.self]) }

    /// Enqueues entries in one transaction, and returns them.
    func entries(_ count: Int, in outbox: Outbox) async throws -> [OutboxEntry<Ping>] {
      try await outbox.write { db, queue in
        for number in 0..<count { try queue.enqueue(Ping(number: number), in: db) }
      }
      return try await store.read { try outbox.waiting(Ping.self, in: $0) }
    }
  }

  @Test func `the cost of values that many tasks wait for grows with their number and not with its square`()
    async throws
  {
    let (world, count) = (try Counted(), 1_000)
    let outbox = try await world.outbox()
    let entries = try await world.entries(count, in: outbox)
    let waiting = entries.map { entry in Task { try await entry.value } }
    while world.reads.value < count { await Task.yield() }
    try await outbox.drain()
    for task in waiting { try await task.value }
    // Each task reads its entry once when it begins to wait, and one look reads them all.
    #expect(world.reads.value <= 4 * count)
  }

  @Test(arguments: [nil, Duration.seconds(1)])
  func `a wait for a value ends with an error when another store on the file has delivered the entry`(
    pollInterval: Duration?
  ) async throws {
    let world = try Counted(pollInterval: pollInterval)
    let other = try Counted(world.folder)
    let (outbox, sender) = (try await world.outbox(), try await other.outbox())
    let entries = try await world.entries(100, in: outbox)
    let waiting = entries.map { entry in Task { try await entry.value } }
    while world.reads.value < 100 { await Task.yield() }
    try await sender.drain()
    let ends = Shared(0)
    let watch = Task {
      for task in waiting {
        if case .failure(let error as OutboxError) = await task.result, error.code == .deliveredEarlier {
          _ = ends.next()
        }
      }
    }
    while ends.value < 100 {
      world.clock.advance(by: .seconds(1))
      await Task.yield()
    }
    await watch.value
    #expect(ends.value == 100)
  }

  @Test func `the states of an entry end when another store on the file has delivered it`() async throws {
    let world = try Counted()
    let other = try Counted(world.folder)
    let (outbox, sender) = (try await world.outbox(), try await other.outbox())
    let entry = try #require(try await world.entries(1, in: outbox).first)
    let (last, isOver) = (Shared<OutboxState?>(nil), Shared(false))
    let loop = Task {
      for await state in entry.states { last.value = state }
      isOver.value = true
    }
    while last.value == nil { await Task.yield() }
    try await sender.drain()
    while !isOver.value {
      world.clock.advance(by: .seconds(1))
      await Task.yield()
    }
    await loop.value
    #expect(last.value == .delivered)
    // The file is no longer polled for commits of others.
    while world.clock.sleeperCount > 0 { await Task.yield() }
  }

  @Test func `an entry that is discarded ends the wait for its value`() async throws {
    let world = try Counted()
    let outbox = try await world.outbox()
    let entry = try #require(try await world.entries(1, in: outbox).first)
    let wait = Task { try await entry.value }
    while world.reads.value < 1 { await Task.yield() }
    try await outbox.discard(entry.id)
    let error = await #expect(throws: OutboxError.self) { try await wait.value }
    #expect(error?.code == .noSuchEntry)
  }

  @Test func `an entry that the app itself deletes ends the wait for its value`() async throws {
    let world = try Counted()
    let outbox = try await world.outbox()
    let entry = try #require(try await world.entries(1, in: outbox).first)
    let wait = Task { try await entry.value }
    while world.reads.value < 1 { await Task.yield() }
    try await world.store.write { try $0.execute("DELETE FROM outbox_entry") }
    let error = await #expect(throws: OutboxError.self) { try await wait.value }
    #expect(error?.code == .noSuchEntry)
  }

  @Test func `a wait for a value outlasts a suspension of the store`() async throws {
    let world = try Counted()
    let outbox = try await world.outbox()
    let entry = try #require(try await world.entries(1, in: outbox).first)
    await world.store.suspend()
    let wait = Task { try await entry.value }
    let begun = Task { for _ in 1...100 { await Task.yield() } }
    await begun.value
    world.store.resume()
    try await outbox.drain()
    try await wait.value
  }

  @Test func `closing the store ends the wait for a value`() async throws {
    let world = try Counted()
    let outbox = try await world.outbox()
    let entry = try #require(try await world.entries(1, in: outbox).first)
    let wait = Task { try await entry.value }
    while world.reads.value < 1 { await Task.yield() }
    await world.store.close()
    let error = await #expect(throws: SQLiteError.self) { try await wait.value }
    #expect(error?.code == .misuse)
  }
}
