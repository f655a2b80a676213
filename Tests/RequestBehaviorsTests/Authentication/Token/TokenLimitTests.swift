import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// The events that count as a token request.
@Suite(.limited) struct TokenLimitTests {
  private let fixture = TokenFixture()
  private var server: TokenServer { fixture.server }

  private func error(_ client: NetworkClient) async throws -> NetworkError {
    try await #require(throws: NetworkError.self) { try await client.send(.get("a")) }
  }

  @Test func `calls while no user is signed in do not use up the refreshes of the next user`() async throws {
    let session = fixture.session()
    let client = fixture.client(session)
    for _ in 0..<8 { #expect(try await error(client).code == .notSignedIn) }
    try await session.signIn(AccessToken("t0", refreshToken: "r0"))
    try await client.send(.get("a"))
    #expect(server.tokenRequests.count == 1)
  }

  @Test func `a sign-in resets the count of refreshes`() async throws {
    let session = try await fixture.alice()
    let client = fixture.client(session)
    for _ in 0..<5 {
      server.refuseToken(500)
      _ = try await error(client)
    }
    #expect(try await error(client).statusCode == 401)
    #expect(server.tokenRequests.count == 5)
    try await session.signIn(AccessToken("bob", refreshToken: "r0"))
    try await client.send(.get("a"))
    #expect(server.tokenRequests.count == 6)
  }

  @Test func `after a sign-out no user is signed in, however many tokens were asked for before`() async throws {
    let session = try await fixture.alice()
    let client = fixture.client(session)
    for _ in 0..<5 {
      server.refuseToken(500)
      _ = try await error(client)
    }
    try await session.signOut()
    #expect(try await error(client).code == .notSignedIn)
    #expect(server.tokenRequests.count == 5)
  }

  @Test(arguments: [BehaviorOrder.rateLimit, .circuitBreaker])
  func `a token request that a custom behavior refuses before the send does not count as a refresh`(
    order: BehaviorOrder
  ) async throws {
    struct Refusal: Error {}
    let isOpen = Box(true)
    let breaker = ClosureBehavior(
      "breaker", order: order,
      intercept: { request, next in
        if request.url.lastPathComponent == "token", isOpen.value { throw Refusal() }
        return try await next(request)
      })
    let session = try await fixture.alice()
    let client = fixture.client(session, breaker)
    for _ in 0..<8 { #expect(try await error(client).statusCode == nil) }
    isOpen.value = false
    try await client.send(.get("a"))
    #expect(server.tokenRequests.count == 1)
  }

  @Test func `a custom source counts when it fails`() async throws {
    let count = Box(0)
    let session = fixture.session(
      .closure { _ in
        count.update { $0 += 1 }
        throw CocoaError(.featureUnsupported)
      })
    let client = fixture.client(session)
    for _ in 0..<8 { #expect(try await error(client).code == .tokenUnavailable) }
    #expect(count.value == 5)
  }
}
