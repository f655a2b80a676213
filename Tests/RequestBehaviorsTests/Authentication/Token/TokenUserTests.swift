import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// A call of one user is never sent, answered or kept as another's.
@Suite(.limited) struct TokenUserTests {
  private let fixture = TokenFixture()
  private var server: TokenServer { fixture.server }
  private let gate = TestGate()

  private func scope(of session: TokenSession) async -> String? {
    await TokenAuthBehavior(session).scope(for: NetworkRequest(url: baseURL, call: Call(baseOrigin: Origin(baseURL))))
  }

  @Test func `a server cannot choose the scope of its user's answers`() async throws {
    @Sendable func token(_ value: String) throws -> AccessToken {
      try JSONDecoder().decode(
        AccessToken.self, from: Data(#"{"access_token":"\#(value)","token_session":"s"}"#.utf8))
    }
    let session = fixture.session()
    try await session.signIn(token("alice"))
    let alice = await scope(of: session)
    try await session.signOut()
    try await session.signIn(token("bob"))
    let bob = await scope(of: session)
    #expect(alice != nil)
    #expect(bob != alice)

    let fetching = fixture.session(.closure { _ in try token("carol") })
    fixture.answer(200)
    try await fixture.client(fetching).send(.get("a"))
    #expect(await scope(of: fetching) != "s")
  }

  @Test func `a call that began for one user is not sent as another`() async throws {
    fixture.answer(200)
    let session = try await fixture.alice()
    let change = ClosureBehavior(
      "change", order: .gate,
      beforeSend: { _ in
        try? await session.signOut()
        try? await session.signIn(AccessToken("bob"))
      })
    let client = fixture.client(session, change)
    let task = Task { try await client.send(.get("a")) }
    #expect(try await fixture.error(task).code == .signedOut)
    #expect(server.apiRequests.isEmpty)
  }

  @Test func `a call whose user has signed out fails, even if a token without a user is available`()
    async throws
  {
    let session = fixture.session(.clientCredentials(.test))
    let isLeaving = Box(false)
    let out = ClosureBehavior(
      "out", order: .gate, beforeSend: { _ in if isLeaving.value { try? await session.signOut() } })
    let client = fixture.client(session, out)
    try await client.send(.get("a"))
    isLeaving.value = true
    for request in [Request<Void>.get("b"), .get("b").with(\.authentication, .optional)] {
      try await session.signIn(AccessToken("t1"))
      let task = Task { try await client.send(request) }
      #expect(try await fixture.error(task).code == .signedOut)
    }
    #expect(fixture.sentTokens == ["Bearer t1"])
  }

  @Test func `a call whose user has signed out is not sent as a user who signs in while it waits`() async throws {
    let settled = TestGate()
    let session = fixture.session(
      .closure { [gate] _ in
        settled.arrive()
        await gate.pass()
        return AccessToken("nobody's")
      })
    try await session.signIn(AccessToken("alice"))
    fixture.answer(200)
    let change = ClosureBehavior("change", order: .gate, beforeSend: { _ in try? await session.signOut() })
    let client = fixture.client(session, change)
    let task = Task {
      defer { settled.arrive() }
      try await client.send(.get("a"))
    }
    // The call has failed, or it waits for a token.
    await settled.waitForArrivals(1)
    try await session.signIn(AccessToken("bob"))
    gate.open()
    #expect(try await fixture.error(task).code == .signedOut)
    #expect(server.apiRequests.isEmpty)
  }

  @Test func `a call that began before the store was read is not sent as a user who has signed in since`() async throws
  {
    fixture.answer(200)
    let session = fixture.session(.refreshToken(.test), HeldTokenStore(AccessToken("alice")))
    let change = ClosureBehavior(
      "change", order: .gate,
      beforeSend: { _ in
        try? await session.signOut()
        try? await session.signIn(AccessToken("bob"))
      })
    let client = fixture.client(session, change)
    let task = Task { try await client.send(.get("a")) }
    #expect(try await fixture.error(task).code == .signedOut)
    #expect(server.apiRequests.isEmpty)
  }

  @Test func `a call that began without a user may wait for a sign-in, also before the store is read`()
    async throws
  {
    fixture.answer(200)
    let session = fixture.session()
    let change = ClosureBehavior(
      "change", order: .gate,
      beforeSend: { _ in
        _ = try? await session.isSignedIn()
        try? await session.signIn(AccessToken("alice"))
      })
    try await fixture.client(session, change).send(.get("a"))
    #expect(fixture.sentTokens == ["Bearer alice"])
  }

  @Test func `a call that began elsewhere keeps its user when it is redirected to the session's origin`() async throws {
    let session = try await fixture.alice()
    let transport = ClosureTransport { request in
      guard request.url.host() == "other.example" else { return NetworkResponse(request: request, statusCode: 200) }
      try await session.signIn(AccessToken("bob"))
      return NetworkResponse(
        request: request, statusCode: 302, headers: ["Location": "https://api.example.com/v1/a"])
    }
    let client = NetworkClient(transport, [.tokenAuth(session)])
    let elsewhere = try #require(URL(string: "https://other.example/a"))
    let task = Task { try await client.send(.get(url: elsewhere)) }
    #expect(try await fixture.error(task).code == .signedOut)
    #expect(transport.sent.count == 1)
  }

  @Test func `a call of the stored user is not sent as a user who signs in while the store is read`() async throws {
    let store = HeldTokenStore(AccessToken("alice"), onLoad: { [gate] in await gate.pass() })
    fixture.answer(200)
    let session = fixture.session(.refreshToken(.test), store)
    let client = fixture.client(session)
    let events = session.events
    let task = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    let signIn = Task { try await session.signIn(AccessToken("bob")) }
    #expect(await events.names(through: "signedIn") == ["signedIn"])
    gate.open()
    try await signIn.value
    #expect(try await fixture.error(task).code == .signedOut)
    #expect(server.apiRequests.isEmpty)
  }

  @Test func `calls that wait for one user's token are not sent with the next user's`() async throws {
    let session = try await fixture.alice()
    server.tokenGate.value = gate
    let client = fixture.client(session)
    let task = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    try await session.signIn(AccessToken("bob"))
    #expect(try await fixture.error(task).code == .signedOut)
    gate.open()
    #expect(server.apiRequests.count == 1)
  }

  @Test func `a late 401 of a user who has signed out fails with signedOut`() async throws {
    let session = try await fixture.alice()
    server.refusalGate.value = gate
    let client = fixture.client(session)
    let task = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    try await session.signIn(AccessToken("bob"))
    gate.open()
    #expect(try await fixture.error(task).code == .signedOut)
    #expect(server.apiRequests.count == 1)
  }

  @Test func `a second attempt is not sent as another user`() async throws {
    let session = try await fixture.alice()
    fixture.answer(503, 200)
    let client = fixture.client(session, SecondAttempt { try? await session.signIn(AccessToken("bob")) })
    let task = Task { try await client.send(.get("a")) }
    #expect(try await fixture.error(task).code == .signedOut)
    #expect(server.apiRequests.count == 1)
  }

  @Test func `a call that waited for a sign-in belongs to that user`() async throws {
    let source = ClosureTokenSource(fetch: { [gate] _ in
      await gate.pass()
      throw NetworkError(.notSignedIn, "nobody")
    })
    let session = fixture.session(source)
    fixture.answer(503, 200)
    let client = fixture.client(session, SecondAttempt())
    let task = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    try await session.signIn(AccessToken("alice"))
    gate.open()
    try await task.value
    #expect(fixture.sentTokens == ["Bearer alice", "Bearer alice"])
  }

  @Test func `signing out before the store was read is an event, a refusal without a token is not`()
    async throws
  {
    let stored = fixture.session(.refreshToken(.test), HeldTokenStore(AccessToken("t")))
    let events = stored.events
    try await stored.signOut()
    #expect(await events.names(through: "signedOut") == ["signedOut"])

    let empty = fixture.session(.clientCredentials(.test))
    let others = empty.events
    server.refuseToken(401)
    await #expect(throws: NetworkError.self) { try await fixture.client(empty).send(.get("a")) }
    try await empty.signIn(AccessToken("t"))
    #expect(await others.names(through: "signedIn") == ["refreshFailed", "signedIn"])
  }

  @Test func `a session that the client does not have is an error, not a request without token`() async throws {
    let session = TokenSession(name: "user", source: .refreshToken(.test))
    let client = fixture.client(session)
    let error = await #expect(throws: NetworkError.self) {
      try await client.send(.get("a").with(\.authentication, .only("usr")))
    }
    #expect(error?.code == .invalidBehavior)
    #expect("\(error, default: "")".contains(#""usr""#))
    #expect("\(error, default: "")".contains(#""user""#))
    #expect(server.apiRequests.isEmpty)
  }
}
