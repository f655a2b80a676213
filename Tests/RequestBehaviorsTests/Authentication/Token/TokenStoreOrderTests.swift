import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Session and store hold the same, however slow the store is.
@Suite(.limited) struct TokenStoreOrderTests {
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
  private func timeOut(_ client: NetworkClient, after waits: Int = 1) async throws {
    let task = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    for _ in 0..<waits {
      await fixture.clock.waitForSleepers(1)
      fixture.clock.advance(by: .seconds(30))
    }
    let error = try await fixture.error(task)
    #expect(error.code == .tokenUnavailable)
    // After two waits the refresh may not have begun to read the store; it then says that it waits for another process.
    if waits > 1, error.message.hasPrefix("another process has been refreshing the token") { return }
    #expect((error.underlyingError as? NetworkError)?.code == .timedOut)
  }

  @Test func `a store that signs its own user out while it is read gets an error, and the user is gone`() async throws {
    let (session, thrown) = (Box<TokenSession?>(nil), Box<[NetworkError?]>([]))
    let store = HeldTokenStore(
      AccessToken("alice", lifetime: .seconds(3_600)),
      onLoad: {
        let error = await #expect(throws: NetworkError.self) { try await session.value?.signOut() }
        thrown.update { $0.append(error) }
      })
    session.value = fixture.session(.refreshToken(.test), store)
    let own = try #require(session.value)
    #expect(try await own.isSignedIn() == false)
    #expect(thrown.value.map { $0?.code } == [.invalidBehavior])
    try await own.signOut()
    #expect(store.value == nil)
  }

  @Test func `a store that sends a request which needs its token fails without a wait`() async throws {
    let (client, thrown) = (Box<NetworkClient?>(nil), Box<[NetworkError]>([]))
    let store = HeldTokenStore(
      AccessToken("alice", lifetime: .seconds(3_600)),
      onLoad: {
        guard thrown.value.isEmpty else { return }
        do { try await client.value?.send(.get("secrets")) } catch let error as NetworkError {
          thrown.update { $0.append(error) }
        } catch {}
      })
    client.value = fixture.client(fixture.session(.refreshToken(.test), store))
    server.state.update { $0.valid = "alice" }
    try await client.value?.send(.get("a"))
    #expect(thrown.value.map(\.code) == [.invalidBehavior])
    #expect(fixture.clock.sleeperCount == 0)
  }

  @Test func `a store that sends a request which needs its token during a refresh fails without a wait`() async throws {
    let (client, thrown, reads) = (Box<NetworkClient?>(nil), Box<[NetworkError]>([]), Box(false))
    let store = HeldTokenStore(onLoad: {
      guard reads.value else { return }
      do { try await client.value?.send(.get("secrets")) } catch let error as NetworkError {
        thrown.update { $0.append(error) }
      } catch {}
    })
    let session = try await fixture.alice(store)
    client.value = fixture.client(session)
    server.tokenGate.value = gate
    let task = Task { [client] in try await client.value?.send(.get("a")) }
    await gate.waitForArrivals(1)
    reads.value = true
    // As an outbox asks before it sends.
    #expect(try await session.isAnyUserSignedIn())
    reads.value = false
    #expect(thrown.value.map(\.code) == [.invalidBehavior])
    #expect(thrown.value.first?.message.hasPrefix("a TokenStore") == true)
    gate.open()
    try await task.value
  }

  @Test func `a refusal signs out though the store takes longer than callers wait`() async throws {
    let store = holding(nil)
    let session = try await fixture.alice(store)
    let events = session.events
    server.refuseToken(400, #"{"error":"invalid_grant"}"#)
    try await timeOut(fixture.client(session))
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
    try await timeOut(fixture.client(session))
    gate.open()
    #expect(await events.names(through: "signedOut").last == "signedOut")
    #expect(try await session.isSignedIn() == false)
  }

  @Test func `a token endpoint that is slower than the wait for it gets no second request`() async throws {
    let session = try await fixture.alice()
    server.tokenGate.value = gate
    let client = fixture.client(session)
    try await timeOut(client)
    let second = Task { try await client.send(.get("b")) }
    await fixture.clock.waitForSleepers(1)
    #expect(server.tokenRequests.count == 1)
    gate.open()
    try await second.value
    #expect(server.tokenRequests.count == 1)
    #expect(fixture.sentTokens.last == "Bearer t1")
  }

  @Test func `later calls that wait for an overdue refresh fail too, and the endpoint gets no second request`()
    async throws
  {
    let session = try await fixture.alice()
    server.tokenGate.value = gate
    let client = fixture.client(session)
    try await timeOut(client)
    for _ in 0..<2 {
      let later = Task { try await client.send(.get("b")) }
      await fixture.clock.waitForSleepers(1)
      fixture.clock.advance(by: .seconds(30))
      #expect(try await fixture.error(later).code == .tokenUnavailable)
    }
    #expect(server.tokenRequests.count == 1)
    let events = session.events
    gate.open()
    #expect(await events.names(through: "refreshed") == ["refreshed"])
    try await client.send(.get("c"))
    #expect(server.tokenRequests.count == 1)
  }

  @Test func `a call that has given up on a refresh does not wait for it again`() async throws {
    let session = try await fixture.alice()
    server.tokenGate.value = gate
    try await timeOut(fixture.client(session, SecondAttempt()))
    #expect(server.tokenRequests.count == 1)
    gate.open()
  }

  @Test func `a token that has not expired is used while its refresh is overdue`() async throws {
    let session = try await fixture.alice()
    fixture.answer(200)
    server.tokenGate.value = gate
    let client = fixture.client(session)
    fixture.clock.advance(by: .seconds(3_550))
    let task = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    await fixture.clock.waitForSleepers(1)
    fixture.clock.advance(by: .seconds(30))
    try await task.value
    try await client.send(.get("b"))
    #expect(fixture.sentTokens == ["Bearer alice", "Bearer alice"])
    #expect(server.tokenRequests.count == 1)
    gate.open()
  }

  @Test func `a token that is stored slowly is not requested a second time`() async throws {
    let store = holding("t1")
    let session = try await fixture.alice(store)
    let client = fixture.client(session)
    try await timeOut(client)
    let second = Task { try await client.send(.get("b")) }
    await fixture.clock.waitForSleepers(1)
    gate.open()
    try await second.value
    #expect(server.tokenRequests.count == 1)
    #expect(store.value == "t1")
    #expect(fixture.sentTokens.last == "Bearer t1")
  }

  @Test func `a late refusal fails the waiting calls and signs out`() async throws {
    let session = try await fixture.alice()
    server.tokenGate.value = gate
    server.refuseToken(400, #"{"error":"invalid_grant"}"#)
    let client = fixture.client(session)
    try await timeOut(client)
    let second = Task { try await client.send(.get("b")) }
    await fixture.clock.waitForSleepers(1)
    gate.open()
    #expect(try await fixture.error(second).code == .tokenUnavailable)
    #expect(try await session.isSignedIn() == false)
    #expect(server.tokenRequests.count == 1)
  }

  @Test func `a sign-in during an overdue refresh is not affected by it`() async throws {
    let session = try await fixture.alice()
    server.tokenGate.value = gate
    let client = fixture.client(session)
    try await timeOut(client)
    try await session.signIn(AccessToken("bob", lifetime: .seconds(3_600), refreshToken: "rb"))
    fixture.answer(200)
    gate.open()
    try await client.send(.get("b"))
    #expect(fixture.sentTokens.last == "Bearer bob")
    #expect(server.tokenRequests.count == 1)
  }

  @Test func `a sign-in while the store is read is not replaced by the stored token`() async throws {
    let store = HeldTokenStore(AccessToken("alice"), onLoad: { [gate] in await gate.pass() })
    fixture.answer(200)
    let session = fixture.session(.refreshToken(.test), store)
    async let wasSignedIn = session.isSignedIn()
    await gate.waitForArrivals(1)
    let events = session.events
    let signIn = Task { try await session.signIn(AccessToken("bob")) }
    #expect(await events.names(through: "signedIn") == ["signedIn"])
    gate.open()
    _ = try await wasSignedIn
    try await signIn.value
    try await fixture.client(session).send(.get("a"))
    #expect(fixture.sentTokens == ["Bearer bob"])
    #expect(store.value == "bob")
  }

  @Test func `a refusal that lands after a sign-in leaves the newer token in the store`() async throws {
    let late = TestGate()
    let store = HeldTokenStore()
    let session = try await fixture.alice(store)
    let transport = ClosureTransport { [server, gate] request in
      if request.url.lastPathComponent == "token" { return try await server.transport.send(request) }
      if request.url.lastPathComponent == "late", request.headers["Authorization"] == "Bearer t1" {
        await late.pass()
      }
      if request.headers["Authorization"] == "Bearer alice" { await gate.pass() }
      return NetworkResponse(request: request, statusCode: request.headers["Authorization"] == "Bearer bob" ? 200 : 401)
    }
    let client = NetworkClient(transport, [.tokenAuth(session)])
    let task = Task { try await client.send(.get("late")) }
    await gate.waitForArrivals(1)
    gate.open()
    await late.waitForArrivals(1)
    try await session.signIn(AccessToken("bob"))
    late.open()
    #expect(try await fixture.error(task).statusCode == 401)
    #expect(store.value == "bob")
    #expect(store.saves == ["alice", "t1", "bob"])
    try await client.send(.get("b"))
  }

  @Test func `a sign-out while a new token is stored is not followed by the event of a refresh`() async throws {
    let session = try await fixture.alice(holding("t1"))
    let events = session.events
    let client = fixture.client(session)
    let task = Task { try await client.send(.get("a")) }
    try await fixture.signOut(session, during: task, heldAt: gate)
    try await session.signIn(AccessToken("bob"))
    #expect(await events.names(through: "signedIn") == ["signedOut", "signedIn"])
  }

  @Test func `a lifetime counts from the arrival of the token, not from its save`() async throws {
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

  @Test func `a call whose token is permanently refused can be cancelled while the store is slow`() async throws {
    let session = try await fixture.alice(holding(nil))
    fixture.answer(401)
    let client = fixture.client(session)
    let task = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    task.cancel()
    await #expect(throws: (any Error).self) { try await task.value }
    gate.open()
  }

  @Test func `a token that the API refuses is removed from the store before subscribers are notified`() async throws {
    let store = holding(nil)
    let session = try await fixture.alice(store)
    fixture.answer(401)
    let client = fixture.client(session)
    let (before, after) = (session.events, session.events)
    let task = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    #expect(await before.namesSoFar() == ["refreshed"])
    gate.open()
    #expect(await after.names(through: "signedOut") == ["refreshed", "signedOut"])
    #expect(store.value == nil)
    #expect(try await fixture.error(task).statusCode == 401)
  }

  @Test func `the wait for the store is limited too, and its token is used once it is read`() async throws {
    let store = HeldTokenStore(AccessToken("t1"), onLoad: { [gate] in await gate.pass() })
    fixture.answer(200)
    let session = fixture.session(.refreshToken(.test), store)
    let client = NetworkClient(server.transport, fixture.clock.requestClock, [.tokenAuth(session)])
    // The call waits for the store to tell whose it is, and then for the token.
    try await timeOut(client, after: 2)
    gate.open()
    try await client.send(.get("b"))
    #expect(server.tokenRequests.isEmpty)
  }

  @MainActor @Test func `a store is read once, also for calls that come meanwhile`() async throws {
    let store = HeldTokenStore(onLoad: { [gate] in await gate.pass() })
    let session = fixture.session(.refreshToken(.test), store)
    let one = Task { try await session.isSignedIn() }
    await gate.waitForArrivals(1)
    let come = TestGate()
    let two = Task {
      come.arrive()
      return try await session.isSignedIn()
    }
    // All of this runs on the main actor, so it continues here only when the second call waits for the store.
    await come.waitForArrivals(1)
    gate.open()
    _ = try await (one.value, two.value)
    #expect(store.loads == 1)
  }

  @Test func `the store is written in the order of the changes`() async throws {
    let store = holding("alice")
    let session = fixture.session(.refreshToken(.test), store)
    let signIn = Task { try await session.signIn(AccessToken("alice")) }
    await gate.waitForArrivals(1)
    let events = session.events
    let signOut = Task { try await session.signOut() }
    // It is notified when the removal waits for the store. The event of the sign-in may come before it: its save can
    // begin earlier than the event.
    #expect(await events.names(through: "signedOut").last == "signedOut")
    gate.open()
    try await signIn.value
    try await signOut.value
    #expect(store.saves == ["alice", nil])
  }

  @Test func `a token that came before a sign-out is not stored after it`() async throws {
    let loads = Box(0)
    // The third time is when the token has come and is about to be stored.
    let store = HeldTokenStore(onLoad: { [gate] in
      let number = loads.update { loads in
        loads += 1
        return loads
      }
      if number == 3 { await gate.pass() }
    })
    let session = try await fixture.alice(store)
    let client = fixture.client(session)
    let task = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    #expect(server.tokenRequests.count == 1)
    let signOut = Task { try await session.signOut() }
    #expect(try await fixture.error(task).code == .signedOut)
    gate.open()
    try await signOut.value
    #expect(store.saves == ["alice", nil])
  }

  @Test func `a failed removal of a refused refresh token is reported`() async throws {
    let session = try await fixture.alice(failing(nil))
    let events = session.events
    server.refuseToken(400, #"{"error":"invalid_grant"}"#)
    await #expect(throws: NetworkError.self) { try await fixture.client(session).send(.get("a")) }
    #expect(await events.names(through: "storeFailed") == ["signedOut", "storeFailed"])
  }

  @Test func `a failed removal of a token that the API refuses is reported`() async throws {
    let session = try await fixture.alice(failing(nil))
    let events = session.events
    fixture.answer(401)
    await #expect(throws: NetworkError.self) { try await fixture.client(session).send(.get("a")) }
    #expect(await events.names(through: "storeFailed") == ["refreshed", "signedOut", "storeFailed"])
  }
}
