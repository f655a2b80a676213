import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsTesting
import TestSupport
import Testing

/// The owner of a session that no user signs in to: the account of its source.
@Suite(.limited) struct ServiceAccountTests {
  private let fixture = TokenFixture()
  private let request = NetworkRequest(url: baseURL, call: Call(baseOrigin: Origin(baseURL)))

  private func scope(_ session: TokenSession) async throws -> String {
    try #require(await TokenAuthBehavior(session).scope(for: request))
  }

  private func service(_ id: String = "app", secret: String = "s") -> any TokenSource {
    .clientCredentials(TokenEndpoint("token", clientID: id, clientSecret: secret))
  }

  @Test func `a service is one owner before its first token, after it, after a sign-out and at the next launch`()
    async throws
  {
    let session = fixture.session(service())
    let owner = try await scope(session)
    #expect(TokenAuthBehavior(session).account == owner)
    try await fixture.client(session).send(.get("a"))
    #expect(fixture.server.apiRequests.count == 1)
    #expect(try await scope(session) == owner)
    try await session.signOut()
    #expect(try await scope(session) == owner)
    #expect(TokenAuthBehavior(session).account == owner)
    #expect(try await scope(fixture.session(service(secret: "another"))) == owner)
    #expect(!owner.contains("app"))
  }

  @Test func `another client, session or user is another owner`() async throws {
    let owner = try await scope(fixture.session(service()))
    #expect(try await scope(fixture.session(service("bpp"))) != owner)
    let elsewhere = TokenEndpoint("other", clientID: "app", clientSecret: "s")
    #expect(try await scope(fixture.session(.clientCredentials(elsewhere))) != owner)
    #expect(await TokenAuthBehavior(TokenSession(name: "b", source: service())).scope(for: request) != owner)
    let user = fixture.session(service())
    try await user.signIn(AccessToken("t"), as: "app at token")
    #expect(try await scope(user) != owner)
    #expect(try await scope(fixture.session(.closure(account: "app at token") { _ in AccessToken("t") })) == owner)
  }

  @Test func `sessions of a service that ask for other rights share no response of a cache`() async throws {
    fixture.server.state.update { state in
      state.answer = { NetworkResponse(request: $0, statusCode: 200, headers: ["Cache-Control": "max-age=60"]) }
    }
    let store = MemoryCacheStore()
    let endpoint = TokenEndpoint("token", clientID: "app", clientSecret: "s")
    for scopes in [["read"], ["read", "admin"], [], ["read"]] {
      let session = fixture.session(.clientCredentials(endpoint, scopes: scopes))
      try await fixture.client(session, .caching(store)).send(.get("a"))
    }
    #expect(fixture.server.apiRequests.count == 3)
  }

  @Test func `a service whose token another process has removed after a refusal keeps its cached responses`()
    async throws
  {
    fixture.server.state.update { state in
      state.answer = { NetworkResponse(request: $0, statusCode: 200, headers: ["Cache-Control": "max-age=60"]) }
    }
    let tokens = HeldTokenStore()
    let session = fixture.session(service(), tokens)
    let client = fixture.client(session, .caching(MemoryCacheStore()))
    try await client.send(.get("a"))
    try await tokens.save(nil)
    #expect(await TokenAuthBehavior(session).readAccount(on: fixture.clock.requestClock))
    try await client.send(.get("a"))
    #expect(fixture.server.apiRequests.count == 1)
  }

  @Test func `a user of a service's session whom another process has signed out is another owner afterwards`()
    async throws
  {
    fixture.server.state.update { state in
      state.answer = { NetworkResponse(request: $0, statusCode: 200, headers: ["Cache-Control": "max-age=60"]) }
    }
    let (tokens, cache) = (HeldTokenStore(), MemoryCacheStore())
    let session = fixture.session(service(), tokens)
    try await session.signIn(AccessToken("t"), as: "anna")
    let owner = try await scope(session)
    let client = fixture.client(session, .caching(cache))
    try await client.send(.get("a"))
    try await tokens.save(nil)
    #expect(await TokenAuthBehavior(session).readAccount(on: fixture.clock.requestClock))
    #expect(try await scope(session) != owner)
    // A sign-out waits until the caches have heard of the one before it.
    try await session.signOut()
    #expect(cache.count == 0)
  }

  /// Begins a call that waits for the first token of a service.
  private func callOfService(_ store: any TokenStore, _ gate: TestGate) async throws -> (
    session: TokenSession, call: Task<Void, any Error>
  ) {
    fixture.server.tokenGate.value = gate
    let session = fixture.session(service(), store)
    let client = fixture.client(session)
    let call = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    return (session, call)
  }

  @Test func `a call of a service that waits for a first token is not sent as a user who signs in meanwhile`()
    async throws
  {
    let gate = TestGate()
    let (session, call) = try await callOfService(InMemoryTokenStore(), gate)
    try await session.signIn(AccessToken("anna"), as: "anna")
    gate.open()
    #expect(try await fixture.error(call).code == .signedOut)
    #expect(fixture.server.apiRequests.isEmpty)
  }

  @Test func `a call of a service that waits for a first token is not sent as a user of another process`()
    async throws
  {
    let (gate, tokens) = (TestGate(), HeldTokenStore())
    let (_, call) = try await callOfService(tokens, gate)
    let anna = HeldTokenStore()
    try await fixture.session(service(), anna).signIn(AccessToken("anna"), as: "anna")
    try await tokens.save(anna.load())
    gate.open()
    #expect(try await fixture.error(call).code == .signedOut)
    #expect(fixture.server.apiRequests.isEmpty)
    #expect(tokens.value == "anna")
  }

  @Test func `a call of a service that waits further out is not sent as a user who signs in meanwhile`() async throws {
    let (gate, session) = (TestGate(), fixture.session(service()))
    // The store has been read, and there is no token.
    _ = try await scope(session)
    let hold = ClosureBehavior(
      "hold", order: .gate,
      intercept: { request, next in
        await gate.pass()
        return try await next(request)
      })
    let client = fixture.client(session, hold)
    let call = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    try await session.signIn(AccessToken("anna"), as: "anna")
    gate.open()
    #expect(try await fixture.error(call).code == .signedOut)
    #expect(fixture.server.apiRequests.isEmpty)
  }

  @Test(arguments: [true, false])
  func `calls of a service continue with a first token of another process`(hasID: Bool) async throws {
    let (gate, tokens) = (TestGate(), HeldTokenStore())
    let (session, call) = try await callOfService(tokens, gate)
    let events = session.events
    var found = AccessToken("t9")
    if hasID { found.sessionID = try await scope(session) }
    try await tokens.save(found)
    fixture.server.state.update { state in state.answer = { NetworkResponse(request: $0, statusCode: 200) } }
    gate.open()
    try await call.value
    #expect(fixture.sentTokens == ["Bearer t9"])
    #expect(await events.namesSoFar() == ["refreshed"])
  }

  @Test func `a source of closures has an account if it is given one`() async throws {
    let first = fixture.session(.closure(account: "robot") { _ in AccessToken("t") })
    let second = fixture.session(.closure(account: "robot") { _ in AccessToken("t") })
    #expect(try await scope(first) == scope(second))
    let nameless = fixture.session(.closure { _ in AccessToken("t") })
    // Before the store was read a user may be signed in.
    _ = try await scope(nameless)
    #expect(TokenAuthBehavior(nameless).account == nil)
  }

  @Test func `a call of a service that has signed out during the call keeps no response`() async throws {
    fixture.answer(200)
    let session = fixture.session(service())
    let present = Box<[Bool]>([])
    let watch = ClosureBehavior(
      "watch", order: .persistence,
      intercept: { request, next in
        let response = try await next(request)
        try await session.signOut()
        present.update { $0.append(request.call.owner.isPresent) }
        return response
      })
    try await fixture.client(session, watch).send(.get("a"))
    #expect(present.value == [false])
  }

  @Test func `a response without the token of a service does not belong to the service`() async throws {
    fixture.answer(200)
    let session = fixture.session(.closure(account: "robot") { _ in throw NetworkError(.dnsFailed, "a test") })
    let keeper = ScopeKeeper()
    try await fixture.client(session, keeper).send(Request<Void>.get("a").with(\.authentication, .optional))
    #expect(fixture.sentTokens == [nil])
    #expect(keeper.kept.value == [false])
  }
}
