import CFaultVFS
import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Entries of users who have left, where the outbox discards them.
@Suite(.limited) struct OutboxDiscardTests {
  private struct Letter: OutboxOperation {
    static let name = "letter"
    var text: String
    var photo: OutboxAttachment?

    func request(in db: Database) -> Request<Void> { .post("letters", body: .json(["text": text])) }
  }

  private let canary = "canary-" + String(repeating: "private", count: 20)
  /// The token in the store, which outlasts a launch.
  private let box = Shared<AccessToken?>(nil)
  private let isLocked = Shared(false)

  /// A session as each launch and each process makes it.
  private func session(named name: String = "") -> TokenSession {
    TokenSession(name: name, source: .signInOnly, store: LockedTokenStore(box, isLocked))
  }

  /// A session that does something when it has read the store, and before it uses the token.
  private func session(afterReading action: Shared<(@Sendable () async throws -> Void)?>) -> TokenSession {
    TokenSession(source: .signInOnly, store: LockedTokenStore(box, isLocked) { try await action.value?() })
  }

  /// A session that keeps its token for as long as the process lives.
  private func sessionInMemory(named name: String = "") -> TokenSession {
    TokenSession(name: name, source: .signInOnly)
  }

  private func outbox(
    _ world: OutboxWorld, _ session: TokenSession, besides others: [any RequestBehavior] = []
  ) async throws -> Outbox {
    try await world.outbox(
      world.client([.tokenAuth(session)] + others), operations: [Ping.self, Letter.self],
      OutboxConfiguration(atSignOut: .discard))
  }

  /// A behavior that lives as long as something of its client.
  private final class Mark: RequestBehavior {}

  /// Opens an outbox, and returns when it has been released.
  ///
  /// The work of an outbox ends in the background. Until then it is notified of a sign-out.
  private func launch(
    _ world: OutboxWorld, _ session: TokenSession, _ body: (Outbox) async throws -> Void
  ) async throws {
    weak var mark: Mark?
    do {
      let strong = Mark()
      mark = strong
      try await body(outbox(world, session, besides: [strong]))
    }
    while mark != nil { await Task.yield() }
  }

  /// Has a user enqueue an entry, in a launch that then ends.
  private func enqueue(_ number: Int, by user: String, _ session: TokenSession, in world: OutboxWorld) async throws {
    try await session.signIn(AccessToken("token-\(user)"), as: user)
    try await launch(world, session) { _ = try await $0.enqueue(Ping(number: number)) }
  }

  /// The names of the files that hold the canary.
  private func filesWithCanary(_ world: OutboxWorld) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: world.folder.path).sorted().filter { name in
      guard !name.hasSuffix("-outbox") else { return false }
      return try Data(contentsOf: URL(filePath: world.folder.file(name))).range(of: Data(canary.utf8)) != nil
    }
  }

  // MARK: Sign-outs without an open outbox

  @Test func `the entries of a user are removed when the outbox is opened after the sign-out`() async throws {
    let world = try OutboxWorld { ($0.url.path() == "/pings/1" ? 400 : 200, "") }
    _ = try await world.store.write { try $0.first("PRAGMA secure_delete=OFF", as: Int.self) }
    let first = session()
    try await first.signIn(AccessToken("token"), as: "a")
    let original = URL(filePath: world.folder.file("photo.jpg"))
    try Data("photo".utf8).write(to: original)
    var photo = original
    try await launch(world, first) { outbox in
      try await outbox.enqueue(Ping(number: 1))
      try await outbox.drain()
      let attachment = try await outbox.attach(original)
      photo = attachment.url
      try await outbox.enqueue(Letter(text: canary, photo: attachment))
      try await outbox.enqueue(.post("open").with(\.authentication, .none))
    }
    try await first.signOut()
    #expect(try await world.states == [3, 0, 0])
    #expect(try filesWithCanary(world) != [])
    let next = session()
    let outbox = try await outbox(world, next)
    #expect(try await world.states == [0])
    #expect(try filesWithCanary(world) == [])
    while FileManager.default.fileExists(atPath: photo.path) { await Task.yield() }
    try await next.signIn(AccessToken("token"), as: "a")
    #expect(try await outbox.drain().isEmpty)
    #expect(world.sent == ["POST /pings/1", "POST /open"])
  }

  @Test func `the entries of a user are removed when the user signs out before the outbox is opened`() async throws {
    let world = try OutboxWorld()
    let session = sessionInMemory()
    try await enqueue(1, by: "a", session, in: world)
    try await session.signOut()
    #expect(try await world.states == [0])
    let outbox = try await outbox(world, session)
    #expect(try await world.states == [])
    try await session.signIn(AccessToken("token"), as: "a")
    #expect(try await outbox.drain().isEmpty)
    #expect(world.sent == [])
  }

  @Test func `a user who replaces another keeps entries, and the entries of the previous user are removed`()
    async throws
  {
    let world = try OutboxWorld()
    try await enqueue(1, by: "a", sessionInMemory(), in: world)
    try await enqueue(2, by: "b", sessionInMemory(), in: world)
    #expect(try await world.count("SELECT count(*) FROM outbox_entry") == 1)
    let session = sessionInMemory()
    try await session.signIn(AccessToken("token-b"), as: "b")
    #expect(try await outbox(world, session).drain().isEmpty)
    #expect(world.sent == ["POST /pings/2"])
  }

  @Test(arguments: ["a\nb", "\nb", "a\r\nb", "a\u{1B}nb"])
  func `the entries of a user are removed if the name of the user has a line break`(name: String) async throws {
    let world = try OutboxWorld()
    for user in [name, "b"] {
      let session = sessionInMemory()
      try await session.signIn(AccessToken("token"), as: user)
      try await outbox(world, session).enqueue(Ping(number: 1))
    }
    #expect(try await world.count("SELECT count(*) FROM outbox_entry") == 1)
  }

  @Test func `the entries of a user are in no file after a sign-out while the outbox is open`() async throws {
    let world = try OutboxWorld()
    _ = try await world.store.write { try $0.first("PRAGMA secure_delete=OFF", as: Int.self) }
    let session = session()
    let outbox = try await outbox(world, session)
    try await session.signIn(AccessToken("token"), as: "a")
    let entry = try await outbox.enqueue(Letter(text: canary))
    #expect(try filesWithCanary(world) != [])
    try await session.signOut()
    #expect(try filesWithCanary(world) == [])
    #expect(try await outbox.state(of: entry.id) == nil)
  }

  // MARK: Removals that fail

  private func brokenOutbox(_ world: OutboxWorld, _ session: TokenSession, _ vfs: FaultVFS) async throws -> (
    outbox: Outbox, store: SQLiteStore
  ) {
    let store = try SQLiteStore(path: world.folder.file("broken.sqlite"), configuration: vfs.configuration())
    let outbox = try await Outbox(
      store, client: world.client([.tokenAuth(session)]), operations: [Ping.self],
      configuration: OutboxConfiguration(atSignOut: .discard))
    return (outbox, store)
  }

  /// Enqueues a ping of a user who then signs out, while the file cannot be written.
  private func failToDiscard(_ outbox: Outbox, _ session: TokenSession, _ vfs: FaultVFS) async throws {
    var events = outbox.events().makeAsyncIterator()
    try await session.signIn(AccessToken("token"), as: "a")
    try await outbox.enqueue(Ping(number: 1))
    vfs.fail(at: 1, andAfter: true)
    try await session.signOut()
    #expect(await events.next()?.kind == .failed)
  }

  @Test func `a user who returns after a failed removal does not send the discarded entries`() async throws {
    let (world, session, vfs) = (try OutboxWorld(), sessionInMemory(), FaultVFS())
    let (outbox, store) = try await brokenOutbox(world, session, vfs)
    try await failToDiscard(outbox, session, vfs)
    try await session.signIn(AccessToken("token"), as: "a")
    await #expect(throws: SQLiteError.self) { try await outbox.enqueue(Ping(number: 2)) }
    #expect(try await store.read { try outbox.waiting(Ping.self, in: $0).count } == 0)
    #expect(vfs.heal())
    try await outbox.enqueue(Ping(number: 3))
    #expect(try await outbox.drain().isEmpty)
    #expect(world.sent == ["POST /pings/3"])
    await store.close()
    withExtendedLifetime(vfs) {}
  }

  @Test func `a removal that failed is repeated while the outbox sends`() async throws {
    let (world, session, vfs) = (try OutboxWorld(), sessionInMemory(), FaultVFS())
    let (outbox, store) = try await brokenOutbox(world, session, vfs)
    try await failToDiscard(outbox, session, vfs)
    #expect(vfs.heal())
    outbox.start()
    await world.letTimePass {
      let count = try? await store.read { try $0.first("SELECT count(*) FROM outbox_entry", as: Int.self) }
      return count == 0
    }
    #expect(world.sent == [])
    await outbox.stop()
    await store.close()
    withExtendedLifetime(vfs) {}
  }

  // MARK: Users who have not left

  @Test func `a user whose token store is locked at a launch keeps every entry`() async throws {
    let world = try OutboxWorld()
    try await enqueue(1, by: "a", session(), in: world)
    isLocked.value = true
    let outbox = try await outbox(world, session())
    for _ in 1...2 {
      try await outbox.drain()
      world.clock.advance(by: .seconds(31 * 86_400))
    }
    #expect(try await world.states == [0])
    isLocked.value = false
    #expect(try await outbox.drain().isEmpty)
    #expect(world.sent == ["POST /pings/1"])
  }

  @Test func `a user whom another process has signed in keeps every entry`() async throws {
    let world = try OutboxWorld()
    // The second process has seen that no user is signed in.
    let second = try await outbox(world, session())
    try await second.drain()
    try await enqueue(1, by: "a", session(), in: world)
    world.clock.advance(by: .seconds(3_600))
    #expect(try await second.drain().isEmpty)
    #expect(world.mock.sent.map { $0.headers["Authorization"] } == ["Bearer token-a"])
  }

  @Test func `a user whom another process signs in while the sessions are read keeps every entry`() async throws {
    let world = try OutboxWorld()
    try await session().signIn(AccessToken("token-a"), as: "a")
    let signIn = Shared<(@Sendable () async throws -> Void)?>(nil)
    let (first, second) = (session(afterReading: signIn), session())
    #expect(try await first.isSignedIn())
    let elsewhere = try await outbox(world, second)
    try await enqueue(1, by: "gone", sessionInMemory(), in: world)
    signIn.value = {
      signIn.value = nil
      try await second.signIn(AccessToken("token-b"), as: "b")
      try await elsewhere.enqueue(Ping(number: 2))
    }
    _ = try await outbox(world, first)
    #expect(try await world.states == [0])
    #expect(try await elsewhere.drain().isEmpty)
    #expect(world.sent == ["POST /pings/2"])
  }

  @Test func `a token store that cannot be read again discards no entry, and is read again in a minute`() async throws {
    let world = try OutboxWorld()
    let second = try await outbox(world, session())
    try await enqueue(1, by: "a", session(), in: world)
    isLocked.value = true
    world.clock.advance(by: .seconds(3_600))
    #expect(try await second.drain().others == 1)
    isLocked.value = false
    world.clock.advance(by: .seconds(61))
    #expect(try await second.drain().isEmpty)
    #expect(world.sent == ["POST /pings/1"])
  }

  @Test func `a user who signs in at each launch keeps every entry until then, and loses them after 30 days`()
    async throws
  {
    let world = try OutboxWorld()
    try await enqueue(1, by: "a", sessionInMemory(), in: world)
    let session = sessionInMemory()
    let outbox = try await outbox(world, session)
    #expect(try await outbox.drain().others == 1)
    try await session.signIn(AccessToken("token-a"), as: "a")
    #expect(try await outbox.drain().isEmpty)
    #expect(world.sent == ["POST /pings/1"])
    try await enqueue(2, by: "a", sessionInMemory(), in: world)
    let later = try await self.outbox(world, sessionInMemory())
    #expect(try await later.drain().others == 1)
    world.clock.advance(by: .seconds(31 * 86_400))
    #expect(try await later.drain().others == 0)
    #expect(try await later.deadLetters().isEmpty)
  }

  @Test func `a user of a session that the client does not list keeps every entry`() async throws {
    let world = try OutboxWorld()
    try await enqueue(1, by: "a", sessionInMemory(named: "work"), in: world)
    let home = session(named: "home")
    let outbox = try await outbox(world, home)
    try await outbox.drain()
    try await home.signIn(AccessToken("token-b"), as: "b")
    #expect(try await outbox.drain().others == 1)
    // As without discarding, the entries of an account that stays away become dead letters.
    world.clock.advance(by: .seconds(31 * 86_400))
    try await outbox.drain()
    #expect(try await world.states == [3])
  }

  @Test func `entries of an earlier version are sent, and not removed before 30 days`() async throws {
    let world = try OutboxWorld()
    try await enqueue(1, by: "a", session(), in: world)
    try await world.store.write { db in
      try db.execute("ALTER TABLE outbox_entry DROP COLUMN sessions")
      try db.execute("UPDATE outbox_meta SET version = 1")
    }
    let session = session()
    try await session.signOut()
    let outbox = try await outbox(world, session)
    #expect(try await world.states == [0])
    try await session.signIn(AccessToken("token-a"), as: "a")
    try await outbox.enqueue(Ping(number: 2))
    #expect(try await outbox.drain().isEmpty)
    #expect(Set(world.sent) == ["POST /pings/1", "POST /pings/2"])
  }
}
