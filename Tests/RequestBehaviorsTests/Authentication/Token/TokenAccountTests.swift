import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// The identity of an owner: the same one when an account is named.
@Suite(.limited) struct TokenAccountTests {
  private let fixture = TokenFixture()
  private let request = NetworkRequest(url: baseURL, call: Call(baseOrigin: Origin(baseURL)))

  private func scope(_ session: TokenSession) async throws -> String {
    try #require(await TokenAuthBehavior(session).scope(for: request))
  }

  @Test func `an account that signs in again is the same owner`() async throws {
    let session = fixture.session()
    try await session.signIn(AccessToken("a1"), as: "anna")
    let anna = try await scope(session)
    try await session.signOut()
    #expect(try await scope(session) != anna)
    try await session.signIn(AccessToken("b1"), as: "bert")
    #expect(try await scope(session) != anna)
    try await session.signIn(AccessToken("a2"), as: "anna")
    #expect(try await scope(session) == anna)
    #expect(!anna.contains("anna"))
  }

  @Test func `an empty name is refused, and the session is as it was`() async throws {
    let store = InMemoryTokenStore()
    let session = fixture.session(.refreshToken(.test), store)
    let error = await #expect(throws: NetworkError.self) { try await session.signIn(AccessToken("a1"), as: "") }
    #expect(error?.code == .invalidRequest)
    #expect(error?.message.contains("the name of the account is empty") == true)
    #expect(try await session.isSignedIn() == false)
    #expect(try await store.load() == nil)
  }

  @Test func `an account is the same owner after a refresh, a start, and in another process`() async throws {
    let store = InMemoryTokenStore()
    let session = fixture.session(.refreshToken(.test), store)
    try await session.signIn(AccessToken("a1", refreshToken: "r0"), as: "anna")
    let anna = try await scope(session)
    try await fixture.client(session).send(.get("a"))
    #expect(try await scope(session) == anna)
    let stored = try JSONDecoder().decode(AccessToken.self, from: JSONEncoder().encode(try await store.load()))
    #expect(stored.value == "t1")
    #expect(try await scope(fixture.session(.refreshToken(.test), InMemoryTokenStore(stored))) == anna)
    let elsewhere = fixture.session()
    try await elsewhere.signIn(AccessToken("a7"), as: "anna")
    #expect(try await scope(elsewhere) == anna)
  }

  @Test func `accounts of one name in two sessions are two owners, and so is each sign-in without a name`() async throws
  {
    let (user, admin) = (
      TokenSession(source: .refreshToken(.test)), TokenSession(name: "a", source: .refreshToken(.test))
    )
    try await user.signIn(AccessToken("t"), as: "anna")
    try await admin.signIn(AccessToken("t"), as: "nna")
    let named = try await scope(user)
    let other = await TokenAuthBehavior(admin).scope(for: request)
    #expect(named != other)
    try await user.signIn(AccessToken("t"))
    let first = try await scope(user)
    try await user.signIn(AccessToken("t"))
    #expect(Set([named, first, try await scope(user)]).count == 3)
  }

  @Test func `a call that began before an account signed out and in again still fails`() async throws {
    fixture.answer(200)
    let gate = TestGate()
    let session = fixture.session()
    try await session.signIn(AccessToken("a1"), as: "anna")
    let hold = ClosureBehavior(
      "hold", order: .rateLimit,
      intercept: { request, next in
        await gate.pass()
        return try await next(request)
      })
    let client = fixture.client(session, hold)
    let task = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    try await session.signOut()
    try await session.signIn(AccessToken("a2"), as: "anna")
    gate.open()
    #expect(try await fixture.error(task).code == .signedOut)
    try await client.send(.get("b"))
    #expect(fixture.sentTokens == ["Bearer a2"])
  }
}
