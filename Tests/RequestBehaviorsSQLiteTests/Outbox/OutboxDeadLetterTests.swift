import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Dead letters, and attachments, which are removed with their entries.
@Suite(.limited) struct OutboxDeadLetterTests {
  @Test func `a dead letter can be changed and requeued under another key, and its lane continues`() async throws {
    let world = try OutboxWorld { request in (request.url.path() == "/pings/1" ? 422 : 200, "") }
    let outbox = try await world.outbox()
    for number in 1...2 { try await outbox.enqueue(Ping(number: number, lane: "a")) }
    try await outbox.drain()
    let letter = try #require(try await outbox.deadLetters().first)
    var ping = try letter.operation(Ping.self)
    ping.number = 11
    try await outbox.replace(letter.id, with: ping)
    try await outbox.requeue(letter.id)
    try await outbox.drain()
    #expect(world.sent == ["POST /pings/1", "POST /pings/11", "POST /pings/2"])
    #expect(Set(world.mock.sent.map { $0.headers["Idempotency-Key"] }).count == 3)
  }

  @Test func `the failure of a dead letter has the server's words`() async throws {
    let world = try OutboxWorld { _ in (422, #"{"message": "the number is taken"}"#) }
    let outbox = try await world.outbox()
    try await outbox.enqueue(Ping(number: 1))
    try await outbox.drain()
    let failure = OutboxFailure(.refused, statusCode: 422, message: "the response was 422: the number is taken")
    #expect(try await outbox.deadLetters().first?.state == .dead(failure))
  }

  @Test func `the failure of a dead letter does not contain the words of a portal`() async throws {
    let world = try OutboxWorld { _ in (422, #"{"message": "sign in to the hotel"}"#) }
    let portal = ClosureBehavior(modify: { $0.headers["X-Portal"] = "1" })
    let outbox = try await world.outbox(world.client([portal]))
    try await outbox.enqueue(Ping(number: 1))
    try await outbox.drain()
    #expect(try await world.count("SELECT count(*) FROM outbox_entry WHERE failure LIKE '%without a proof%'") == 1)
    #expect(try await world.count("SELECT count(*) FROM outbox_entry WHERE failure LIKE '%hotel%'") == 0)
  }

  @Test func `a lane continues after its dead letter is discarded, or at once if configured so`() async throws {
    for lanes in [OutboxConfiguration.LaneFailure.stops, .goesOn] {
      let world = try OutboxWorld { request in (request.url.path() == "/pings/1" ? 422 : 200, "") }
      let outbox = try await world.outbox(OutboxConfiguration(lanes: lanes))
      let first = try await outbox.enqueue(Ping(number: 1, lane: "a"))
      for number in 2...3 { try await outbox.enqueue(Ping(number: number, lane: "a")) }
      try await outbox.drain()
      #expect(world.sent.count == (lanes == .stops ? 1 : 3))
      try await outbox.discard(first.id)
      try await outbox.drain()
      #expect(world.sent == ["POST /pings/1", "POST /pings/2", "POST /pings/3"])
    }
  }

  /// A world whose server refuses everything until it is mended.
  private func unmended() throws -> (world: OutboxWorld, isMended: Shared<Bool>) {
    let isMended = Shared(false)
    return (try OutboxWorld { _ in (isMended.value ? 200 : 422, "") }, isMended)
  }

  @Test func `a requeued edit is sent before a later one that waits`() async throws {
    let (world, isMended) = try unmended()
    let outbox = try await world.outbox()
    let first = try await outbox.enqueue(Ping(number: 1, identity: "x", replaces: true))
    try await outbox.drain()
    try await outbox.enqueue(Ping(number: 2, identity: "x", replaces: true))
    isMended.value = true
    try await outbox.requeue(first.id)
    #expect(try await outbox.drain().isEmpty)
    #expect(world.sent == ["POST /pings/1", "POST /pings/1", "POST /pings/2"])
  }

  @Test(arguments: [OutboxConfiguration.LaneFailure.stops, .goesOn], [false, true])
  func `dead letters of a lane are sent in their original order, whatever the order of requeuing`(
    lanes: OutboxConfiguration.LaneFailure, isReversed: Bool
  ) async throws {
    let (world, isMended) = try unmended()
    // The second outbox sends as the argument says, behind dead letters that do not block.
    let first = try await world.outbox(OutboxConfiguration(lanes: .goesOn))
    for number in 1...3 { try await first.enqueue(Ping(number: number, lane: "a")) }
    try await first.drain()
    await first.stop()
    let outbox = try await world.outbox(OutboxConfiguration(lanes: lanes))
    try await outbox.enqueue(Ping(number: 4, lane: "a"))
    try await outbox.drain()
    try await outbox.enqueue(Ping(number: 5, lane: "a"))
    isMended.value = true
    let ids = try await outbox.deadLetters().map(\.id)
    try await outbox.requeue(isReversed ? ids.reversed() : ids)
    #expect(try await outbox.drain().isEmpty)
    #expect(world.sent.suffix(5) == (1...5).map { "POST /pings/\($0)" })
  }

  @Test func `a requeued entry is sent before a later one whose process ended while it was sent`() async throws {
    let (world, isMended) = try unmended()
    let outbox = try await world.outbox(OutboxConfiguration(lanes: .goesOn))
    let first = try await outbox.enqueue(Ping(number: 1, lane: "a"))
    try await outbox.drain()
    await outbox.stop()
    try await outbox.enqueue(Ping(number: 2, lane: "a"))
    // As a process leaves it that is killed before the request goes out.
    try await world.store.write { try $0.execute("UPDATE outbox_entry SET state = 1, claim = 5 WHERE state = 0") }
    try await outbox.requeue(first.id)
    isMended.value = true
    #expect(try await outbox.drain().isEmpty)
    #expect(world.sent == ["POST /pings/1", "POST /pings/1", "POST /pings/2"])
  }

  @Test func `a later entry still waits for its own time behind a requeued one`() async throws {
    let (world, isMended) = try unmended()
    let outbox = try await world.outbox(OutboxConfiguration(lanes: .goesOn))
    let first = try await outbox.enqueue(Ping(number: 1, lane: "a"))
    try await outbox.drain()
    try await outbox.enqueue(Ping(number: 2, lane: "a"))
    let time = Int((world.clock.date.timeIntervalSince1970 + 60) * 1_000)
    try await world.store.write { try $0.execute("UPDATE outbox_entry SET not_before = \(time) WHERE state = 0") }
    isMended.value = true
    try await outbox.requeue(first.id)
    try await outbox.drain()
    #expect(world.sent == ["POST /pings/1", "POST /pings/1"])
    world.clock.advance(by: .seconds(60))
    #expect(try await outbox.drain().isEmpty)
  }

  @Test func `an entry that is put back while a later one is being sent goes before its next attempt`() async throws {
    let (gate, attempts) = (TestGate(), Shared(0))
    let world = try OutboxWorld { request in
      switch attempts.next() {
      case 1: return (422, "")
      case 2:
        await gate.pass()
        return (503, "")
      default: return (200, "")
      }
    }
    let outbox = try await world.outbox()
    let first = try await outbox.enqueue(Ping(number: 1, identity: "x", replaces: true))
    try await outbox.drain()
    try await outbox.enqueue(Ping(number: 2, identity: "x", replaces: true))
    outbox.start()
    await gate.waitForArrivals(1)
    try await outbox.requeue(first.id)
    #expect(try await world.states == [2, 1])
    gate.open()
    try await world.letTimePass { try await world.states == [5, 5] }
    await outbox.stop()
    #expect(world.sent == ["POST /pings/1", "POST /pings/2", "POST /pings/1", "POST /pings/2"])
  }

  @Test func `each operation that an entry does not permit has its own error`() async throws {
    let count = Shared(0)
    let world = try OutboxWorld { _ in (count.next() == 1 ? 503 : 200, "") }
    let outbox = try await world.outbox()
    let entry = try await outbox.enqueue(Ping(number: 1))
    try await outbox.drain()
    await expect(.alreadySent) { try await outbox.replace(entry.id, with: Ping(number: 2)) }
    await expect(.notDead) { try await outbox.requeue(entry.id) }
    await expect(.noSuchEntry) { try await outbox.discard(UUID()) }
    let note = CreateNote(note: Note(id: UUID(), text: ""))
    await expect(.invalidOperations) { try await outbox.replace(entry.id, with: note) }
    world.clock.advance(by: .seconds(2))
    try await outbox.drain()
    await expect(.alreadySent) { try await outbox.discard(entry.id) }
  }

  private func expect(_ code: OutboxError.Code, _ work: () async throws -> Void) async {
    let error = await #expect(throws: OutboxError.self) { try await work() }
    #expect(error?.code == code)
  }

  @Test func `an entry that is being sent cannot be replaced, discarded or requeued`() async throws {
    let gate = TestGate()
    let world = try OutboxWorld { _ in
      await gate.pass()
      return (200, "")
    }
    let outbox = try await world.outbox()
    let entry = try await outbox.enqueue(Ping(number: 1, identity: "x", replaces: true))
    outbox.start()
    await gate.waitForArrivals(1)
    #expect(try await outbox.state(of: entry.id) == .sending)
    await expect(.alreadySent) { try await outbox.replace(entry.id, with: Ping(number: 2)) }
    await expect(.alreadySent) { try await outbox.discard(entry.id) }
    await expect(.notDead) { try await outbox.requeue(entry.id) }
    // A new edit goes behind it.
    #expect(try await outbox.enqueue(Ping(number: 3, identity: "x", replaces: true)).id != entry.id)
    gate.open()
    try await outbox.drain()
    await outbox.stop()
    #expect(world.sent == ["POST /pings/1", "POST /pings/3"])
  }

  /// An operation that cannot take back what was saved.
  private struct Clumsy: OutboxOperation {
    static let name = "clumsy"

    func request(in db: Database) -> Request<Void> { .post("clumsy") }

    func rejected(_ failure: OutboxFailure, in db: Database) throws {
      try db.execute("DELETE FROM note")
      throw SQLiteError(.constraint, "a test")
    }
  }

  @Test func `an entry becomes a dead letter although its changes cannot be undone, and the event has the error`()
    async throws
  {
    let world = try OutboxWorld { _ in (422, "") }
    let outbox = try await world.outbox(operations: [Clumsy.self])
    var events = outbox.events().makeAsyncIterator()
    try await world.store.write { _ = try $0.save([Note(id: UUID(), text: "milk")], into: "note") }
    try await outbox.enqueue(Clumsy())
    try await outbox.drain()
    #expect(try await world.states == [3])
    #expect(try await world.count("SELECT count(*) FROM note") == 1)
    let event = await events.next()
    #expect(event?.kind == .dead)
    #expect(event?.failure?.statusCode == 422)
    #expect((event?.error as? SQLiteError)?.code == .constraint)
  }

  @Test func `an entry expires without being sent, and can be put back`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox()
    let entry = try await outbox.enqueue(Ping(number: 1, expires: world.clock.date.addingTimeInterval(60)))
    world.clock.advance(by: .seconds(61))
    try await outbox.drain()
    #expect(world.sent.isEmpty)
    let failure = await #expect(throws: OutboxFailure.self) { try await entry.value }
    #expect(failure?.reason == .expired)
    try await outbox.requeue(entry.id)
    try await outbox.drain()
    #expect(world.sent.count == 1)
  }

  @Test func `a stored value that this version cannot decode is a dead letter`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox()
    let entry = try await outbox.enqueue(Ping(number: 1))
    try await world.store.write { try $0.execute("UPDATE outbox_entry SET payload = x'7b7d'") }
    try await outbox.drain()
    let failure = await #expect(throws: OutboxFailure.self) { try await entry.value }
    #expect(failure?.reason == .unreadable)
    #expect(world.sent.isEmpty)
  }

  // MARK: Attachments

  private struct Upload: OutboxOperation {
    static let name = "upload"
    var photos: [OutboxAttachment]

    func request(in db: Database) throws -> Request<Void> {
      guard let photo = photos.first else { throw OutboxNotReady() }
      return .put("photos/1", body: .file(photo.url))
    }
  }

  private func files(_ world: OutboxWorld) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: world.folder.file() + "-outbox")) ?? []
  }

  @Test(arguments: [0, 100_000], [false, true])
  func `an attachment is taken over, sent, and removed after the delivery`(size: Int, moving: Bool) async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox(operations: [Upload.self])
    let original = URL(filePath: world.folder.file("photo.jpg"))
    try Data(repeating: 7, count: size).write(to: original)
    let photo = try await outbox.attach(original, moving: moving)
    #expect(FileManager.default.fileExists(atPath: original.path) == !moving)
    try await outbox.enqueue(Upload(photos: [photo]))
    #expect(files(world).count == 1)
    try await outbox.drain()
    #expect(world.mock.sent.first?.body?.data?.count == size)
    while !files(world).isEmpty { await Task.yield() }
  }

  @Test func `an entry whose attachment is missing is a dead letter`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox(operations: [Upload.self])
    let original = URL(filePath: world.folder.file("photo.jpg"))
    try Data("a".utf8).write(to: original)
    let photo = try await outbox.attach(original)
    let entry = try await outbox.enqueue(Upload(photos: [photo]))
    try FileManager.default.removeItem(at: photo.url)
    try await outbox.drain()
    let failure = await #expect(throws: OutboxFailure.self) { try await entry.value }
    #expect(failure?.reason == .unreadable)
    #expect(failure?.message.contains(photo.url.lastPathComponent) == true)
  }

  @Test func `an attachment without an entry is removed after a day, and one with an entry stays`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox(operations: [Upload.self])
    let original = URL(filePath: world.folder.file("photo.jpg"))
    try Data("a".utf8).write(to: original)
    let kept = try await outbox.attach(original)
    _ = try await outbox.attach(original)
    try await outbox.enqueue(Upload(photos: [kept]))
    world.clock.advance(by: .seconds(86_000))
    _ = try await world.outbox(operations: [Upload.self])
    #expect(files(world).count == 2)
    world.clock.advance(by: .seconds(500))
    _ = try await world.outbox(operations: [Upload.self])
    while files(world).count > 1 { await Task.yield() }
    #expect(files(world) == [kept.url.lastPathComponent])
  }
}
