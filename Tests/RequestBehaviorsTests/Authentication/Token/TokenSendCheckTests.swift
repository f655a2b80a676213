import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// A call with a token whose user signs out before it is sent.
@Suite(.limited) struct TokenSendCheckTests {
  private let fixture = TokenFixture()
  private var server: TokenServer { fixture.server }

  @Test(arguments: [BehaviorOrder.rateLimit, .signing, .last])
  func `a call that has its token is not sent after a sign-out`(order: BehaviorOrder) async throws {
    fixture.answer(200)
    let session = try await fixture.alice()
    let out = ClosureBehavior("out", order: order, beforeSend: { _ in try? await session.signOut() })
    let client = fixture.client(session, out)
    for requirement in [AuthenticationRequirement.required, .optional] {
      try await session.signIn(AccessToken("alice"))
      let task = Task { try await client.send(.get("a").with(\.authentication, requirement)) }
      let error = try await fixture.error(task)
      #expect(error.code == .signedOut)
      #expect(error.attempts.isEmpty)
    }
    #expect(server.transport.sent.isEmpty)
  }

  @Test func `a call that has its token is not sent after another user has signed in`() async throws {
    fixture.answer(200)
    let session = try await fixture.alice()
    let change = ClosureBehavior(
      "change", order: .last, beforeSend: { _ in try? await session.signIn(AccessToken("bob")) })
    let client = fixture.client(session, change)
    let task = Task { try await client.send(.get("a")) }
    #expect(try await fixture.error(task).code == .signedOut)
    #expect(server.transport.sent.isEmpty)
  }

  @Test func `a replay with a newer token is not sent after a sign-out`() async throws {
    let session = try await fixture.alice()
    let out = ClosureBehavior(
      "out", order: .last,
      beforeSend: { if $0.headers["Authorization"] == "Bearer t1" { try? await session.signOut() } })
    let client = fixture.client(session, out)
    let task = Task { try await client.send(.get("a")) }
    #expect(try await fixture.error(task).code == .signedOut)
    #expect(fixture.sentTokens == ["Bearer alice"])
  }

  @Test func `a request whose token a behavior has removed is sent after a sign-out`() async throws {
    fixture.answer(200)
    let session = try await fixture.alice()
    let strip = ClosureBehavior(
      "strip", order: .last, modify: { $0.headers.remove("Authorization") },
      beforeSend: { _ in try? await session.signOut() })
    try await fixture.client(session, strip).send(.get("a"))
    #expect(fixture.sentTokens == [nil])
  }

  @Test func `the tokens of two sessions are both checked`() async throws {
    fixture.answer(200)
    let (user, app) = (
      TokenSession(name: "user", source: .refreshToken(.test)), TokenSession(name: "app", source: .refreshToken(.test))
    )
    let leaving = Box(user)
    let out = ClosureBehavior("out", order: .last, beforeSend: { _ in try? await leaving.value.signOut() })
    let client = NetworkClient(
      server.transport, [.tokenAuth(user), .tokenAuth(app, header: .field("X-App-Token")), out])
    for session in [user, app] {
      try await user.signIn(AccessToken("u"))
      try await app.signIn(AccessToken("a"))
      leaving.value = session
      let task = Task { try await client.send(.get("a")) }
      #expect(try await fixture.error(task).code == .signedOut)
    }
    #expect(server.transport.sent.isEmpty)
  }

  @Test func `a token request is not sent after a sign-out`() async throws {
    let (tokens, ended): (any TokenSource, TestGate) = (.refreshToken(.test), TestGate())
    let session = fixture.session(
      ClosureTokenSource(refresh: { token, client in
        defer { ended.arrive() }
        return try await tokens.refresh(token, using: client)
      }))
    try await session.signIn(AccessToken("alice", lifetime: .seconds(3_600), refreshToken: "r0"))
    let out = ClosureBehavior(
      "out", order: .circuitBreaker,
      beforeSend: { if $0.url.lastPathComponent == "token" { try? await session.signOut() } })
    let client = fixture.client(session, out)
    let task = Task { try await client.send(.get("a")) }
    #expect(try await fixture.error(task).code == .signedOut)
    await ended.waitForArrivals(1)
    #expect(server.tokenRequests.isEmpty)
  }
}
