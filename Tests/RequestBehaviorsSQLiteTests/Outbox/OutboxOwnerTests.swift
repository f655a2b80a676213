import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import TestSupport
import Testing

/// The owner of an entry, which is sent as that user or not at all.
@Suite(.limited) struct OutboxOwnerTests {
  private let session = TokenSession(source: .closure { _ in throw NetworkError.notSignedIn("the test") })

  /// An operation that names the user whose it is.
  private struct Mine: OutboxOperation {
    static let name = "mine"
    var user: String
    var isOptional = false

    func request(in db: Database) -> Request<Void> {
      let request = Request<Void>.post("mine/\(user)")
      return isOptional ? request.with(\.authentication, .optional) : request
    }
  }

  private func signIn(_ user: String) async throws {
    try await session.signIn(AccessToken("token-\(user)"), as: user)
  }

  private func outbox(
    _ world: OutboxWorld, _ configuration: OutboxConfiguration = OutboxConfiguration()
  ) async throws -> Outbox {
    try await world.outbox(
      world.client([.tokenAuth(session)]), operations: [Mine.self, CreateNote.self], configuration)
  }

  /// The requests that carried another user's token.
  private func mixed(_ world: OutboxWorld) -> [String] {
    world.mock.sent.compactMap { request in
      let user = request.url.lastPathComponent
      let token = request.headers["Authorization"] ?? "none"
      return token == "Bearer token-\(user)" ? nil : "\(user) by \(token)"
    }
  }

  @Test func `an app whose tokens have no account has no owner before the first token`() async throws {
    let world = try OutboxWorld()
    let session = TokenSession(source: .closure { _ in AccessToken("token") })
    let outbox = try await world.outbox(world.client([.tokenAuth(session)]), operations: [Mine.self])
    let error = await #expect(throws: NetworkError.self) { try await outbox.enqueue(Mine(user: "app")) }
    #expect(error?.code == .notSignedIn)
  }

  @Test func `entries wait over a sign-out for the same account, and are not sent as another`() async throws {
    let world = try OutboxWorld()
    let outbox = try await outbox(world)
    try await signIn("a")
    try await outbox.enqueue(Mine(user: "a"))
    try await session.signOut()
    #expect(try await outbox.drain() == summary(others: 1))
    try await signIn("b")
    try await outbox.enqueue(Mine(user: "b"))
    #expect(try await outbox.drain() == summary(others: 1))
    #expect(world.sent == ["POST /mine/b"])
    try await signIn("a")
    #expect(try await outbox.drain() == summary())
    #expect(world.sent == ["POST /mine/b", "POST /mine/a"])
    #expect(mixed(world) == [])
  }

  private func summary(waiting: Int = 0, others: Int = 0) -> OutboxSummary {
    var summary = OutboxSummary()
    (summary.waiting, summary.others) = (waiting, others)
    return summary
  }

  @Test func `the same account owns its entries after a restart`() async throws {
    let world = try OutboxWorld()
    try await signIn("a")
    do { try await outbox(world).enqueue(Mine(user: "a")) }
    let later = TokenSession(source: .closure { _ in throw NetworkError.notSignedIn("the test") })
    try await later.signIn(AccessToken("token-a"), as: "a")
    let second = try await world.outbox(world.client([.tokenAuth(later)]), operations: [Mine.self])
    try await second.drain()
    #expect(mixed(world) == [])
    #expect(world.sent.count == 1)
  }

  @Test func `a request that needs a user is refused if no user is signed in`() async throws {
    let world = try OutboxWorld()
    let outbox = try await outbox(world)
    let error = await #expect(throws: NetworkError.self) { try await outbox.enqueue(Mine(user: "a")) }
    #expect(error?.code == .notSignedIn)
    #expect(try await world.states.isEmpty)
  }

  @Test func `a guest's optional request is sent without a token, also when a user is signed in`() async throws {
    let world = try OutboxWorld()
    let outbox = try await outbox(world)
    try await outbox.enqueue(Mine(user: "guest", isOptional: true))
    try await signIn("a")
    try await outbox.drain()
    #expect(world.mock.sent.map { $0.headers["Authorization"] } == [nil])
  }

  @Test func `entries of a session that names no account are dead letters after the sign-out`() async throws {
    let world = try OutboxWorld()
    let outbox = try await outbox(world)
    try await session.signIn(AccessToken("token-a"))
    let entry = try await outbox.enqueue(Mine(user: "a"))
    try await session.signOut()
    let failure = await #expect(throws: OutboxFailure.self) { try await entry.value }
    #expect(failure?.reason == .signedOut)
    #expect(world.sent.isEmpty)
  }

  @Test func `discarding at the sign-out removes that user's entries only`() async throws {
    let world = try OutboxWorld()
    let outbox = try await outbox(world, OutboxConfiguration(atSignOut: .discard))
    try await signIn("b")
    try await outbox.enqueue(Mine(user: "b"))
    // The next user's sign-in is the end of this one.
    try await signIn("a")
    #expect(try await world.states.isEmpty)
    try await outbox.enqueue(Mine(user: "a"))
    try await outbox.enqueue(.post("open").with(\.authentication, .none))
    try await session.signOut()
    #expect(try await world.states == [0])
    try await outbox.drain()
    #expect(world.sent == ["POST /open"])
  }

  @Test func `discarding at the sign-out is done before the same account can be back`() async throws {
    let world = try OutboxWorld()
    let outbox = try await outbox(world, OutboxConfiguration(atSignOut: .discard))
    try await signIn("a")
    try await outbox.enqueue(Mine(user: "a"))
    try await session.signOut()
    try await signIn("a")
    #expect(try await outbox.drain().isEmpty)
    #expect(world.sent.isEmpty)
  }

  @Test func `an entry that waited for its turn and was discarded is not sent when its account is back`() async throws {
    let (begun, gate) = (TestGate(), TestGate())
    let world = try OutboxWorld { _ in
      begun.arrive()
      await gate.pass()
      return (200, "")
    }
    let outbox = try await outbox(world, OutboxConfiguration(atSignOut: .discard))
    try await signIn("a")
    for _ in 1...6 { try await outbox.enqueue(Mine(user: "a")) }
    outbox.start()
    await begun.waitForArrivals(4)
    while try await world.states.filter({ $0 == 1 }).count < 6 { await Task.yield() }
    let signingOut = Task { try await session.signOut() }
    while try await !world.states.isEmpty { await Task.yield() }
    try await signingOut.value
    try await signIn("a")
    gate.open()
    #expect(try await outbox.drain().isEmpty)
    await outbox.stop()
    #expect(begun.arrivalCount == 4)
  }

  @Test(arguments: [(.discard, []), (.hold, [3])] as [(OutboxConfiguration.SignOut, [Int])])
  func `an entry whose transaction is under way at the sign-out is treated like earlier ones`(
    atSignOut: OutboxConfiguration.SignOut, states: [Int]
  ) async throws {
    let world = try OutboxWorld()
    let outbox = try await outbox(world, OutboxConfiguration(atSignOut: atSignOut))
    // A session that names no account, whose entries cannot be held.
    try await session.signIn(AccessToken("token-a"))
    let held = HeldWork()
    let writing = Task {
      try await outbox.write { db, queue in
        try queue.enqueue(Mine(user: "a"), in: db)
        held.hold()
      }
    }
    await held.isHeld()
    let hasSignedOut = Shared(false)
    let signingOut = Task {
      defer { hasSignedOut.value = true }
      try await session.signOut()
    }
    // Each read comes behind those of the sign-out, which must not be over before the transaction.
    for _ in 1...500 where !hasSignedOut.value { _ = try await world.states }
    held.letGo()
    _ = try await writing.value
    try await signingOut.value
    #expect(try await world.states == states)
  }

  /// Holds a request of ``Mine`` as its call begins, before the session's user is read.
  private struct HeldBeginning: RequestBehavior {
    let gate: TestGate

    func scope(for request: NetworkRequest) async -> String? {
      if request.url.path().contains("mine") { await gate.pass() }
      return nil
    }
  }

  @Test(arguments: [.discard, .hold] as [OutboxConfiguration.SignOut])
  func `an entry is not sent by an attempt that began before its user left and came back`(
    atSignOut: OutboxConfiguration.SignOut
  ) async throws {
    let (world, gate) = (try OutboxWorld(), TestGate())
    let outbox = try await world.outbox(
      world.client([HeldBeginning(gate: gate), .tokenAuth(session)]), operations: [Mine.self],
      OutboxConfiguration(atSignOut: atSignOut))
    try await signIn("a")
    try await outbox.enqueue(Mine(user: "a"))
    outbox.start()
    await gate.waitForArrivals(1)
    try await session.signOut()
    try await signIn("a")
    gate.open()
    #expect(try await outbox.drain().isEmpty)
    // Held entries are sent by the next attempt, at once.
    #expect(world.sent == (atSignOut == .hold ? ["POST /mine/a"] : []))
    #expect(gate.arrivalCount == (atSignOut == .hold ? 2 : 1))
    await outbox.stop()
  }

  @Test func `an account that is away for 30 days loses its entries, and one that comes back does not`() async throws {
    let world = try OutboxWorld { _ in (503, "") }
    let outbox = try await outbox(world)
    try await signIn("a")
    try await outbox.enqueue(Mine(user: "a"))
    try await session.signOut()
    try await outbox.drain()
    world.clock.advance(by: .seconds(29 * 86_400))
    try await outbox.drain()
    // The account is back for a moment, and its 30 days begin again.
    try await signIn("a")
    try await outbox.drain()
    try await session.signOut()
    try await outbox.drain()
    for (days, state) in [(29, 0), (2, 3)] {
      world.clock.advance(by: .seconds(days * 86_400))
      try await outbox.drain()
      #expect(try await world.states == [state])
    }
    #expect(world.sent.count == 1)
  }

  @Test func `a writer of a user who has left cannot enqueue`() async throws {
    let world = try OutboxWorld()
    let outbox = try await outbox(world)
    try await signIn("a")
    let writer = try await outbox.writer()
    try await signIn("b")
    let error = await #expect(throws: NetworkError.self) {
      try await world.store.write(durability: .full) { try writer.enqueue(Mine(user: "a"), in: $0) }
    }
    #expect(error?.code == .signedOut)
  }

  @Test func `a sign-out while a request is on its way leaves the entry to its user`() async throws {
    let session = session
    let world = try OutboxWorld { request in
      if request.headers["Authorization"] == "Bearer token-a", request.url.path() == "/mine/a" {
        try await session.signOut()
        throw NetworkError(.connectionLost, "a test", request: request)
      }
      return (200, "")
    }
    let outbox = try await outbox(world)
    try await signIn("a")
    try await outbox.enqueue(Mine(user: "a"))
    try await outbox.drain()
    #expect(try await world.states == [0])
    try await signIn("b")
    world.clock.advance(by: .seconds(3_600))
    try await outbox.drain()
    #expect(world.sent.count == 1)
    #expect(try await world.states == [0])
  }

  @Test(arguments: [nil, "b"])
  func `a delivery does not save after its user has signed out, and is repeated for the same user`(
    next: String?
  ) async throws {
    let session = session
    let count = Shared(0)
    let world = try OutboxWorld { request in
      if count.next() == 1 {
        if let next { try await session.signIn(AccessToken("token-\(next)"), as: next) }
        if next == nil { try await session.signOut() }
      }
      return (200, #"{"id": 7}"#)
    }
    let outbox = try await outbox(world)
    try await signIn("a")
    let note = Note(id: UUID(), text: "mine")
    try await world.store.write { try $0.save(note, into: "note") }
    try await outbox.enqueue(CreateNote(note: note))
    try await outbox.drain()
    #expect(try await world.count("SELECT count(*) FROM note WHERE serverID = 7") == 0)
    #expect(try await world.states == [0])
    try await signIn("a")
    #expect(try await outbox.drain().isEmpty)
    #expect(try await world.count("SELECT count(*) FROM note WHERE serverID = 7") == 1)
    #expect(world.mock.sent.count == 2)
    #expect(Set(world.mock.sent.map { $0.headers["Idempotency-Key"] }).count == 1)
  }

  @Test func `a delivery of a user who may return is repeated, also if the user of another session has no name`()
    async throws
  {
    let (session, other, count) = (session, TokenSession(name: "other", source: .signInOnly), Shared(0))
    let world = try OutboxWorld { _ in
      if count.next() == 1 { try await session.signOut() }
      return (200, #"{"id": 7}"#)
    }
    let client = world.client([
      .tokenAuth(session), .tokenAuth(other, header: .field("X-Other")),
    ])
    let outbox = try await world.outbox(client, operations: [CreateNote.self])
    try await signIn("a")
    try await other.signIn(AccessToken("unnamed"))
    let note = Note(id: UUID(), text: "mine")
    try await world.store.write { try $0.save(note, into: "note") }
    try await outbox.enqueue(CreateNote(note: note))
    try await outbox.drain()
    #expect(try await world.states == [0])
    try await signIn("a")
    #expect(try await outbox.drain().isEmpty)
    #expect(try await world.count("SELECT count(*) FROM note WHERE serverID = 7") == 1)
  }

  @Test func `a delivery for a user who cannot return is not a failure, and does not save`() async throws {
    let session = session
    let world = try OutboxWorld { _ in
      try await session.signOut()
      return (200, #"{"id": 7}"#)
    }
    let outbox = try await outbox(world)
    try await session.signIn(AccessToken("token"))
    let note = Note(id: UUID(), text: "mine")
    try await world.store.write { try $0.save(note, into: "note") }
    try await outbox.enqueue(CreateNote(note: note))
    try await outbox.drain()
    #expect(try await outbox.deadLetters().isEmpty)
    #expect(try await world.count("SELECT count(*) FROM note WHERE serverID IS NULL") == 1)
    #expect(world.sent == ["POST /notes"])
  }

  @Test func `no request is sent with another user's token while two users take turns`() async throws {
    let world = try OutboxWorld()
    let outbox = try await outbox(world)
    let users = ["a", "b"]
    for number in 0..<100 {
      let user = users[number % 2]
      try await signIn(user)
      for _ in 0..<3 { try await outbox.enqueue(Mine(user: user)) }
    }
    outbox.start()
    for number in 0..<200 { try await signIn(users[number % 2]) }
    for user in users {
      try await signIn(user)
      world.clock.advance(by: .seconds(60))
      try await outbox.drain(for: nil)
    }
    await outbox.stop()
    #expect(mixed(world) == [])
    #expect(try await outbox.drain().others == 0)
    #expect(try await world.count("SELECT count(*) FROM outbox_entry WHERE state <> 5") == 0)
  }

  @Test func `accounts have queues of their own in one file`() async throws {
    let world = try OutboxWorld()
    let work = try await world.outbox(name: "work")
    let home = try await world.outbox(name: "home")
    try await work.enqueue(Ping(number: 1, lane: "a"))
    try await home.enqueue(Ping(number: 2, lane: "a"))
    try await home.drain()
    #expect(world.sent == ["POST /pings/2"])
    #expect(try await world.states == [0, 5])
  }

  @Test func `entries for another base URL are held, unless it is a former one`() async throws {
    let world = try OutboxWorld()
    let id: UUID
    do { id = try await world.outbox().enqueue(Ping(number: 1)).id }
    let client = world.client(base: "https://new.example.com/")
    let other = try await world.outbox(client)
    var events = other.events().makeAsyncIterator()
    #expect(try await other.drain().held == 1)
    #expect(await events.next()?.kind == .held)
    guard case .held(let reason) = try await other.state(of: id) else {
      Issue.record("the entry is not held")
      return
    }
    #expect(reason.contains("https://api.example.com"))
    #expect(world.sent.isEmpty)
    world.clock.advance(by: .seconds(61))
    let former = try #require(Origin("https://api.example.com"))
    let moved = try await world.outbox(client, OutboxConfiguration(formerOrigins: [former]))
    try await moved.drain()
    #expect(world.mock.sent.map(\.url.host) == ["new.example.com"])
  }

  @Test func `an entry whose type is not listed is held, and never dead`() async throws {
    let world = try OutboxWorld()
    do { try await world.outbox().enqueue(Ping(number: 1)) }
    let older = try await world.outbox(operations: [CreateNote.self])
    for _ in 1...5 {
      #expect(try await older.drain().held == 1)
      world.clock.advance(by: .seconds(86_400))
    }
    try await world.outbox().drain()
    #expect(world.sent == ["POST /pings/1"])
  }
}
