import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// The owner of a response, from the first call after a launch to the sign-out.
@Suite(.limited) struct TokenScopeTests {
  private let fixture = TokenFixture()

  @Test func `the first call after a launch has the scope that the last one before it had`() async throws {
    fixture.answer(200)
    let store = HeldTokenStore()
    let coordinator = ScopeKeeper()
    try await fixture.client(try await fixture.alice(store), coordinator).send(.get("a"))
    let copy = HeldTokenStore(try await store.load())
    try await fixture.client(fixture.session(.refreshToken(.test), copy), coordinator).send(.get("a"))
    try #require(coordinator.scopes.value.count == 2)
    #expect(coordinator.scopes.value[0] == coordinator.scopes.value[1])
    #expect(coordinator.kept.value == [true, true])
  }

  @Test func `a call that waits for the store in order to know its user can be cancelled`() async throws {
    let loading = TestGate()
    let store = HeldTokenStore(nil, onLoad: { await loading.pass() })
    let call = Task { try await fixture.client(fixture.session(.refreshToken(.test), store)).send(.get("a")) }
    await loading.waitForArrivals(1)
    call.cancel()
    await #expect(throws: CancellationError.self) { try await call.value }
    loading.open()
  }

  @Test func `signing out tells every behavior of the clients that the scope has ended`() async throws {
    fixture.answer(200)
    let session = try await fixture.alice()
    let (coordinator, other) = (ScopeKeeper(), ScopeKeeper())
    let client = fixture.client(session, coordinator)
    let variant = client.with { $0.behaviors.append(EmptyBehavior()) }
    try await client.send(.get("a"))
    try await fixture.client(fixture.session(), other).send(.get("b").with(\.authentication, .none))
    let scope = try #require(coordinator.scopes.value.first?.first)
    try await session.signOut()
    #expect(coordinator.ended.value == [scope, scope])
    #expect(other.ended.value == [])
    withExtendedLifetime(variant) {}
  }

  @Test func `a client forgets the user at the sign-out, though only the login was sent over it`() async throws {
    let (transport, session) = (CookieTransport(), fixture.session())
    let client = NetworkClient(transport, [.tokenAuth(session)])
    try await client.send(.post("login").with(\.authentication, .none))
    try await session.signIn(AccessToken("alice"))
    #expect(transport.hasCookies)
    try await session.signOut()
    #expect(!transport.hasCookies)
  }

  @Test func `a sign-in as another user ends the scope of the one before, a refresh does not`() async throws {
    let session = try await fixture.alice()
    let coordinator = ScopeKeeper()
    let client = fixture.client(session, coordinator)
    try await client.send(.get("a"))
    #expect(fixture.server.tokenRequests.count == 1)
    #expect(coordinator.ended.value == [])
    try await session.signIn(AccessToken("bob", lifetime: .seconds(60)))
    #expect(coordinator.ended.value == coordinator.scopes.value[0])
    withExtendedLifetime(client) {}
  }

  @Test func `a call that is sent for a user who signed in after it began keeps no scope`() async throws {
    fixture.answer(200)
    let session = fixture.session()
    let coordinator = ScopeKeeper()
    let isFirst = Box(true)
    let arrival = ClosureBehavior(
      "arrival", order: .request,
      beforeSend: { _ in
        if isFirst.value { try? await session.signIn(AccessToken("app")) }
        isFirst.value = false
      })
    let client = fixture.client(session, coordinator, arrival)
    try await client.send(.get("a"))
    try await client.send(.get("a"))
    #expect(coordinator.kept.value == [false, true])
    #expect(coordinator.scopes.value[0] != coordinator.scopes.value[1])
  }

  @Test func `a token request that is refused before the send does not count as a refresh`() async throws {
    let session = try await fixture.alice()
    let isOpen = Box(false)
    let breaker = ClosureBehavior("breaker", order: .circuitBreaker) { request, next in
      if !isOpen.value { throw NetworkError(.circuitOpen, "open") }
      return try await next(request)
    }
    fixture.clock.advance(by: .seconds(4_000))
    let client = fixture.client(session, breaker)
    for _ in 0..<10 { try? await client.send(.get("a")) }
    #expect(fixture.server.tokenRequests.isEmpty)
    isOpen.value = true
    try await client.send(.get("a"))
    #expect(fixture.server.tokenRequests.count == 1)
  }
}
