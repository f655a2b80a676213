import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Users whom another process signs in while an outbox that holds entries sends.
@Suite(.limited) struct OutboxSignInTests {
  private let box = Shared<AccessToken?>(nil)
  private let isLocked = Shared(false)

  /// A session as each process makes it.
  private func session(_ name: String = "") -> TokenSession {
    TokenSession(name: name, source: .signInOnly, store: LockedTokenStore(box, isLocked))
  }

  private func outbox(_ world: OutboxWorld, _ session: TokenSession) async throws -> Outbox {
    try await world.outbox(world.client([.tokenAuth(session)]))
  }

  /// Has a user sign in and enqueue an entry, in another process.
  private func enqueueElsewhere(_ world: OutboxWorld) async throws {
    let session = session()
    try await session.signIn(AccessToken("token"), as: "a")
    try await outbox(world, session).enqueue(Ping(number: 1))
  }

  @Test(arguments: [1, 6])
  func `entries under way at the sign-out of a user who cannot return become dead letters`(count: Int) async throws {
    let gate = TestGate()
    let world = try OutboxWorld { _ in
      await gate.pass()
      return (503, "")
    }
    let session = TokenSession(source: .signInOnly)
    try await session.signIn(AccessToken("t"))
    let outbox = try await world.outbox(world.client([.tokenAuth(session)]))
    var entries: [OutboxEntry<Ping>] = []
    for number in 1...count { entries.append(try await outbox.enqueue(Ping(number: number))) }
    outbox.start()
    await gate.waitForArrivals(min(count, 4))
    let signOut = Task { try await session.signOut() }
    try await signOut.value
    gate.open()
    for entry in entries {
      let failure = await #expect(throws: OutboxFailure.self) { try await entry.value }
      #expect(failure?.reason == .signedOut)
    }
    #expect(try await world.states == Array(repeating: 3, count: count))
    await outbox.stop()
  }

  @Test func `the sending outbox recognizes a user whom another process has signed in`() async throws {
    let world = try OutboxWorld()
    let outbox = try await outbox(world, session())
    outbox.start()
    await world.clock.waitForSleepers(1)
    try await enqueueElsewhere(world)
    await world.letTimePass { !world.sent.isEmpty }
    #expect(world.mock.sent.map { $0.headers["Authorization"] } == ["Bearer token"])
    await outbox.stop()
  }

  @Test func `an entry is enqueued for a user whom another process has signed in`() async throws {
    let world = try OutboxWorld()
    let outbox = try await outbox(world, session())
    await #expect(throws: NetworkError.self) { try await outbox.enqueue(Ping(number: 1)) }
    try await session().signIn(AccessToken("token"), as: "a")
    try await outbox.enqueue(Ping(number: 2))
    #expect(try await outbox.drain().isEmpty)
    #expect(world.mock.sent.map { $0.headers["Authorization"] } == ["Bearer token"])
  }

  @Test func `a user of another process is not away for 30 days because the store cannot be read`() async throws {
    let world = try OutboxWorld()
    let outbox = try await outbox(world, session())
    try await outbox.drain()
    try await enqueueElsewhere(world)
    isLocked.value = true
    for _ in 1...3 {
      world.clock.advance(by: .seconds(31 * 86_400))
      try await outbox.drain()
      #expect(try await world.states == [0])
    }
    isLocked.value = false
    world.clock.advance(by: .seconds(60))
    #expect(try await outbox.drain().isEmpty)
    #expect(world.sent == ["POST /pings/1"])
  }

  /// A token store that hangs from some moment on.
  private final class HangingTokenStore: TokenStore {
    private let box: Shared<AccessToken?>
    private let hangs: Shared<Bool>

    init(_ box: Shared<AccessToken?>, _ hangs: Shared<Bool>) { (self.box, self.hangs) = (box, hangs) }

    func load() async throws -> AccessToken? {
      if hangs.value {
        for await _ in AsyncStream<Never>.makeStream().stream {}
        throw CancellationError()
      }
      return box.value
    }

    func save(_ token: AccessToken?) async throws { box.value = token }
  }

  @Test func `a token store that hangs after users have left does not block other entries`() async throws {
    let (world, hangs) = (try OutboxWorld(), Shared(false))
    let session = TokenSession(source: .signInOnly, store: HangingTokenStore(box, hangs))
    let outbox = try await world.outbox(
      world.client([.tokenAuth(session)]), OutboxConfiguration(atSignOut: .discard))
    try await enqueueElsewhere(world)
    // This process has known no user since it signed out.
    try await session.signOut()
    hangs.value = true
    outbox.start()
    await world.clock.waitForSleepers(1)
    let begin = world.clock.now
    try await outbox.enqueue(Request<Void>.post("open").with(\.authentication, .none))
    await world.letTimePass(besides: 1) { !world.sent.isEmpty }
    // One poll interval, and not the time that the session gives its store.
    #expect(world.clock.now - begin < .seconds(20))
    await outbox.stop()
    // The user may be signed in elsewhere, so no entry is discarded.
    #expect(try await world.count("SELECT count(*) FROM outbox_entry WHERE scope IS NOT NULL") == 1)
  }

  @Test func `a token store that hangs delays an entry by a poll interval at most`() async throws {
    let (world, hangs) = (try OutboxWorld(), Shared(false))
    let session = TokenSession(source: .signInOnly, store: HangingTokenStore(box, hangs))
    let outbox = try await world.outbox(world.client([.tokenAuth(session)]))
    hangs.value = true
    // An entry that needs no user does not ask who is signed in.
    try await outbox.enqueue(Request<Void>.post("open").with(\.authentication, .none))
    let enqueuing = Task { try await outbox.enqueue(Ping(number: 1)) }
    // That of the session, and that of the outbox.
    await world.clock.waitForSleepers(2)
    world.clock.advance(by: .seconds(1))
    let error = await #expect(throws: NetworkError.self) { try await enqueuing.value }
    #expect(error?.code == .notSignedIn)
    #expect(try await world.states == [0])
  }

  @Test func `a store that hangs does not hide the user of another session`() async throws {
    let (world, hangs) = (try OutboxWorld(), Shared(false))
    let hanging = TokenSession(name: "other", source: .signInOnly, store: HangingTokenStore(Shared(nil), hangs))
    let outbox = try await world.outbox(
      world.client([.tokenAuth(hanging, header: .field("X-Other")), .tokenAuth(session("mine"))]))
    hangs.value = true
    try await session("mine").signIn(AccessToken("token"), as: "a")
    let enqueuing = Task {
      try await outbox.enqueue(Request<Void>.post("mine").with(\.authentication, .only("mine")))
    }
    await world.clock.waitForSleepers(2)
    world.clock.advance(by: .seconds(1))
    _ = try await enqueuing.value
    #expect(try await world.states == [0])
  }

  @Test func `a cancelled task enqueues for a user whom another process has signed in, too`() async throws {
    let world = try OutboxWorld()
    let outbox = try await outbox(world, session())
    await #expect(throws: NetworkError.self) { try await outbox.enqueue(Ping(number: 1)) }
    try await session().signIn(AccessToken("token"), as: "a")
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      _ = try await outbox.enqueue(Ping(number: 2))
    }
    try await task.value
    #expect(try await world.states == [0])
  }

  @Test func `rows and an entry are written for a user whom another process has signed in`() async throws {
    let world = try OutboxWorld()
    let outbox = try await outbox(world, session())
    await #expect(throws: NetworkError.self) { try await outbox.enqueue(Ping(number: 1)) }
    try await session().signIn(AccessToken("token"), as: "a")
    try await outbox.write { db, queue in try queue.enqueue(Ping(number: 2), in: db) }
    #expect(try await world.states == [0])
  }
}
