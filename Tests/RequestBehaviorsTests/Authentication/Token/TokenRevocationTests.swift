import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// A sign-out that has the server revoke the token.
@Suite(.limited) struct TokenRevocationTests {
  private let mock = MockTransport()
  private let clock = ManualClock()
  private let revoked = Locked<[String?]>([])

  private func signedIn() async throws -> (TokenSession, NetworkClient) {
    let session = TokenSession(
      source: .refreshToken(TokenEndpoint("token", clientID: "shop")), clock: clock.requestClock)
    var configuration = RequestConfiguration(baseURL: mock.baseURL)
    configuration.clock = clock.requestClock
    configuration.behaviors = [.tokenAuth(session)]
    try await session.signIn(AccessToken("a0", refreshToken: "r0"))
    return (session, NetworkClient(configuration: configuration, transport: mock))
  }

  private func note(_ token: AccessToken) { revoked.withLock { $0.append(token.refreshToken) } }

  @Test func `the session is signed out before its token is revoked`() async throws {
    let (session, _) = try await signedIn()
    var wasSignedIn: Bool?
    try await session.signOut { token in
      note(token)
      wasSignedIn = try await session.isSignedIn()
    }
    #expect(revoked.withLock { $0 } == ["r0"])
    #expect(wasSignedIn == false)
  }

  @Test func `the session is signed out whatever the server says`() async throws {
    let (session, _) = try await signedIn()
    await #expect(throws: CocoaError.self) { try await session.signOut { _ in throw CocoaError(.featureUnsupported) } }
    #expect(try await session.isSignedIn() == false)
  }

  @Test func `a sign-out without a token does not call the revocation`() async throws {
    let session = TokenSession(source: .refreshToken(TokenEndpoint("token", clientID: "shop")))
    try await session.signOut { note($0) }
    #expect(revoked.withLock { $0 }.isEmpty)
  }

  @Test func `a token in the store is revoked, although no request has read it`() async throws {
    let store = InMemoryTokenStore(AccessToken("a", refreshToken: "kept"))
    let session = TokenSession(source: .refreshToken(TokenEndpoint("token", clientID: "shop")), store: store)
    try await session.signOut { note($0) }
    #expect(revoked.withLock { $0 } == ["kept"])
    #expect(try await store.load() == nil)
  }

  @Test func `a token that another process has refreshed is revoked, and not the one before it`() async throws {
    let store = HeldTokenStore()
    let session = TokenSession(source: .refreshToken(TokenEndpoint("token", clientID: "shop")), store: store)
    try await session.signIn(AccessToken("a0", refreshToken: "r0"))
    var refreshed = AccessToken("a1", refreshToken: "r1")
    refreshed.sessionID = try await store.load()?.sessionID
    try await store.save(refreshed)
    try await session.signOut { note($0) }
    #expect(revoked.withLock { $0 } == ["r1"])
    #expect(store.value == nil)
  }

  @Test func `a token of a user whom another process has signed in is revoked where no user was signed in`()
    async throws
  {
    let store = HeldTokenStore()
    let session = TokenSession(source: .refreshToken(TokenEndpoint("token", clientID: "shop")), store: store)
    #expect(try await session.isSignedIn() == false)
    try await store.save(AccessToken("b0", refreshToken: "rb"))
    try await session.signOut { note($0) }
    #expect(revoked.withLock { $0 } == ["rb"])
    #expect(store.value == nil)
    try await session.signOut { note($0) }
    #expect(revoked.withLock { $0 } == ["rb"])
  }

  @Test func `a token is revoked although its account has signed in again in another process`() async throws {
    let store = HeldTokenStore()
    let source: any TokenSource = .refreshToken(TokenEndpoint("token", clientID: "shop"))
    let session = TokenSession(source: source, store: store)
    try await session.signIn(AccessToken("a0", refreshToken: "r0"), as: "anna")
    let other = HeldTokenStore()
    try await TokenSession(source: source, store: other).signIn(AccessToken("a1", refreshToken: "r1"), as: "anna")
    try await store.save(other.load())
    try await session.signOut { note($0) }
    #expect(revoked.withLock { $0 } == ["r0"])
  }

  @Test func `a token that could not be stored is revoked, and not the one that is stored`() async throws {
    let (isFull, signOuts) = (Box(false), TestGate())
    let store = HeldTokenStore(onSave: { token in
      if isFull.value, token != nil { throw CocoaError(.fileWriteOutOfSpace) }
      if token == nil { signOuts.arrive() }
    })
    let session = TokenSession(
      source: .refreshToken(TokenEndpoint("token", clientID: "shop")), store: store, clock: clock.requestClock)
    try await session.signIn(AccessToken("a0", refreshToken: "r0"), as: "anna")
    isFull.value = true
    await #expect(throws: CocoaError.self) {
      try await session.signIn(AccessToken("a1", refreshToken: "r1"), as: "anna")
    }
    try await session.signOut { note($0) }
    #expect(revoked.withLock { $0 } == ["r1"])
    #expect(signOuts.arrivalCount == 1)
  }

  @Test func `a user who signs in while the store is read for a sign-out stays, and so does the token`() async throws {
    let gate = TestGate()
    let store = HeldTokenStore(AccessToken("a", refreshToken: "kept"), onLoad: { await gate.pass() })
    let session = TokenSession(source: .refreshToken(TokenEndpoint("token", clientID: "shop")), store: store)
    let events = session.events
    let out = Task { try await session.signOut { note($0) } }
    await gate.waitForArrivals(1)
    let signIn = Task { try await session.signIn(AccessToken("b", refreshToken: "newer")) }
    #expect(await events.names(through: "signedIn") == ["signedIn"])
    gate.open()
    try await out.value
    try await signIn.value
    #expect(try await session.isSignedIn())
    #expect(revoked.withLock { $0 }.isEmpty)
    #expect(store.value == "b")
  }

  /// Begins a sign-out while a refresh is under way.
  ///
  /// - Parameters:
  ///   - reply: The token response of the refresh.
  ///   - delay: The time that it takes.
  /// - Returns: The session, and the task of its sign-out, which waits for the refresh.
  /// - Throws: The error of the sign-in.
  private func signingOut(
    _ reply: String, after delay: Duration
  ) async throws -> (session: TokenSession, out: Task<Void, any Error>) {
    let (session, client) = try await signedIn()
    mock.on(.get, "a").respond(401, headers: ["WWW-Authenticate": "Bearer"])
    mock.on(.post, "token").respond(200, jsonText: reply).delayed(by: delay)
    let call = Task { try await client.send(.get("a")) }
    _ = await mock.waitForRequests(2)
    let out = Task { try await session.signOut { note($0) } }
    _ = await #expect(throws: NetworkError.self) { try await call.value }
    return (session, out)
  }

  @Test(arguments: [false, true])
  func `the token of a refresh under way is revoked, also by a sign-out that is cancelled`(isCancelled: Bool)
    async throws
  {
    let session = try await clock.run {
      let (session, out) = try await signingOut(#"{"access_token":"a1","refresh_token":"r1"}"#, after: .seconds(5))
      if isCancelled { out.cancel() }
      try await out.value
      return session
    }
    #expect(clock.now == .seconds(5))
    #expect(revoked.withLock { $0 } == ["r1"])
    #expect(try await session.isSignedIn() == false)
  }

  @Test func `the wait for a refresh that does not end is limited by the policy`() async throws {
    try await clock.run {
      let (_, out) = try await signingOut(#"{"access_token":"a1"}"#, after: .seconds(600))
      try await out.value
    }
    #expect(clock.now == .seconds(30))
    #expect(revoked.withLock { $0 } == ["r0"])
  }

  @Test(arguments: [false, true])
  func `a refresh of the next user does not wait for the one that the sign-out ended`(isInAnotherSession: Bool)
    async throws
  {
    let gate = TestGate()
    let source = ClosureTokenSource(refresh: { token, _ in
      if token.refreshToken == "r0" { await gate.pass() }
      return AccessToken("new", refreshToken: "new \(token.refreshToken ?? "")")
    })
    let folder = FileManager.default.temporaryDirectory.appending(path: "revocation-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    func session() -> TokenSession {
      let store = FileTokenStore(url: folder.appending(path: "token.json"))
      return TokenSession(source: source, store: store, clock: clock.requestClock)
    }
    let last = session()
    let next = isInAnotherSession ? session() : last
    let clients = [last, next].map {
      NetworkClient(baseURL: mock.baseURL, behaviors: [.tokenAuth($0)], transport: mock)
    }
    mock.on(.get, "a").respond(200)
    try await last.signIn(AccessToken("a0", expiresAt: .distantPast, refreshToken: "r0"))
    let first = Task { try await clients[0].send(.get("a")) }
    await gate.waitForArrivals(1)
    let events = last.events
    let leaving = Task { try await last.signOut { note($0) } }
    // It is told when the sign-out is stored.
    _ = await events.first { if case .signedOut = $0 { true } else { false } }
    await #expect(throws: NetworkError.self) { try await first.value }
    try await next.signIn(AccessToken("b0", expiresAt: .distantPast, refreshToken: "s0"))
    try await clients[1].send(.get("a"))
    let stored = try await FileTokenStore(url: folder.appending(path: "token.json")).load()
    #expect(stored?.refreshToken == "new s0")
    gate.open()
    try await leaving.value
    #expect(revoked.withLock { $0 } == ["new r0"])
  }

  @Test func `a source that signs its user out does not wait for itself`() async throws {
    let signOut = Locked<(@Sendable () async throws -> Void)?>(nil)
    let (ends, end) = AsyncStream.makeStream(of: Duration.self)
    let session = TokenSession(
      source: .refreshing { [clock] _, _ in
        try await signOut.withLock { $0 }?()
        end.yield(clock.now)
        throw NetworkError.notSignedIn()
      }, clock: clock.requestClock)
    signOut.withLock { $0 = { try await session.signOut { note($0) } } }
    defer { signOut.withLock { $0 = nil } }
    try await session.signIn(AccessToken("a0", expiresAt: .distantPast, refreshToken: "r0"))
    let client = NetworkClient(mock, [.tokenAuth(session)])
    try await clock.run {
      let error = await #expect(throws: NetworkError.self) { try await client.send(.get("a")) }
      #expect(error?.code == .signedOut)
      #expect(await ends.first { _ in true } == .zero)
    }
    #expect(revoked.withLock { $0 } == ["r0"])
  }
}
