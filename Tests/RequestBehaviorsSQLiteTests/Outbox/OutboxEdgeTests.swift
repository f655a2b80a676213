import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Redirects, intermediaries, clocks, files and ends of sending that meet at an unlucky moment.
@Suite(.limited) struct OutboxEdgeTests {
  // MARK: Redirects

  /// A server that redirects `/pings/1` and responds to everything else by a result; without one, the connection is
  /// lost.
  private func redirecting(
    _ status: Int, to location: String = "/moved", result: Int? = 200
  ) throws -> OutboxWorld {
    try OutboxWorld(
      MockTransport { request in
        let isFirst = request.url.path() == "/pings/1"
        guard let code = isFirst ? status : result else { throw NetworkError(.connectionLost, "a test") }
        var response = NetworkResponse(request: request, statusCode: code)
        if isFirst { response.headers["Location"] = location }
        response.headers["X-API-Nonce"] = request.headers["X-API-Nonce"]
        return response
      })
  }

  @Test(arguments: [301, 302])
  func `a redirect that would drop the method and the body is not followed, and does not count as a delivery`(
    status: Int
  ) async throws {
    let world = try redirecting(status)
    let outbox = try await world.outbox()
    let entry = try await outbox.enqueue(Ping(number: 1))
    try await outbox.drain()
    #expect(world.sent == ["POST /pings/1"])
    #expect(try await world.states == [3])
    let failure = await #expect(throws: OutboxFailure.self) { try await entry.value }
    #expect(failure?.statusCode == status)
    #expect(failure?.message.contains("307") == true)
  }

  @Test(arguments: [(303, "GET /moved"), (307, "POST /moved"), (308, "POST /moved")])
  func `a redirect that keeps the request, or shows its result, is followed`(
    status: Int, second: String
  ) async throws {
    let world = try redirecting(status)
    let outbox = try await world.outbox()
    try await outbox.enqueue(Ping(number: 1))
    try await outbox.drain()
    #expect(world.sent == ["POST /pings/1", second])
    #expect(try await world.states == [5])
  }

  @Test(arguments: [(404, 5), (410, 5), (503, 0), (nil, 0)])
  func `a 303 is a delivery if its target is refused for good, and is sent again after a temporary failure`(
    status: Int?, state: Int
  ) async throws {
    let world = try redirecting(303, result: status)
    let outbox = try await world.outbox()
    try await outbox.enqueue(Ping(number: 1))
    try await outbox.drain()
    #expect(world.sent == ["POST /pings/1", "GET /moved"])
    #expect(try await world.states == [state])
  }

  @Test func `a 303 to a refused sign-in on another origin does not count as a delivery`() async throws {
    let world = try redirecting(303, to: "https://sso.example.com/login", result: 403)
    let outbox = try await world.outbox(OutboxConfiguration(trust: .anyone))
    try await outbox.enqueue(Ping(number: 1))
    #expect(try await outbox.drain().dead == 1)
  }

  @Test func `a 303 of a portal does not count as a delivery`() async throws {
    let world = try OutboxWorld(
      MockTransport { request in
        NetworkResponse(request: request, statusCode: 303, headers: ["Location": "https://portal.example.com/"])
      })
    let outbox = try await world.outbox()
    try await outbox.enqueue(Ping(number: 1))
    try await outbox.drain()
    #expect(try await world.states == [0])
  }

  @Test(arguments: ["https://portal.example.com/", "/"], [200, 403])
  func `after a 303 of a portal, no response counts that has the field of the proof`(
    location: String, status: Int
  ) async throws {
    let world = try OutboxWorld(
      MockTransport { request in
        guard request.method == .get else {
          return NetworkResponse(request: request, statusCode: 303, headers: ["Location": location])
        }
        return NetworkResponse(request: request, statusCode: status, headers: ["X-Request-Id": "1"])
      })
    let client = world.client().with { $0.behaviors = [] }
    let trust = OutboxTrust.when { $0.headers["X-Request-Id"] != nil }
    let outbox = try await world.outbox(client, OutboxConfiguration(trust: trust))
    try await outbox.enqueue(Ping(number: 1))
    try await outbox.drain()
    #expect(world.sent == ["POST /pings/1", "GET /"])
    #expect(try await world.states == [0])
  }

  @Test(arguments: [307, 308])
  func `a redirect to another origin, which would drop the entry's key, is not followed`(status: Int) async throws {
    let world = try redirecting(status, to: "https://other.example.com/moved")
    let outbox = try await world.outbox()
    let entry = try await outbox.enqueue(Ping(number: 1))
    #expect(try await outbox.drain().dead == 1)
    #expect(world.sent == ["POST /pings/1"])
    let failure = await #expect(throws: OutboxFailure.self) { try await entry.value }
    #expect(failure?.reason == .refused)
    #expect(failure?.statusCode == status)
    #expect(failure?.message.contains("https://other.example.com") == true)
  }

  @Test func `a redirect within the origin keeps the key in a custom field`() async throws {
    let world = try redirecting(307)
    let outbox = try await world.outbox()
    try await outbox.enqueue(.post("pings/1"), delivery: OutboxDelivery(key: .generated.inField("X-Key")))
    #expect(try await outbox.drain().isEmpty)
    #expect(world.sent == ["POST /pings/1", "POST /moved"])
    #expect(Set(world.mock.sent.map { $0.headers["X-Key"] }).count == 1)
  }

  // MARK: Intermediaries

  /// A server whose responses a portal replaces until it is open.
  private func behindPortal() throws -> (world: OutboxWorld, isOpen: Shared<Bool>) {
    let isOpen = Shared(false)
    let mock = MockTransport { request in
      var response = NetworkResponse(request: request, statusCode: isOpen.value ? 200 : 502)
      if isOpen.value { response.headers["X-API-Nonce"] = request.headers["X-API-Nonce"] }
      return response
    }
    return (try OutboxWorld(mock), isOpen)
  }

  @Test func `an entry whose response was an intermediary's keeps its value, because the server may know the key`()
    async throws
  {
    let (world, isOpen) = try behindPortal()
    let outbox = try await world.outbox()
    let first = try await outbox.enqueue(Ping(number: 1, identity: "x", replaces: true))
    try await outbox.drain()
    let error = await #expect(throws: OutboxError.self) {
      try await outbox.replace(first.id, with: Ping(number: 2, identity: "x", replaces: true))
    }
    #expect(error?.code == .alreadySent)
    let second = try await outbox.enqueue(Ping(number: 3, identity: "x", replaces: true))
    #expect(second.id != first.id)
    isOpen.value = true
    try await outbox.drain()
    #expect(world.sent == ["POST /pings/1", "POST /pings/1", "POST /pings/3"])
    #expect(Set(world.mock.sent.map { $0.headers["Idempotency-Key"] }).count == 2)
  }

  @Test func `an entry that did not get a connection can still be replaced`() async throws {
    let world = try OutboxWorld { throw NetworkError(.cannotConnect, "a test", request: $0) }
    let outbox = try await world.outbox()
    let first = try await outbox.enqueue(Ping(number: 1, identity: "x", replaces: true))
    try await outbox.drain()
    let second = try await outbox.enqueue(Ping(number: 2, identity: "x", replaces: true))
    #expect(second.id == first.id)
    #expect(try await world.count("SELECT sends FROM outbox_entry") == 0)
  }

  // MARK: Pauses

  /// A world whose first request fails and whose second hangs; the gate counts those that hang.
  private func hanging() throws -> (world: OutboxWorld, gate: TestGate) {
    let (count, gate) = (Shared(0), TestGate())
    let world = try OutboxWorld { request in
      if count.next() == 1 { throw NetworkError(.cannotConnect, "a test", request: request) }
      await gate.pass()
      return (200, "")
    }
    return (world, gate)
  }

  @Test func `while a probe is under way the queue polls only once an interval`() async throws {
    let (world, gate) = try hanging()
    let outbox = try await world.outbox()
    var events = outbox.events().makeAsyncIterator()
    try await outbox.enqueue(Ping(number: 1))
    outbox.start()
    while let event = await events.next(), event.kind != .paused {}
    while gate.arrivalCount == 0 {
      await world.clock.waitForSleepers(1)
      world.clock.advance(by: .seconds(1))
      await Task.yield()
    }
    await world.expectOneLookAnInterval(sleepers: 1)
    gate.open()
    try await outbox.drain()
    await outbox.stop()
  }

  @Test func `an outbox that waits for another one polls once an interval`() async throws {
    let gate = TestGate()
    let world = try OutboxWorld { _ in
      await gate.pass()
      return (200, "")
    }
    let configuration = OutboxConfiguration(concurrency: 1)
    let (one, two) = (try await world.outbox(configuration), try await world.outbox(configuration))
    for number in 1...2 { try await one.enqueue(Ping(number: number)) }
    one.start()
    await gate.waitForArrivals(1)
    two.start()
    await world.expectOneLookAnInterval(sleepers: 2)
    gate.open()
    try await one.drain()
    await one.stop()
    await two.stop()
    #expect(world.sent.count == 2)
  }

  @Test(arguments: [true, false])
  func `a new network of the device, and a report that fails, end a pause`(fails: Bool) async throws {
    struct Failure: Error {}
    let isDown = Shared(true)
    let world = try OutboxWorld {
      if isDown.value { throw NetworkError(.cannotConnect, "a test", request: $0) }
      return (200, "")
    }
    let (updates, reports) = AsyncThrowingStream.makeStream(of: Bool.self)
    let outbox = try await world.outbox(world.client([.offline(Connectivity(updates))]))
    var events = outbox.events().makeAsyncIterator()
    let entry = try await outbox.enqueue(Ping(number: 1))
    outbox.start()
    while let event = await events.next(), event.kind != .paused {}
    isDown.value = false
    // Online as before, over another network. No time passes.
    if fails { reports.finish(throwing: Failure()) } else { reports.yield(true) }
    try await entry.value
    #expect(world.clock.now == .zero)
    #expect(world.sent.count == 2)
    #expect(await events.next()?.kind == .resumed)
    await outbox.stop()
  }

  /// Keeps its database, which it must not.
  private struct Keeping: OutboxOperation {
    final class Kept: @unchecked Sendable { var database: Database? }

    static let name = "keeping"
    static let kept = Kept()

    func request(in db: Database) -> Request<Void> {
      Self.kept.database = db
      return .post("keeping")
    }
  }

  @Test func `the database of a request fails after the method, and the store goes on`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox(operations: [Keeping.self])
    try await outbox.enqueue(Keeping())
    let error = #expect(throws: SQLiteError.self) { try Keeping.kept.database?.query("SELECT 1", as: Int.self) }
    #expect(error?.code == .misuse)
    #expect(try await outbox.drain().isEmpty)
  }

  @Test func `a new network during an attempt that fails begins no pause`() async throws {
    let (requests, gate) = (Shared(0), TestGate())
    let world = try OutboxWorld {
      guard requests.next() == 1 else { return (200, "") }
      await gate.pass()
      throw NetworkError(.cannotConnect, "a test", request: $0)
    }
    let (updates, reports) = AsyncStream.makeStream(of: Bool.self)
    let connectivity = Connectivity(updates)
    let outbox = try await world.outbox(world.client([.offline(connectivity)]))
    let entry = try await outbox.enqueue(Ping(number: 1))
    outbox.start()
    await gate.waitForArrivals(1)
    reports.yield(true)
    // Read after the first one, which the outbox has heard of by then.
    reports.yield(false)
    while connectivity.isOnline { await Task.yield() }
    reports.yield(true)
    while !connectivity.isOnline { await Task.yield() }
    gate.open()
    // No time passes, so that a pause would not end.
    try await entry.value
    #expect(world.sent.count == 2)
    await outbox.stop()
  }

  @Test func `while the device is offline no request is sent, and a new network is used at once`() async throws {
    let world = try OutboxWorld()
    let (updates, reports) = AsyncStream.makeStream(of: Bool.self)
    let connectivity = Connectivity(updates)
    let outbox = try await world.outbox(world.client([.offline(connectivity)]))
    reports.yield(false)
    while connectivity.isOnline { await Task.yield() }
    var events = outbox.events().makeAsyncIterator()
    let entry = try await outbox.enqueue(Ping(number: 1))
    outbox.start()
    while let event = await events.next(), event.kind != .paused {}
    #expect(world.sent.isEmpty)
    reports.yield(true)
    try await entry.value
    #expect(world.clock.now == .zero)
    await outbox.stop()
  }

  // MARK: Claims

  @Test(arguments: [200, 422, 503])
  func `the end of an attempt does not change an entry that another process has claimed since`(
    status: Int
  ) async throws {
    let (first, second, count) = (TestGate(), TestGate(), Shared(0))
    let world = try OutboxWorld { _ in
      if count.next() == 1 {
        await first.pass()
        return (status, "")
      }
      await second.pass()
      return (200, "")
    }
    let configuration = OutboxConfiguration(concurrency: 1)
    let (one, two) = (try await world.outbox(configuration), try await world.outbox(configuration))
    try await one.enqueue(Ping(number: 1))
    let oldDrain = Task { try await one.drain() }
    await first.waitForArrivals(1)
    // Without its file the lock excludes no new process.
    try FileManager.default.removeItem(atPath: world.folder.file() + "-outbox-.lock")
    let newDrain = Task { try await two.drain() }
    await second.waitForArrivals(1)
    first.open()
    _ = try await oldDrain.value
    #expect(try await world.states == [1])
    #expect(try await world.count("SELECT failures FROM outbox_entry") == 0)
    second.open()
    #expect(try await newDrain.value.isEmpty)
    #expect(try await world.states == [5])
  }

  // MARK: Attachments

  private struct Upload: OutboxOperation {
    static let name = "upload"
    var number: Int
    var photo: OutboxAttachment

    func request(in db: Database) -> Request<Void> { .put("photos/\(number)", body: .file(photo.url)) }
  }

  /// Writes a file to attach.
  private func original(in world: OutboxWorld, ending: String = "jpg") throws -> URL {
    let file = URL(filePath: world.folder.file("photo.\(ending)"))
    try Data("photo".utf8).write(to: file)
    return file
  }

  @Test func `an attachment of two entries is kept until both are delivered`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox(operations: [Upload.self], OutboxConfiguration(concurrency: 1))
    let photo = try await outbox.attach(original(in: world))
    for number in 1...3 { try await outbox.enqueue(Upload(number: number, photo: photo)) }
    #expect(try await outbox.drain().isEmpty)
    #expect(try await world.states == [5, 5, 5])
    while FileManager.default.fileExists(atPath: photo.url.path) { await Task.yield() }
  }

  @Test(arguments: [#"a"b"#, #"a\b"#, "a\tb"])
  func `an attachment of two entries is kept, although JSON writes its name in another way`(ending: String) async throws
  {
    let world = try OutboxWorld()
    let outbox = try await world.outbox(operations: [Upload.self], OutboxConfiguration(concurrency: 1))
    let original = try original(in: world, ending: ending)
    let photo = try await outbox.attach(original)
    let first = try await outbox.enqueue(Upload(number: 1, photo: photo))
    try await outbox.enqueue(Upload(number: 2, photo: photo))
    try await outbox.discard(first.id)
    // The removal of a file is in the queue before that of the third one, which nothing else uses.
    let other = try await outbox.attach(original)
    let third = try await outbox.enqueue(Upload(number: 3, photo: other))
    try await outbox.discard(third.id)
    while FileManager.default.fileExists(atPath: other.url.path) { await Task.yield() }
    #expect(try await outbox.drain().isEmpty)
    #expect(try await world.states == [5])
  }

  @Test func `a discarded entry does not remove the attachment of another entry`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox(operations: [Upload.self])
    let photo = try await outbox.attach(original(in: world))
    let first = try await outbox.enqueue(Upload(number: 1, photo: photo))
    try await outbox.enqueue(Upload(number: 2, photo: photo))
    try await outbox.discard(first.id)
    try await outbox.drain()
    #expect(try await world.states == [5])
  }

  @Test func `a file that cannot be moved stays in its place`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox(operations: [Upload.self])
    let link = world.folder.file("link.jpg")
    // A link is followed, and this one has no target.
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: world.folder.file("nothing"))
    await #expect(throws: (any Error).self) { try await outbox.attach(URL(filePath: link), moving: true) }
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == world.folder.file("nothing"))
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: world.folder.path).allSatisfy { !$0.hasSuffix("-outbox") })
  }

  // MARK: Clocks

  @Test func `a delivery is remembered for a day, although the clock was set back by a year`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox()
    let first = try await outbox.enqueue(Ping(number: 1, identity: "x"))
    try await outbox.drain()
    world.clock.setDate(world.clock.date.addingTimeInterval(-365 * 86_400))
    #expect(try await outbox.enqueue(Ping(number: 2, identity: "x")).id == first.id)
    world.clock.advance(by: .seconds(86_401))
    #expect(try await outbox.enqueue(Ping(number: 3, identity: "x")).id != first.id)
  }

  // MARK: Accounts

  private let session = TokenSession(source: .closure { _ in throw NetworkError.notSignedIn("the test") })

  @Test func `the 30 days of an owner who returns while the queue runs start again`() async throws {
    let world = try OutboxWorld { _ in (503, "") }
    let outbox = try await world.outbox(
      world.client([.tokenAuth(session)]), OutboxConfiguration(patience: .seconds(400 * 86_400)))
    try await session.signIn(AccessToken("token"), as: "a")
    try await outbox.enqueue(Ping(number: 1))
    outbox.start()
    for days in [20, 15] {
      try await session.signOut()
      try await wait(in: world, until: "SELECT count(*) = 1 FROM outbox_absence")
      world.clock.advance(by: .seconds(days * 86_400))
      try await session.signIn(AccessToken("token"), as: "a")
      try await wait(in: world, until: "SELECT count(*) = 0 FROM outbox_absence")
    }
    #expect(try await world.states != [3])
    await outbox.stop()
  }

  /// Lets seconds pass until a query finds what it looks for.
  private func wait(in world: OutboxWorld, until sql: SQL) async throws {
    while try await world.count(sql) == 0 {
      world.clock.advance(by: .seconds(1))
      await Task.yield()
    }
  }

  /// An operation without credentials, whose request cannot be made at first.
  private struct Late: OutboxOperation {
    static let name = "late"

    func request(in db: Database) throws -> Request<Void> {
      guard try db.first("SELECT 1 FROM note", as: Int.self) != nil else { throw OutboxNotReady() }
      return Request<Void>.post("late").with(\.authentication, .none)
    }
  }

  @Test func `an operation whose credentials are unknown at first is sent with those that it names later`()
    async throws
  {
    let world = try OutboxWorld()
    let outbox = try await world.outbox(world.client([.tokenAuth(session)]), operations: [Late.self])
    try await session.signIn(AccessToken("token"), as: "a")
    try await outbox.enqueue(Late())
    try await world.store.write { _ = try $0.save([Note(id: UUID(), text: "")], into: "note") }
    #expect(try await outbox.drain().isEmpty)
    #expect(world.mock.sent.map { $0.headers["Authorization"] } == [nil])
    #expect(try await world.states == [5])
  }

  @Test(arguments: 0..<100)
  func `an entry that waits for a delivery is sent after it, whichever of the two is recorded first`(
    round: Int
  ) async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox(operations: [NoteOfServer.self, Late.self])
    try await outbox.enqueue(NoteOfServer())
    try await outbox.enqueue(Late())
    // The clock stands still, so that no wait ends by itself.
    #expect(try await outbox.drain().isEmpty)
    #expect(world.sent == ["POST /notes", "POST /late"])
  }

  /// Makes the row that ``Late`` waits for.
  private struct NoteOfServer: OutboxOperation {
    static let name = "note"

    func request(in db: Database) -> Request<Void> { .post("notes") }

    func delivered(_ value: Void, in db: Database) throws {
      _ = try db.save([Note(id: UUID(), text: "")], into: "note")
    }
  }

  @Test func `an entry uses the credentials that the client asks for by default`() async throws {
    let world = try OutboxWorld()
    var configuration = world.client([.tokenAuth(session)]).configuration
    configuration.options.authentication = .none
    let client = NetworkClient(configuration: configuration, transport: world.mock)
    let outbox = try await world.outbox(client)
    try await session.signIn(AccessToken("token"), as: "a")
    try await outbox.enqueue(Ping(number: 1))
    #expect(try await outbox.drain().isEmpty)
    #expect(world.mock.sent.map { $0.headers["Authorization"] } == [nil])
    #expect(try await world.states == [5])
  }

  // MARK: Stopping

  @Test func `stopping returns although sending is started again meanwhile`() async throws {
    let (gate, cancelled) = (TestGate(), TestGate())
    let world = try OutboxWorld { _ in
      await withTaskCancellationHandler {
        await gate.pass()
      } onCancel: {
        cancelled.arrive()
      }
      return (200, "")
    }
    let outbox = try await world.outbox()
    try await outbox.enqueue(Ping(number: 1))
    outbox.start()
    await gate.waitForArrivals(1)
    let stop = Task { await outbox.stop() }
    await cancelled.waitForArrivals(1)
    outbox.start()
    gate.open()
    await stop.value
    try await outbox.drain()
    #expect(try await world.states == [5])
    await outbox.stop()
  }

  @Test func `stopping does not wait for a disk that stays full, and no entry is lost`() async throws {
    let (vfs, folder, isFull) = (FaultVFS(), try TemporaryFolder(), Shared(true))
    let store = try SQLiteStore(path: folder.file(), configuration: vfs.configuration())
    let mock = MockTransport { request in
      if isFull.value { vfs.fail(at: 1, andAfter: true) }
      return NetworkResponse(
        request: request, statusCode: 200, headers: ["X-API-Nonce": request.headers["X-API-Nonce"] ?? ""])
    }
    var configuration = RequestConfiguration(
      baseURL: URL(string: "https://api.example.com"), behaviors: [.nonceVerification()])
    configuration.clock = .immediate
    let client = NetworkClient(configuration: configuration, transport: mock)
    let outbox = try await Outbox(store, client: client, operations: [Ping.self])
    var events = outbox.events().makeAsyncIterator()
    try await outbox.enqueue(Ping(number: 1))
    outbox.start()
    while let event = await events.next(), event.kind != .failed {}
    await outbox.stop()
    isFull.value = false
    #expect(vfs.heal())
    #expect(try await outbox.drain().isEmpty)
    #expect(Set(mock.sent.map { $0.headers["Idempotency-Key"] }).count == 1)
    await store.close()
  }
}

extension OutboxWorld {
  /// Lets less than an interval pass five times, and expects no wake-up.
  fileprivate func expectOneLookAnInterval(sleepers: Int) async {
    for _ in 1...5 {
      await clock.waitForSleepers(sleepers)
      clock.advance(by: .milliseconds(20))
      #expect(clock.sleeperCount == sleepers)
    }
  }
}
