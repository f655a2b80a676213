import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import TestSupport
import Testing

/// The faults that other queues of this kind have had, each by its name.
@Suite(.limited) struct OutboxFaultTests {
  @Test func `two drains at once send each entry once`() async throws {
    let world = try OutboxWorld()
    let (one, two) = (try await world.outbox(), try await world.outbox())
    for number in 1...40 { try await one.enqueue(Ping(number: number)) }
    async let first = one.drain()
    async let second = one.drain()
    _ = try await (first, second)
    #expect(world.sent.count == 40)
    #expect(Set(world.sent).count == 40)
    #expect(try await two.drain().isEmpty)
  }

  @Test func `a second outbox on the file sends nothing while the first one sends, and then continues`() async throws {
    let (started, startedOne) = AsyncStream.makeStream(of: Void.self)
    let (gate, open) = AsyncStream.makeStream(of: Void.self)
    let world = try OutboxWorld { _ in
      startedOne.yield()
      for await _ in gate { break }
      return (200, "")
    }
    let (one, two) = (try await world.outbox(), try await world.outbox())
    try await one.enqueue(Ping(number: 1, lane: "a"))
    try await one.enqueue(Ping(number: 2, lane: "a"))
    one.start()
    for await _ in started { break }
    two.start()
    #expect(world.sent == ["POST /pings/1"])
    await one.stop()
    open.finish()
    try await two.drain()
    await two.stop()
    #expect(world.sent == ["POST /pings/1", "POST /pings/1", "POST /pings/2"])
    #expect(Set(world.mock.sent.map { $0.headers["Idempotency-Key"] }).count == 2)
  }

  @Test func `an entry that is enqueued during a drain does not overtake its lane`() async throws {
    let outboxes = Shared<Outbox?>(nil)
    let world = try OutboxWorld { request in
      if request.url.path() == "/pings/1" { try await outboxes.value?.enqueue(Ping(number: 3, lane: "a")) }
      return (200, "")
    }
    let outbox = try await world.outbox()
    outboxes.value = outbox
    for number in 1...2 { try await outbox.enqueue(Ping(number: number, lane: "a")) }
    try await outbox.drain()
    outboxes.value = nil
    #expect(world.sent == ["POST /pings/1", "POST /pings/2", "POST /pings/3"])
  }

  @Test func `a lane waits while its first entry is temporarily refused`() async throws {
    let count = Shared(0)
    let world = try OutboxWorld { _ in (count.next() < 3 ? 503 : 200, "") }
    let outbox = try await world.outbox()
    for number in 1...2 { try await outbox.enqueue(Ping(number: number, lane: "a")) }
    for _ in 1...3 {
      try await outbox.drain()
      world.clock.advance(by: .seconds(601))
    }
    #expect(world.sent == ["POST /pings/1", "POST /pings/1", "POST /pings/1", "POST /pings/2"])
  }

  @Test func `a failed attempt is scheduled again, and wakes when it is due`() async throws {
    let count = Shared(0)
    let world = try OutboxWorld { _ in (count.next() == 1 ? 503 : 200, "") }
    let outbox = try await world.outbox(OutboxConfiguration(backoff: Backoff(base: .seconds(20), jitter: .none)))
    var events = outbox.events().makeAsyncIterator()
    outbox.start()
    let entry = try await outbox.enqueue(Ping(number: 1))
    #expect(await events.next()?.kind == .retrying)
    let begin = world.clock.now
    let due = try await world.store.read { try outbox.summary(in: $0).nextAttempt }
    #expect(abs((due ?? .distantPast).timeIntervalSince(world.clock.date) - 20) < 0.01)
    while count.value < 2 {
      await world.clock.waitForSleepers(1)
      world.clock.advance(by: .seconds(1))
      // On a busy machine time runs ahead of the queue, but not by far.
      _ = try await world.store.read { try $0.query("SELECT 1", as: Int.self) }
    }
    _ = try await entry.value
    #expect(world.clock.now - begin >= .seconds(20))
    #expect(world.clock.now - begin < .seconds(600))
    await outbox.stop()
  }

  @Test func `an entry behind another one is due at once, although the clock was set back`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox()
    for number in 1...2 { try await outbox.enqueue(Ping(number: number, lane: "a")) }
    world.clock.setDate(world.clock.date.addingTimeInterval(-86_400))
    try await outbox.drain()
    #expect(world.sent == ["POST /pings/1", "POST /pings/2"])
  }

  @Test func `a bad network pauses the queue, and one request probes whether the network is back`() async throws {
    let isDown = Shared(true)
    let world = try OutboxWorld {
      if isDown.value { throw NetworkError(.cannotConnect, "a test", request: $0) }
      return (200, "")
    }
    let outbox = try await world.outbox()
    for number in 1...20 { try await outbox.enqueue(Ping(number: number)) }
    try await outbox.drain()
    let first = world.sent.count
    #expect(first <= 4)
    try await outbox.drain()
    #expect(world.sent.count <= first + 4)
    isDown.value = false
    #expect(try await outbox.drain().isEmpty)
    #expect(try await world.count("SELECT count(*) FROM outbox_entry WHERE state = 5") == 20)
  }

  /// Begins a drain with a limit of an hour; the second value is true when the drain is over.
  private func drainForAnHour(_ outbox: Outbox) -> (drain: Task<OutboxSummary, any Error>, isOver: Shared<Bool>) {
    let isOver = Shared(false)
    let drain = Task {
      defer { isOver.value = true }
      return try await outbox.drain(for: .seconds(3_600))
    }
    return (drain, isOver)
  }

  @Test func `a drain with a limit tries a bad network again until the limit`() async throws {
    let (begun, gates) = (TestGate(), (1...3).map { _ in TestGate() })
    let world = try OutboxWorld { request in
      begun.arrive()
      await gates[begun.arrivalCount - 1].pass()
      throw NetworkError(.cannotConnect, "a test", request: request)
    }
    let outbox = try await world.outbox()
    try await outbox.enqueue(Ping(number: 1))
    let (drain, isOver) = drainForAnHour(outbox)
    // Probes come after 1 and 2 seconds.
    for (count, gate) in gates.enumerated() {
      await world.letTimePass(besides: 1) { begun.arrivalCount > count }
      #expect(!isOver.value)
      if count < 2 { gate.open() }
    }
    // The limit ends the third one, whose response does not come.
    world.clock.advance(by: .seconds(3_600))
    gates[2].open()
    #expect(try await drain.value.waiting == 1)
    #expect(begun.arrivalCount == 3)
  }

  @Test func `a drain with a limit waits for an entry whose rest ends within it`() async throws {
    let count = Shared(0)
    let world = try OutboxWorld { request in
      // A server that is busy once, and a response that is lost once.
      switch count.next() {
      case 1: return (503, "")
      case 2: throw NetworkError(.connectionLost, "a test", request: request)
      default: return (200, #"{"id": 7}"#)
      }
    }
    let outbox = try await world.outbox()
    try await outbox.enqueue(Ping(number: 1))
    let (drain, isOver) = drainForAnHour(outbox)
    await world.letTimePass(besides: 1) { isOver.value }
    #expect(try await drain.value.isEmpty)
    #expect(count.value == 3)
  }

  @Test func `a drain does not wait for an entry whose rest outlasts its limit`() async throws {
    let world = try OutboxWorld { _ in (503, "") }
    let backoff = Backoff(base: .seconds(60), cap: .seconds(60), jitter: .none)
    let outbox = try await world.outbox(OutboxConfiguration(backoff: backoff))
    try await outbox.enqueue(Ping(number: 1))
    #expect(try await outbox.drain(for: .seconds(59)).waiting == 1)
    #expect(try await outbox.drain(for: .seconds(59)).waiting == 1)
    #expect(world.sent.count == 1)
  }

  @Test(arguments: [true, false])
  func `a drain with a limit does not wait for an entry that this program cannot send`(isOfOtherType: Bool)
    async throws
  {
    let count = Shared(0)
    let world = try OutboxWorld { _ in count.next() == 1 ? (503, "") : (200, #"{"id": 7}"#) }
    let origin = isOfOtherType ? "https://api.example.com/" : "https://old.example.com/"
    do {
      let earlier = try await world.outbox(world.client(base: origin))
      if isOfOtherType { try await earlier.enqueue(Ping(number: 1)) } else { try await earlier.enqueue(note("b")) }
    }
    let outbox = try await world.outbox(operations: [CreateNote.self])
    #expect(try await outbox.drain(for: .seconds(3_600)).held == 1)
    #expect(world.clock.now == .zero)
    // Beside it, an entry that rests is waited for.
    try await outbox.enqueue(note("a"))
    let (drain, isOver) = drainForAnHour(outbox)
    await world.letTimePass(besides: 1) { isOver.value }
    let left = try await drain.value
    #expect((left.waiting, left.held) == (0, 1))
    #expect(count.value == 2)
    #expect(world.clock.now < .seconds(60))
  }

  private func note(_ text: String) -> CreateNote { CreateNote(note: Note(id: UUID(), text: text)) }

  @Test func `a drain that is cancelled while an entry rests gives the lock of the file back at once`() async throws {
    let world = try OutboxWorld { _ in (503, "") }
    let backoff = Backoff(base: .seconds(60), cap: .seconds(60), jitter: .none)
    let outbox = try await world.outbox(OutboxConfiguration(backoff: backoff, pollInterval: .seconds(3_600)))
    try await outbox.enqueue(Ping(number: 1))
    let drain = Task { try await outbox.drain(for: .seconds(3_600)) }
    // The limit, and the wait of the loop.
    await world.clock.waitForSleepers(2)
    drain.cancel()
    await #expect(throws: CancellationError.self) { try await drain.value }
    while world.clock.sleeperCount > 0 { await Task.yield() }
    // Another outbox on the file sends, although the clock does not advance.
    let other = try await world.outbox(OutboxConfiguration(pollInterval: .seconds(3_600)))
    try await other.enqueue(Ping(number: 2))
    try await other.drain()
    #expect(world.sent == ["POST /pings/1", "POST /pings/2"])
  }

  @Test func `an app can list waiting entries, replace one, discard one and stop at the first failure`() async throws {
    let world = try OutboxWorld { _ in (422, "") }
    let outbox = try await world.outbox()
    let ids = try await [
      outbox.enqueue(Ping(number: 1, lane: "a")).id, outbox.enqueue(Ping(number: 2, lane: "a")).id,
      outbox.enqueue(Ping(number: 3, lane: "a")).id,
    ]
    try await outbox.replace(ids[1], with: Ping(number: 22, lane: "a"))
    try await outbox.discard(ids[2])
    let waiting = try await world.store.read { try outbox.waiting(Ping.self, in: $0) }
    #expect(waiting.map(\.operation.number) == [1, 22])
    #expect(waiting.map(\.state) == [.waiting(until: world.clock.date), .blocked])
    try await outbox.drain()
    #expect(world.sent == ["POST /pings/1"])
    #expect(try await world.states == [4, 2])
    #expect(try await outbox.entry(ids[1], of: Ping.self)?.operation.number == 22)
    #expect(try await outbox.entry(ids[2], of: Ping.self) == nil)
  }

  @Test func `an entry is sent with the user's newest credential`() async throws {
    let session = TokenSession(source: .closure { _ in throw NetworkError.notSignedIn("the test") })
    let world = try OutboxWorld()
    let outbox = try await world.outbox(world.client([.tokenAuth(session)]))
    try await session.signIn(AccessToken("old"), as: "a")
    try await outbox.enqueue(Ping(number: 1))
    try await session.signIn(AccessToken("new"), as: "a")
    try await outbox.drain()
    #expect(world.mock.sent.map { $0.headers["Authorization"] } == ["Bearer new"])
  }

  /// A part of a file: all of it, its schema, or the pages of a table or an index.
  enum Part: CaseIterable { case all, schema, entries, ready }

  @Test(arguments: Part.allCases) func `an unreadable file is not mistaken for an empty queue`(
    _ part: Part
  ) async throws {
    let folder: TemporaryFolder
    let pages: [Part: Int]
    do {
      let world = try OutboxWorld()
      folder = world.folder
      try await world.outbox().enqueue(Ping(number: 1))
      pages = try await [
        .entries: world.count("SELECT rootpage FROM sqlite_schema WHERE name = 'outbox_entry'"),
        .ready: world.count("SELECT rootpage FROM sqlite_schema WHERE name = 'outbox_ready'"),
      ]
      await world.store.close()
    }
    // Text in place of the database, or over a part of it.
    let url = URL(filePath: folder.file())
    var data = try Data(contentsOf: url)
    let range =
      switch part {
      case .all: 0..<data.count
      case .schema: 100..<4_096
      default: (try #require(pages[part]) - 1) * 4_096..<(try #require(pages[part])) * 4_096
      }
    data.replaceSubrange(range, with: Data(repeating: UInt8(ascii: "x"), count: range.count))
    try data.write(to: url)
    await #expect(throws: SQLiteError.self) {
      let world = try OutboxWorld(MockTransport(), file: folder)
      let outbox = try await world.outbox()
      try await outbox.drain()
    }
    // SQLite may have noted in the header that it has opened the file; the rest is as it was.
    let rest = try Data(contentsOf: url)
    #expect(rest.count == data.count)
    #expect(rest[100...] == data[100...])
  }

  @Test(arguments: ["sends", "failures", "crashes", "not_before", "refused_since"])
  func `a number in a damaged file that is too large does not end the process`(column: String) async throws {
    for value in [Int64.min, .max] {
      let responses = Shared([503, 200])
      let world = try OutboxWorld { _ in (responses.change { $0.removeFirst() }, "") }
      let outbox = try await world.outbox()
      try await outbox.enqueue(Ping(number: 1))
      await outbox.stop()
      try await world.store.write { db in
        let damaged: SQL = "\(sql: SQL(verbatim: column)) = \(value)"
        try db.execute("UPDATE outbox_entry SET state = 1, claim = 1, \(sql: damaged)")
      }
      let other = try await world.outbox()
      try await other.drain()
      #expect(world.sent.count <= 1)
      #expect(try await world.count("SELECT count(*) FROM outbox_entry") == 1)
    }
  }

  @Test(arguments: ["key", "operation", "origin", "created_at", "sends"])
  func `an entry with a value of a wrong kind is an error that names both`(column: String) async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox()
    try await outbox.enqueue(Ping(number: 1, expires: world.clock.date.addingTimeInterval(3_600)))
    try await world.store.write { db in
      try db.execute("UPDATE outbox_entry SET \(sql: SQL(verbatim: column)) = x'FF'")
    }
    let error = await #expect(throws: SQLiteError.self) { try await outbox.drain() }
    #expect(error?.code == .mismatch)
    #expect(error?.message.contains("entry 1: the column \"\(column)\" holds BLOB") == true)
    #expect(world.sent.isEmpty)
  }

  @Test func `an entry in a file that was removed is not acknowledged`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox()
    try FileManager.default.removeItem(atPath: world.folder.file())
    let error = await #expect(throws: SQLiteError.self) { try await outbox.enqueue(Ping(number: 1)) }
    #expect(error?.code == .readOnly)
  }

  @Test(arguments: [RequestMethod.post, .put, .patch, .delete])
  func `the key is sent with every method`(_ method: RequestMethod) async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox()
    let id = try await outbox.enqueue(Request<Void>(method, "a"))
    try await outbox.drain()
    #expect(world.mock.sent.map { $0.headers["Idempotency-Key"] } == [id.uuidString.lowercased()])
  }

  @Test func `retries, hedging and caching of the client do not repeat an attempt`() async throws {
    let world = try OutboxWorld { _ in (503, "") }
    let client = world.client([.retry(), .hedging(after: .milliseconds(1)), .caching(MemoryCacheStore())])
    let outbox = try await world.outbox(client)
    try await outbox.enqueue(.post("a").with(\.idempotencyKey, .generated))
    try await outbox.drain()
    #expect(world.sent.count == 1)
  }

  @Test func `a value is available while other entries wait`() async throws {
    let world = try OutboxWorld { request in (request.url.path() == "/pings/1" ? 503 : 200, #"{"id": 1}"#) }
    let outbox = try await world.outbox()
    try await outbox.enqueue(Ping(number: 1))
    let entry = try await outbox.enqueue(CreateNote(note: Note(id: UUID(), text: "tea")))
    #expect(try await outbox.drain().waiting == 1)
    #expect(try await entry.value == Receipt(id: 1))
  }

  @Test func `10,000 concurrent entries are all kept`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox()
    try await enqueue(10_000, in: outbox)
    #expect(try await world.count("SELECT count(*) FROM outbox_entry WHERE state = 0") == 10_000)
    #expect(try await world.store.read { try outbox.summary(in: $0).waiting } == 10_000)
  }

  @Test func `a long queue arrives, each entry once`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox()
    try await enqueue(1_000, in: outbox)
    #expect(try await outbox.drain().isEmpty)
    #expect(Set(world.sent).count == 1_000)
    #expect(world.sent.count == 1_000)
  }

  private func enqueue(_ count: Int, in outbox: Outbox) async throws {
    try await withThrowingTaskGroup { group in
      for number in 0..<count { group.addTask { try await outbox.enqueue(Ping(number: number)) } }
      try await group.waitForAll()
    }
  }
}
