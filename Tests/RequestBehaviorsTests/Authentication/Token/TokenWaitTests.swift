import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// The calls that wait for a token, the length of the wait, and the attempts.
@Suite(.limited) struct TokenWaitTests {
  private let fixture = TokenFixture()
  private var server: TokenServer { fixture.server }
  private let gate = TestGate()

  @Test func `a waiter that did not begin the fetch is cancelled alone`() async throws {
    server.tokenGate.value = gate
    let clock = ObservedClock()
    let client = fixture.client(TokenSession(source: .clientCredentials(.test), clock: clock.requestClock))
    let first = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    // The session looks at its clock when a call comes, and again, under its lock, when the call is to wait.
    let second = await clock.waitForLooks(2) { Task { try await client.send(.get("b")) } }
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    gate.open()
    try await first.value
    #expect(server.tokenRequests.count == 1)
    #expect(server.apiRequests.count == 1)
  }

  @Test func `a behavior may ask the session for its account when it is asked for its place`() async throws {
    struct AskingBehavior: RequestBehavior {
      let authentication: TokenAuthBehavior
      var order: BehaviorOrder { authentication.account == nil ? .request : .retry }
    }
    let session = fixture.session(.clientCredentials(.test))
    let client = fixture.client(session, AskingBehavior(authentication: .tokenAuth(session)))
    try await client.send(.get("a"))
    #expect(server.apiRequests.count == 1)
  }

  @Test func `a call that was cancelled before the fetch does not request a token`() async throws {
    let (store, asked) = (InMemoryTokenStore(), Box<[String]>([]))
    func client(_ name: String) -> NetworkClient {
      let source: ClosureTokenSource = .closure { _ in
        asked.update { $0.append(name) }
        return AccessToken(name)
      }
      return fixture.client(fixture.session(source, store))
    }
    let (cancelled, later) = (client("cancelled"), client("later"))
    fixture.answer(200)
    let gate = gate
    let task = Task {
      await gate.pass()
      try await cancelled.send(.get("a"))
    }
    await gate.waitForArrivals(1)
    task.cancel()
    gate.open()
    await #expect(throws: CancellationError.self) { try await task.value }
    // Sessions over one store get one token: what the cancelled call had begun to ask for, this one would wait for.
    try await later.send(.get("b"))
    #expect(asked.value == ["later"])
  }

  @Test func `a cancelled optional request is not sent without token`() async throws {
    server.tokenGate.value = gate
    let client = fixture.client(fixture.session(.clientCredentials(.test)))
    let task = Task { try await client.send(.get("a").with(\.authentication, .optional)) }
    await gate.waitForArrivals(1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    gate.open()
    #expect(server.apiRequests.isEmpty)
  }

  @Test func `an optional request whose deadline passed while it waited is not sent`() async throws {
    server.tokenGate.value = gate
    let clock = fixture.clock
    let deadline = ClosureBehavior("deadline", order: .deadline, beforeSend: { $0.call.deadline = .seconds(5) })
    let session = fixture.session(.clientCredentials(.test))
    var configuration = RequestConfiguration(baseURL: baseURL, behaviors: [.tokenAuth(session), deadline])
    configuration.clock = clock.requestClock
    let client = NetworkClient(configuration: configuration, transport: server.transport)
    let task = Task { try await client.send(.get("a").with(\.authentication, .optional)) }
    await gate.waitForArrivals(1)
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(5))
    #expect(try await fixture.error(task).code == .deadlineExceeded)
    gate.open()
    #expect(server.apiRequests.isEmpty)
  }

  /// A client of the fixture's clock whose calls have five seconds.
  private func hurriedClient(_ session: TokenSession, _ behaviors: any RequestBehavior...) -> NetworkClient {
    let deadline = ClosureBehavior("deadline", order: .deadline, beforeSend: { $0.call.deadline = .seconds(5) })
    var configuration = RequestConfiguration(
      baseURL: baseURL, behaviors: [.tokenAuth(session), deadline] + behaviors)
    configuration.clock = fixture.clock.requestClock
    return NetworkClient(configuration: configuration, transport: server.transport)
  }

  @Test func `a call with a deadline continues as soon as its token arrives`() async throws {
    try await hurriedClient(fixture.session(.clientCredentials(.test))).send(.get("a"))
    #expect(fixture.clock.now == .zero)
    #expect(server.apiRequests.count == 1)
  }

  @Test func `a refused optional request whose deadline passes while it waits fails by the deadline`() async throws {
    let session = try await fixture.alice()
    server.tokenGate.value = gate
    let client = hurriedClient(session)
    let task = Task { try await client.send(.get("a").with(\.authentication, .optional)) }
    await gate.waitForArrivals(1)
    await fixture.clock.waitForSleepers(2)
    fixture.clock.advance(by: .seconds(5))
    #expect(try await fixture.error(task).code == .deadlineExceeded)
    gate.open()
  }

  @Test func `a refused one-shot upload whose deadline passes while it waits fails by the deadline`() async throws {
    let session = try await fixture.alice()
    server.tokenGate.value = gate
    let taking = ClosureBehavior(
      "take", order: .last,
      beforeSend: {
        if case .oneShot(let stream)? = $0.body?.content { _ = try? await stream.take().collect(upTo: 1) }
      })
    let client = hurriedClient(session, taking)
    let task = Task {
      try await client.send(
        Request<Void>.post("a", body: .body(.oneShot(ByteStream(chunks: [Data("x".utf8)])))))
    }
    await gate.waitForArrivals(1)
    await fixture.clock.waitForSleepers(2)
    fixture.clock.advance(by: .seconds(5))
    #expect(try await fixture.error(task).code == .deadlineExceeded)
    gate.open()
  }

  @Test func `no timer remains after a token has arrived`() async throws {
    server.tokenGate.value = gate
    let client = fixture.client(fixture.session(.clientCredentials(.test)))
    let task = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    await fixture.clock.waitForSleepers(1)
    gate.open()
    try await task.value
    #expect(fixture.clock.sleeperCount == 0)
  }

  @Test func `a sign-out cancels the source`() async throws {
    let (gate, ended, wasCancelled) = (gate, TestGate(), Box(false))
    ended.open()
    let session = fixture.session(
      .closure { _ in
        await gate.pass()
        wasCancelled.value = Task.isCancelled
        await ended.pass()
        return AccessToken("x")
      })
    let client = fixture.client(session)
    let task = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    try await session.signOut()
    gate.open()
    #expect(try await fixture.error(task).code == .signedOut)
    await ended.waitForArrivals(1)
    #expect(wasCancelled.value)
  }

  @Test func `a source is not called after a sign-out while the store was read`() async throws {
    let (asked, released) = (Box(0), TestGate())
    func signOutWhileTheStoreIsRead() async throws {
      let isHeld = Box(false)
      let store = HeldTokenStore(onLoad: { [gate] in if isHeld.value { await gate.pass() } })
      let session = fixture.session(ReleasedSource(asked, released), store)
      // A call waits for the first reading before it asks for a token; the refresh reads the store once more.
      #expect(try await session.isSignedIn() == false)
      isHeld.value = true
      let client = fixture.client(session)
      let task = Task { try await client.send(.get("a")) }
      try await fixture.signOut(session, during: task, heldAt: gate)
    }
    try await signOutWhileTheStoreIsRead()
    // The session is released, so only the refresh keeps the source, and only until it has ended.
    await released.waitForArrivals(1)
    #expect(asked.value == 0)
  }

  /// Counts the requests for a token, and reports its own release.
  private final class ReleasedSource: TokenSource {
    private let asked: Box<Int>
    private let released: TestGate

    init(_ asked: Box<Int>, _ released: TestGate) { (self.asked, self.released) = (asked, released) }

    deinit { released.arrive() }

    func fetch(using client: NetworkClient) async throws -> AccessToken {
      asked.update { $0 += 1 }
      return AccessToken("x")
    }
  }

  @Test func `a second attempt uses the token that has not expired when its refresh has failed`() async throws {
    let client = fixture.client(fixture.session(.clientCredentials(.test)), SecondAttempt())
    try await client.send(.get("a"))
    fixture.clock.advance(by: .seconds(3_550))
    server.refuseToken(503)
    fixture.answer(503, 200)
    try await client.send(.get("b"))
    #expect(server.tokenRequests.count == 2)
    #expect(fixture.sentTokens.last == "Bearer t1")
  }

  @Test func `an expired or rejected token is sent if no newer one may be requested`() async throws {
    let never = TokenRefreshPolicy(limit: 0)
    fixture.answer(200)
    let expired = fixture.session(.refreshToken(.test), policy: never)
    try await expired.signIn(AccessToken("t0", expiresAt: fixture.clock.date - 5))
    try await fixture.client(expired).send(.get("a"))
    let rejected = fixture.session(.refreshToken(.test), policy: never)
    try await rejected.signIn(AccessToken("t1"))
    let check = TokenValidation { _ in false }
    try await NetworkClient(server.transport, [.tokenAuth(rejected, validation: check)]).send(.get("a"))
    #expect(fixture.sentTokens == ["Bearer t0", "Bearer t1"])
  }

  @Test func `at most five tokens are fetched within 30 seconds, even if each fetch succeeds`() async throws {
    let session = fixture.session(.clientCredentials(.test))
    fixture.answer(200)
    let client = NetworkClient(server.transport, [.tokenAuth(session, validation: TokenValidation { _ in false })])
    for _ in 0..<8 { try await client.send(.get("a")) }
    #expect(server.tokenRequests.count == 5)
  }

  @Test func `a custom check also examines a stored token`() async throws {
    let session = try await fixture.alice()
    let check = TokenValidation { $0.value != "alice" }
    try await NetworkClient(server.transport, [.tokenAuth(session, validation: check)]).send(.get("a"))
    #expect(fixture.sentTokens == ["Bearer t1"])
  }

  @Test
  func `an expired stored token is refreshed first, and a clock that was set back does not extend a token`()
    async throws
  {
    let expired = InMemoryTokenStore(AccessToken("t0", expiresAt: fixture.clock.date - 5, refreshToken: "r0"))
    try await fixture.client(fixture.session(.refreshToken(.test), expired)).send(.get("a"))
    #expect(fixture.sentTokens == ["Bearer t1"])

    let ahead = InMemoryTokenStore(
      AccessToken("t9", expiresAt: fixture.clock.date + 90_000, lifetime: .seconds(3_600), refreshToken: "r0"))
    server.state.update { $0.valid = "t9" }
    let client = fixture.client(fixture.session(.refreshToken(.test), ahead))
    try await client.send(.get("a"))
    fixture.clock.advance(by: .seconds(3_600))
    try await client.send(.get("a"))
    #expect(server.tokenRequests.count == 2)
    #expect(fixture.sentTokens.suffix(2) == ["Bearer t9", "Bearer t2"])
  }

  @Test func `token and client secret are marked as secrets of their origins`() async throws {
    try await fixture.client(fixture.session(.clientCredentials(.test))).send(.get("a"))
    for request in [server.apiRequests.first, server.tokenRequests.first] {
      #expect(request?.headers.field(named: "Authorization")?.sensitivity == .baseURL)
    }
  }

  @Test func `two sources that need each other get an error`() async throws {
    let (outer, inner) = (Box<NetworkClient?>(nil), Box<NetworkClient?>(nil))
    let a = fixture.session(.closure { _ in try await #require(inner.value).send(.get("t")) })
    let b = fixture.session(.closure { _ in try await #require(outer.value).send(.get("t")) })
    outer.value = fixture.client(a)
    inner.value = fixture.client(b)
    let task = Task { try await #require(outer.value).send(.get("a")) as Void }
    #expect(try await fixture.error(task).code == .invalidBehavior)
    (outer.value, inner.value) = (nil, nil)
  }

  @Test(arguments: [500, 1_500])
  func `a request that a source sends with the client itself is not shared with others`(delay: Int) async throws {
    let (client, clock) = clientOfSource
    try await clock.run {
      async let first: Void = client.send(.get("a"))
      // Before or after the source sends the same request, which is after a second.
      try await clock.requestClock.sleep(for: .milliseconds(delay))
      try await client.send(.get("b"))
      try await first
    }
    // The source's own request fails after two seconds.
    #expect(clock.now == max(.seconds(2), .milliseconds(delay + 1_000)))
  }

  /// A client that shares requests for "b", which take a second to the token; the source of the token sends one, too.
  private var clientOfSource: (client: NetworkClient, clock: ManualClock) {
    let own = Box<NetworkClient?>(nil)
    let session = fixture.session(
      .closure { _ in
        try? await own.value?.send(.get("b"))
        own.value = nil
        return AccessToken("t")
      })
    let delay = ClosureBehavior("Delay") { request, next in
      try await request.call.clock.sleep(for: .seconds(1))
      return try await next(request)
    }
    let client = NetworkClient(
      ClosureTransport(), fixture.clock.requestClock, [.coalescing(), delay, .tokenAuth(session)])
    own.value = client
    return (client, fixture.clock)
  }

  @Test func `a task that outlives a source may request a token later`() async throws {
    let later = Box<Task<Void, any Error>?>(nil)
    let own = Box<NetworkClient?>(nil)
    let gate = gate
    fixture.answer(200)
    let session = fixture.session(
      .closure { _ in
        if later.value == nil {
          later.value = Task {
            await gate.pass()
            try await #require(own.value).send(.get("poll"))
          }
        }
        return AccessToken("t", lifetime: .seconds(100))
      })
    let client = fixture.client(session)
    own.value = client
    try await client.send(.get("a"))
    fixture.clock.advance(by: .seconds(200))
    gate.open()
    try await later.value?.value
    #expect(fixture.sentTokens.count == 2)
    own.value = nil
  }
}
