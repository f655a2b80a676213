import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Sessions of several processes over one place: an app and its extension.
@Suite(.limited) struct SharedStoreTests {
  private let fixture = TokenFixture()
  private var server: TokenServer { fixture.server }
  private let gate = TestGate()
  private let place = Box<AccessToken?>(nil)

  /// A session as another process would have it: over a store object of its own.
  private func process(
    _ source: any TokenSource = .refreshToken(.test)
  ) -> (session: TokenSession, client: NetworkClient) {
    let session = fixture.session(source, PlaceStore(place))
    return (session, fixture.client(session))
  }

  private func signIn(_ name: String = "t0") async throws {
    server.state.update { $0.valid = name }
    try await process().session.signIn(AccessToken(name, lifetime: .seconds(3_600), refreshToken: "r0"))
  }

  /// The refresh tokens that were sent.
  private var spent: [String] {
    server.tokenRequests.compactMap { request in
      let body = String(decoding: request.body?.data ?? Data(), as: UTF8.self)
      return body.split(separator: "&").first { $0.hasPrefix("refresh_token=") }.map { String($0.dropFirst(14)) }
    }
  }

  @Test func `a token that another process has refreshed is used instead of refreshing it again`() async throws {
    try await signIn()
    let (app, widget) = (process(), process())
    try await app.client.send(.get("a"))
    try await widget.client.send(.get("a"))
    server.revoke()
    try await widget.client.send(.get("b"))
    try await app.client.send(.get("b"))
    #expect(spent == ["r0"])
    #expect(fixture.sentTokens.last == "Bearer t1")
    server.revoke()
    try await app.client.send(.get("c"))
    #expect(spent == ["r0", "r1"])
    #expect(place.value?.value == "t2")
  }

  @Test func `a token of another process that cannot be refreshed is used until it has expired`() async throws {
    try await signIn()
    let app = process()
    try await app.client.send(.get("a"))
    fixture.clock.advance(by: .seconds(3_600))
    // The leeway is 60 seconds.
    let date = fixture.clock.date.addingTimeInterval(30)
    var other = try #require(place.value)
    (other.value, other.expiresAt, other.refreshToken) = ("t1", date, nil)
    place.value = other
    server.state.update { $0.valid = "t1" }
    try await app.client.send(.get("b"))
    #expect(fixture.sentTokens == ["Bearer t0", "Bearer t1"])
    #expect(try await app.session.isSignedIn())
    fixture.clock.advance(by: .seconds(30))
    await #expect(throws: NetworkError.self) { try await app.client.send(.get("c")) }
    #expect(try await app.session.isSignedIn() == false)
  }

  @Test func `a refresh is not sent if another process has already refreshed`() async throws {
    try await signIn()
    let gate = gate
    let app = process(
      .refreshing { token, client in
        await gate.pass()
        return try await RefreshTokenGrant(.test).refresh(token, using: client)
      })
    let widget = process()
    try await app.client.send(.get("a"))
    server.revoke()
    let late = Task { try await app.client.send(.get("b")) }
    await gate.waitForArrivals(1)
    try await widget.client.send(.get("b"))
    gate.open()
    try await late.value
    #expect(spent == ["r0"])
    #expect(fixture.sentTokens.last == "Bearer t1")
    #expect(try await app.session.isSignedIn())
  }

  @Test func `a refresh that is refused because another process was faster does not sign out`() async throws {
    try await signIn()
    let (app, widget) = (process(), process())
    try await app.client.send(.get("a"))
    server.revoke()
    let refusals = Box(0)
    let events = app.session.events
    let (place, server) = (place, server)
    server.state.update { state in
      state.refusals.append { request in
        refusals.update { $0 += 1 }
        let newer = AccessToken("t9", refreshToken: "r9").ofSession(place.value)
        place.value = newer
        return NetworkResponse(
          request: request, statusCode: 400, headers: ["Content-Type": "application/json"],
          body: .data(Data(#"{"error":"invalid_grant"}"#.utf8)))
      }
    }
    server.state.update { $0.valid = "t9" }
    try await app.client.send(.get("b"))
    #expect(fixture.sentTokens.last == "Bearer t9")
    #expect(refusals.value == 1)
    #expect(place.value?.value == "t9")
    try await app.session.signOut()
    #expect(await events.names(through: "signedOut") == ["refreshed", "signedOut"])
    _ = widget
  }

  @Test func `the removal of a refused token keeps another process's newer token`() async throws {
    try await signIn()
    let app = process()
    let place = place
    let sends = Box(0)
    server.state.update { state in
      state.answer = { request in
        // The refreshed token is refused, and another process has refreshed it by then.
        if sends.update({ sends in
          sends += 1
          return sends
        }) == 2 {
          place.value = AccessToken("t9", refreshToken: "r9").ofSession(place.value)
        }
        return NetworkResponse(request: request, statusCode: 401)
      }
    }
    await #expect(throws: NetworkError.self) { try await app.client.send(.get("a")) }
    #expect(place.value?.value == "t9")
    server.state.update { state in
      state.answer = nil
      state.valid = "t9"
    }
    try await app.client.send(.get("b"))
    #expect(try await app.session.isSignedIn())
  }

  @Test func `a sign-out in another process ends the session at the next refresh`() async throws {
    try await signIn()
    let (app, widget) = (process(), process())
    try await app.client.send(.get("a"))
    try await widget.session.signOut()
    server.revoke()
    let events = app.session.events
    let task = Task { try await app.client.send(.get("b")) }
    #expect(try await fixture.error(task).code == .signedOut)
    #expect(await events.names(through: "signedOut") == ["signedOut"])
    #expect(try await app.session.isSignedIn() == false)
    #expect(spent == [])
    #expect(place.value == nil)
  }

  @Test func `another user who signed in elsewhere is not overwritten, and calls of the first fail`() async throws {
    try await signIn("alice")
    let (app, widget) = (process(), process())
    try await app.client.send(.get("a"))
    try await widget.session.signIn(AccessToken("bob", refreshToken: "rb"))
    server.state.update { $0.valid = "bob" }
    let task = Task { try await app.client.send(.get("b")) }
    #expect(try await fixture.error(task).code == .signedOut)
    try await app.client.send(.get("c"))
    #expect(fixture.sentTokens == ["Bearer alice", "Bearer alice", "Bearer bob"])
    #expect(spent == [])
    #expect(place.value?.value == "bob")
  }

  @Test func `a token that comes after another process has signed out is not stored`() async throws {
    try await signIn()
    let (app, widget) = (process(), process())
    try await app.client.send(.get("a"))
    server.revoke()
    server.tokenGate.value = gate
    let task = Task { try await app.client.send(.get("b")) }
    await gate.waitForArrivals(1)
    try await widget.session.signOut()
    gate.open()
    #expect(try await fixture.error(task).code == .signedOut)
    #expect(place.value == nil)
    #expect(try await app.session.isSignedIn() == false)
  }

  // MARK: - Stores that fail

  @Test func `a store that cannot be read before a refresh neither signs out nor spends a refresh token`() async throws
  {
    let isLocked = Box(false)
    let store = FailingTokenStore(load: { isLocked.value })
    let session = try await fixture.alice(store)
    let client = fixture.client(session)
    isLocked.value = true
    let locked = Task { try await client.send(.get("a")) }
    let error = try await fixture.error(locked)
    #expect(error.code == .tokenStoreFailed)
    #expect(error.underlyingError is CocoaError)
    #expect(try await session.isSignedIn())
    #expect(server.tokenRequests.isEmpty)
    isLocked.value = false
    try await client.send(.get("b"))
    #expect(fixture.sentTokens.last == "Bearer t1")
  }

  @Test func `a store that cannot be read at first is an error, not a session without a user`() async throws {
    let isLocked = Box(true)
    let store = FailingTokenStore(AccessToken("t0"), load: { isLocked.value })
    let session = fixture.session(.refreshToken(.test), store)
    let client = fixture.client(session)
    fixture.answer(200)
    let events = session.events
    await #expect(throws: (any Error).self) { try await session.isSignedIn() }
    let locked = Task { try await client.send(.get("a")) }
    #expect(try await fixture.error(locked).code == .tokenStoreFailed)
    isLocked.value = false
    try await client.send(.get("a"))
    #expect(fixture.sentTokens == ["Bearer t0"])
    try await session.signOut()
    #expect(await events.names(through: "signedOut") == ["refreshFailed", "signedOut"])
  }

  @Test func `a refusal while the store cannot be read does not sign out`() async throws {
    let isLocked = Box(false)
    let session = try await fixture.alice(FailingTokenStore(load: { isLocked.value }))
    server.tokenGate.value = gate
    server.refuseToken(400, #"{"error":"invalid_grant"}"#)
    let client = fixture.client(session)
    let task = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    isLocked.value = true
    gate.open()
    #expect(try await fixture.error(task).code == .tokenUnavailable)
    #expect(try await session.isSignedIn())
  }

  @Test func `a refreshed token that cannot be stored is used, reported, and stored later`() async throws {
    let isFull = Box(false)
    let store = FailingTokenStore(save: { isFull.value })
    let session = try await fixture.alice(store)
    let client = fixture.client(session)
    let events = session.events
    isFull.value = true
    try await client.send(.get("a"))
    #expect(fixture.sentTokens.last == "Bearer t1")
    #expect(store.value == "alice")
    #expect(await events.names(through: "storeFailed") == ["refreshed", "storeFailed"])
    await fixture.clock.waitForSleepers(1)
    let attempts = store.attempts
    fixture.clock.advance(by: .seconds(1))
    await store.attempts(attempts + 1)
    isFull.value = false
    await fixture.clock.waitForSleepers(1)
    fixture.clock.advance(by: .seconds(2))
    await store.attempts(attempts + 2)
    #expect(store.value == "t1")
    server.revoke()
    try await client.send(.get("b"))
    #expect(spent == ["r0", "r1"])
  }

  @Test func `a token that could not be stored is refreshed though the store cannot be read`() async throws {
    let isBroken = Box(true)
    let store = FailingTokenStore(load: { isBroken.value }, save: { isBroken.value })
    let session = fixture.session(.refreshToken(.test), store)
    await #expect(throws: CocoaError.self) {
      try await session.signIn(AccessToken("t0", lifetime: .seconds(3_600), refreshToken: "r0"))
    }
    try await fixture.client(session).send(.get("a"))
    #expect(fixture.sentTokens.last == "Bearer t1")
  }

  @Test func `a token that could not be stored is not replaced by the one stored before it`() async throws {
    let isFull = Box(true)
    let store = FailingTokenStore(
      AccessToken("old", lifetime: .seconds(3_600), refreshToken: "old"), save: { isFull.value })
    let session = fixture.session(.refreshToken(.test), store)
    await #expect(throws: CocoaError.self) {
      try await session.signIn(AccessToken("t0", lifetime: .seconds(3_600), refreshToken: "r0"))
    }
    isFull.value = false
    try await fixture.client(session).send(.get("a"))
    #expect(spent == ["r0"])
    #expect(store.value == "t1")
  }

  @Test func `a retried save does not replace what another process has stored since`() async throws {
    let isFull = Box(false)
    let store = FailingTokenStore(save: { isFull.value })
    let session = try await fixture.alice(store)
    isFull.value = true
    try await fixture.client(session).send(.get("a"))
    await fixture.clock.waitForSleepers(1)
    store.put(nil)
    isFull.value = false
    let events = session.events
    fixture.clock.advance(by: .seconds(1))
    #expect(await events.names(through: "signedOut") == ["signedOut"])
    #expect(store.value == nil)
  }

  /// Has a change of the user fail to be stored, and another process refresh the token of the user before, perhaps after
  /// another sign-in of that user.
  ///
  /// It returns when the session stores the change again, which succeeds then.
  private func refreshElsewhere(
    _ store: FailingTokenStore, _ isFull: Box<Bool>, afterSignIn signIn: String? = nil,
    during change: () async throws -> Void
  ) async throws {
    var refreshed = AccessToken("t9", lifetime: .seconds(3_600), refreshToken: "r9").ofSession(try await store.load())
    if let signIn { refreshed.signInID = signIn }
    isFull.value = true
    await #expect(throws: CocoaError.self) { try await change() }
    await fixture.clock.waitForSleepers(1)
    store.put(refreshed)
    isFull.value = false
    fixture.clock.advance(by: .seconds(1))
  }

  @Test func `a sign-out that could not be stored is not undone by a refresh of another process`() async throws {
    let isFull = Box(false)
    let store = FailingTokenStore(save: { isFull.value })
    let session = try await fixture.alice(store)
    try await refreshElsewhere(store, isFull) { try await session.signOut() }
    // After those of the sign-in and of the sign-out.
    await store.attempts(3)
    #expect(try await session.isSignedIn() == false)
    #expect(store.value == nil)
  }

  @Test func `a sign-in that could not be stored is not undone by a refresh for the user before`() async throws {
    let isFull = Box(false)
    let store = FailingTokenStore(save: { isFull.value })
    let session = try await fixture.alice(store)
    try await refreshElsewhere(store, isFull) { try await session.signIn(AccessToken("bob")) }
    await store.attempts(3)
    #expect(store.value == "bob")
  }

  @Test func `a named user whom another process has signed in again stays signed in there`() async throws {
    let isFull = Box(false)
    let store = FailingTokenStore(save: { isFull.value })
    let session = fixture.session(.refreshToken(.test), store)
    try await session.signIn(AccessToken("t0", lifetime: .seconds(3_600), refreshToken: "r0"), as: "alice")
    let events = session.events
    try await refreshElsewhere(store, isFull, afterSignIn: "another") { try await session.signOut() }
    #expect(await events.names(through: "signedIn") == ["signedOut", "signedIn"])
    #expect(store.value == "t9")
  }

  @Test func `a sign-out of a user of a name that could not be stored is not undone by a refresh elsewhere`()
    async throws
  {
    let isFull = Box(false)
    let store = FailingTokenStore(save: { isFull.value })
    let session = fixture.session(.refreshToken(.test), store)
    try await session.signIn(AccessToken("t0", lifetime: .seconds(3_600), refreshToken: "r0"), as: "alice")
    try await refreshElsewhere(store, isFull) { try await session.signOut() }
    await store.attempts(3)
    #expect(try await session.isSignedIn() == false)
    #expect(store.value == nil)
  }

  /// The events of a session after another process has refreshed the token that both have sent.
  private func eventsAfterRefreshElsewhere(_ source: any TokenSource = .refreshToken(.test)) async throws -> [String] {
    let (app, widget) = (process(source), process(source))
    try await app.client.send(.get("a"))
    try await widget.client.send(.get("a"))
    server.revoke()
    let events = widget.session.events
    try await app.client.send(.get("b"))
    try await widget.client.send(.get("b"))
    return await events.namesSoFar()
  }

  /// A source that gets its first token without a user, and names no account.
  private var nameless: ClosureTokenSource { .closure { try await ClientCredentialsGrant(.test).fetch(using: $0) } }

  @Test func `a first token without an account has one owner in all processes, also after a refresh`() async throws {
    #expect(try await eventsAfterRefreshElsewhere(nameless) == ["refreshed"])
  }

  @Test func `a token that another program stored has one owner in all processes, also after a refresh`() async throws {
    server.state.update { $0.valid = "t0" }
    place.value = AccessToken("t0", lifetime: .seconds(3_600), refreshToken: "r0")
    #expect(try await eventsAfterRefreshElsewhere() == ["refreshed"])
  }

  @Test func `a response without a token, while the first one is being stored, does not belong to its owner`()
    async throws
  {
    let gate = gate
    let session = fixture.session(nameless, HeldTokenStore(onSave: { _ in await gate.pass() }))
    let keeper = ScopeKeeper()
    server.state.update { state in state.answer = { NetworkResponse(request: $0, statusCode: 200) } }
    let client = fixture.client(session, keeper)
    let call = Task { try await client.send(.get("a").with(\.authentication, .optional)) }
    await gate.waitForArrivals(1)
    await fixture.clock.waitForSleepers(1)
    fixture.clock.advance(by: .seconds(30))
    try await call.value
    #expect(keeper.kept.value == [false])
    gate.open()
  }
}

/// A store over a place that several stores share.
private final class PlaceStore: TokenStore {
  private let place: Box<AccessToken?>

  init(_ place: Box<AccessToken?>) { self.place = place }

  func load() async throws -> AccessToken? { place.value }
  func save(_ token: AccessToken?) async throws { place.value = token }
}

/// A store that fails on demand.
private final class FailingTokenStore: TokenStore {
  private let token: Box<AccessToken?>
  private let loadFails: @Sendable () -> Bool
  private let saveFails: @Sendable () -> Bool
  private let saves = TestGate()
  private let count = Box(0)

  init(
    _ token: AccessToken? = nil, load: @escaping @Sendable () -> Bool = { false },
    save: @escaping @Sendable () -> Bool = { false }
  ) {
    self.token = Box(token)
    loadFails = load
    saveFails = save
    saves.open()
  }

  var value: String? { token.value?.value }
  var attempts: Int { count.value }

  /// Returns when so many saves have been tried.
  func attempts(_ number: Int) async { await saves.waitForArrivals(number) }

  func put(_ new: AccessToken?) { token.value = new }

  func load() async throws -> AccessToken? {
    if loadFails() { throw CocoaError(.fileReadNoPermission) }
    return token.value
  }

  func save(_ new: AccessToken?) async throws {
    let fails = saveFails()
    if !fails { token.value = new }
    count.update { $0 += 1 }
    await saves.pass()
    if fails { throw CocoaError(.fileWriteOutOfSpace) }
  }
}

extension AccessToken {
  /// The token as a refresh of another one has it.
  fileprivate func ofSession(_ other: AccessToken?) -> AccessToken {
    var token = self
    token.sessionID = other?.sessionID
    token.signInID = other?.signInID
    return token
  }
}
