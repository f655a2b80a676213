import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Entries of a service: of a session that gets its tokens without a user, and keeps them in memory.
@Suite(.limited) struct OutboxServiceTests {
  /// A world whose server gives each client a token that names it.
  private func world() throws -> OutboxWorld {
    try OutboxWorld { request in
      guard request.url.path() == "/token" else { return (200, "") }
      let id = try request.form["client_id"] ?? "none"
      return (200, #"{"access_token": "token-\#(id)", "token_type": "Bearer", "expires_in": 3600}"#)
    }
  }

  /// A session as each launch of the program makes it.
  private func session(_ id: String = "app") -> TokenSession {
    TokenSession(source: .clientCredentials(TokenEndpoint("token", clientID: id)))
  }

  private func outbox(_ world: OutboxWorld, _ session: TokenSession) async throws -> Outbox {
    try await world.outbox(world.client([.tokenAuth(session)]))
  }

  private func tokens(_ world: OutboxWorld) -> [String?] {
    world.mock.sent.filter { $0.url.path() != "/token" }.map { $0.headers["Authorization"] }
  }

  @Test func `an entry of a service is sent after a restart, although its first token was still to come`() async throws
  {
    let world = try world()
    do { try await outbox(world, session()).enqueue(Ping(number: 1)) }
    #expect(world.sent.isEmpty)
    let next = try await outbox(world, session())
    #expect(try await next.drain().isEmpty)
    #expect(tokens(world) == ["Bearer token-app"])
    #expect(try await world.states == [5])
  }

  @Test func `an entry of a service outlasts a restart after its first token, and a sign-out`() async throws {
    let world = try world()
    do {
      let session = session()
      let outbox = try await outbox(world, session)
      try await outbox.enqueue(Ping(number: 1))
      try await outbox.drain()
      try await outbox.enqueue(Ping(number: 2))
      try await session.signOut()
      try await outbox.enqueue(Ping(number: 3))
    }
    let next = try await outbox(world, session())
    #expect(try await next.drain().isEmpty)
    // The last two are in no lane, so that either can be the first.
    #expect(world.sent.filter { $0 != "POST /token" }.sorted() == ["POST /pings/1", "POST /pings/2", "POST /pings/3"])
  }

  @Test func `an entry that waits for the first token of a service is not sent as a user who signs in meanwhile`()
    async throws
  {
    let gate = TestGate()
    let world = try OutboxWorld { request in
      guard request.url.path() == "/token" else { return (200, "") }
      await gate.pass()
      return (200, #"{"access_token": "token-app", "token_type": "Bearer", "expires_in": 3600}"#)
    }
    let session = session()
    let outbox = try await outbox(world, session)
    try await outbox.enqueue(Ping(number: 1))
    outbox.start()
    await gate.waitForArrivals(1)
    try await session.signIn(AccessToken("anna"), as: "anna")
    gate.open()
    try await outbox.drain()
    #expect(tokens(world).isEmpty)
    try await session.signOut()
    #expect(try await outbox.drain().isEmpty)
    #expect(tokens(world) == ["Bearer token-app"])
    await outbox.stop()
  }

  @Test func `an entry of a service is not sent as another one`() async throws {
    let world = try world()
    do { try await outbox(world, session()).enqueue(Ping(number: 1)) }
    let other = try await outbox(world, session("other"))
    #expect(try await other.drain().others == 1)
    #expect(tokens(world) == [])
    #expect(try await outbox(world, session()).drain().isEmpty)
    #expect(tokens(world) == ["Bearer token-app"])
  }

  @Test func `an entry of a service is not sent as a user, and waits for the service`() async throws {
    let world = try world()
    let session = session()
    let outbox = try await outbox(world, session)
    try await outbox.enqueue(Ping(number: 1))
    try await session.signIn(AccessToken("user"), as: "anna")
    #expect(try await outbox.drain().others == 1)
    #expect(tokens(world) == [])
    try await session.signOut()
    #expect(try await outbox.drain().isEmpty)
    #expect(tokens(world) == ["Bearer token-app"])
  }

  @Test func `the account of closures is known after a restart too`() async throws {
    let world = try world()
    @Sendable func session() -> TokenSession {
      TokenSession(source: .closure(account: "robot") { _ in AccessToken("token-robot") })
    }
    do { try await outbox(world, session()).enqueue(Ping(number: 1)) }
    #expect(try await outbox(world, session()).drain().isEmpty)
    #expect(tokens(world) == ["Bearer token-robot"])
  }

  @Test func `an entry rests although each refused token ends the session of its service`() async throws {
    let world = try OutboxWorld { request in
      guard request.url.path() == "/token" else { return (401, "") }
      return (200, #"{"access_token": "refused", "token_type": "Bearer", "expires_in": 3600}"#)
    }
    let outbox = try await outbox(world, session())
    try await outbox.enqueue(Ping(number: 1))
    let left = try await outbox.drain()
    #expect(left.nextAttempt == world.clock.date.addingTimeInterval(30))
    // One attempt, in which the token is replaced once.
    #expect(tokens(world).count == 2)
  }

  @Test func `a refused token of a service does not discard its entries`() async throws {
    let isRefused = Shared(true)
    let world = try OutboxWorld { request in
      guard request.url.path() == "/token" else { return (isRefused.value ? 401 : 200, "") }
      return (200, #"{"access_token": "new", "token_type": "Bearer", "expires_in": 3600}"#)
    }
    let client = world.client([.tokenAuth(session())])
    let outbox = try await world.outbox(client, OutboxConfiguration(atSignOut: .discard))
    try await outbox.enqueue(Ping(number: 1))
    #expect(try await outbox.drain().waiting == 1)
    isRefused.value = false
    #expect(try await outbox.drain().isEmpty)
    #expect(try await world.states == [5])
  }

  @Test func `a token that is refused to one entry of a service does not affect the delivery of another`() async throws
  {
    let (begun, gate) = (TestGate(), TestGate())
    let world = try OutboxWorld { request in
      switch request.url.path() {
      case "/token": return (200, #"{"access_token": "refused", "token_type": "Bearer", "expires_in": 3600}"#)
      case "/pings/1":
        await begun.waitForArrivals(1)
        return (401, "")
      default:
        begun.arrive()
        await gate.pass()
        return (200, "")
      }
    }
    let session = session()
    let outbox = try await outbox(world, session)
    for number in 1...2 { try await outbox.enqueue(Ping(number: number)) }
    let events = session.events
    let drain = Task { try await outbox.drain() }
    for await event in events {
      if case .signedOut(.refused) = event { break }
    }
    gate.open()
    #expect(try await drain.value.waiting == 1)
    #expect(world.sent.count { $0 == "POST /pings/2" } == 1)
    #expect(try await world.states.sorted() == [0, 5])
  }

  @Test func `the name of a service is not in the file`() async throws {
    let world = try world()
    try await outbox(world, session("canary")).enqueue(Ping(number: 1))
    for file in try FileManager.default.contentsOfDirectory(atPath: world.folder.path) {
      let data = try Data(contentsOf: URL(filePath: world.folder.file(file)))
      #expect(data.range(of: Data("canary".utf8)) == nil, "in \(file)")
    }
  }
}
