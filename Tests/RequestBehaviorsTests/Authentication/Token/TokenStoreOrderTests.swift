import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

/// Session and store hold the same, however slow the store is.
@Suite(.timeLimit(.minutes(1))) struct TokenStoreOrderTests {
  private let fixture = TokenFixture()
  private var server: TokenServer { fixture.server }
  private let gate = TestGate()

  private func holding(_ value: String?) -> HeldTokenStore {
    HeldTokenStore(onSave: { [gate] in if $0?.value == value { await gate.pass() } })
  }

  private func failing(_ value: String?) -> HeldTokenStore {
    HeldTokenStore(onSave: { if $0?.value == value { throw CocoaError(.fileWriteOutOfSpace) } })
  }

  /// Makes a request wait for what the gate holds until it gives up.
  private func giveUp(_ client: NetworkClient) async throws {
    let task = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    await fixture.clock.waitForSleepers(1)
    fixture.clock.advance(by: .seconds(30))
    #expect(try await fixture.error(task).code == .timedOut)
  }

  @Test func `a refusal signs out though the store takes longer than callers wait`() async throws {
    let store = holding(nil)
    let session = try await fixture.alice(store)
    let events = session.events
    server.refuseToken(400, #"{"error":"invalid_grant"}"#)
    try await giveUp(fixture.client(session))
    gate.open()
    #expect(await events.names(through: "signedOut") == ["refreshFailed", "signedOut"])
    #expect(store.value == nil)
    #expect(try await session.isSignedIn() == false)
  }

  @Test func `a refusal that comes after callers have given up signs out`() async throws {
    let session = try await fixture.alice()
    let events = session.events
    server.tokenGate.value = gate
    server.refuseToken(400, #"{"error":"invalid_grant"}"#)
    try await giveUp(fixture.client(session))
    gate.open()
    #expect(await events.names(through: "signedOut").last == "signedOut")
    #expect(try await session.isSignedIn() == false)
  }

  @Test func `a late token that is being stored survives the refusal of a newer request for one`() async throws {
    let store = holding("t1")
    let session = try await fixture.alice(store)
    let client = fixture.client(session)
    try await giveUp(client)
    server.refuseToken(400, #"{"error":"invalid_grant"}"#)
    let second = Task { try await client.send(.get("b")) }
    while server.tokenRequests.count < 2 { await Task.yield() }
    await drift()
    gate.open()
    try await second.value
    #expect(try await session.isSignedIn())
    #expect(store.value == "t1")
    #expect(fixture.sentTokens.last == "Bearer t1")
  }

  @Test func `a late refusal does not end what a newer request for a token is getting`() async throws {
    let newer = TestGate()
    let gate = gate
    let count = Box(0)
    // The first refresh is refused because the second has used the refresh token.
    let source = ClosureTokenSource(refresh: { _, client in
      let number = count.update { count in
        count += 1
        return count
      }
      if number == 1 {
        await gate.pass()
        return try await client.send(.post("token"))
      }
      await newer.pass()
      return AccessToken("t2", refreshToken: "r2")
    })
    let session = fixture.session(source)
    try await session.signIn(AccessToken("alice", lifetime: .seconds(3_600), refreshToken: "r0"))
    let events = session.events
    server.refuseToken(400, #"{"error":"invalid_grant"}"#)
    let client = fixture.client(session)
    try await giveUp(client)
    server.state.update { $0.valid = "t2" }
    let second = Task { try await client.send(.get("b")) }
    await newer.waitForArrivals(1)
    gate.open()
    while server.tokenRequests.isEmpty { await Task.yield() }
    await drift()
    newer.open()
    try await second.value
    #expect(await events.names(through: "refreshed") == ["refreshFailed", "refreshed"])
    #expect(try await session.isSignedIn())
  }

  @Test func `a lifetime counts from when the token came, not from when it was stored`() async throws {
    let store = HeldTokenStore(onSave: { [gate] _ in await gate.pass() })
    server.state.update { $0.lifetime = 100 }
    let client = fixture.client(fixture.session(.clientCredentials(.test), store))
    let task = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    fixture.clock.advance(by: .seconds(25))
    gate.open()
    try await task.value
    fixture.clock.advance(by: .seconds(76))
    try await client.send(.get("b"))
    #expect(server.tokenRequests.count == 2)
  }

  @Test func `a call whose token is refused for good can be cancelled while the store is slow`() async throws {
    let session = try await fixture.alice(holding(nil))
    fixture.answer(401)
    let client = fixture.client(session)
    let task = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    task.cancel()
    await #expect(throws: (any Error).self) { try await task.value }
    gate.open()
  }

  @Test func `a token that the API refuses has left the store when subscribers hear of it`() async throws {
    let store = holding(nil)
    let session = try await fixture.alice(store)
    fixture.answer(401)
    let client = fixture.client(session)
    let events = session.events
    let atEvent = Task {
      for await event in events { if case .signedOut = event { return store.value } }
      return "never"
    }
    let task = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    await drift()
    gate.open()
    #expect(try await fixture.error(task).statusCode == 401)
    #expect(await atEvent.value == nil)
  }

  @Test func `waiting for the store alone is bounded as well, and its token is used once it comes`() async throws {
    let store = HeldTokenStore(AccessToken("t1"), onLoad: { [gate] in await gate.pass() })
    fixture.answer(200)
    let session = fixture.session(.refreshToken(.test), store)
    let client = fixture.client(session)
    try await giveUp(client)
    gate.open()
    try await client.send(.get("b"))
    #expect(server.tokenRequests.isEmpty)
  }

  @Test func `a store is read once, also for those who come meanwhile`() async throws {
    let store = HeldTokenStore(onLoad: { [gate] in await gate.pass() })
    let session = fixture.session(.refreshToken(.test), store)
    async let one = session.isSignedIn()
    async let two = session.isSignedIn()
    await gate.waitForArrivals(1)
    await drift()
    gate.open()
    _ = try await (one, two)
    #expect(store.loads == 1)
  }

  @Test func `the store is written in the order of the changes`() async throws {
    let store = holding("alice")
    let session = fixture.session(.refreshToken(.test), store)
    let signIn = Task { try await session.signIn(AccessToken("alice")) }
    await gate.waitForArrivals(1)
    let signOut = Task { try await session.signOut() }
    await drift()
    gate.open()
    try await signIn.value
    try await signOut.value
    #expect(store.saves == ["alice", nil])
  }

  @Test func `a token that came before a sign-out is not stored after it`() async throws {
    let store = holding("alice")
    let session = fixture.session(.refreshToken(.test), store)
    let signIn = Task { try await session.signIn(AccessToken("alice", refreshToken: "r0")) }
    await gate.waitForArrivals(1)
    let client = fixture.client(session)
    let task = Task { try await client.send(.get("a")) }
    while server.tokenRequests.isEmpty { await Task.yield() }
    await drift()
    let signOut = Task { try await session.signOut() }
    #expect(try await fixture.error(task).code == .signedOut)
    gate.open()
    try await signIn.value
    try await signOut.value
    #expect(store.saves == ["alice", nil])
  }

  @Test func `a refused token that cannot be removed is told of`() async throws {
    let session = try await fixture.alice(failing(nil))
    let events = session.events
    server.refuseToken(401)
    await #expect(throws: NetworkError.self) { try await fixture.client(session).send(.get("a")) }
    #expect(await events.names(through: "storeFailed") == ["signedOut", "storeFailed"])
  }

  @Test func `a token that the API refuses and that cannot be removed is told of`() async throws {
    let session = try await fixture.alice(failing(nil))
    let events = session.events
    fixture.answer(401)
    await #expect(throws: NetworkError.self) { try await fixture.client(session).send(.get("a")) }
    #expect(await events.names(through: "storeFailed") == ["refreshed", "signedOut", "storeFailed"])
  }
}
