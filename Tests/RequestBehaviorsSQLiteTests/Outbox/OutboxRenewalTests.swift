import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth1
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Entries of a user whose OAuth 1.0a token is renewed before they are sent.
@Suite(.limited) struct OutboxRenewalTests {
  private let old = OAuth1Credentials(token: "old", secret: "s")

  private func session(_ credentials: OAuth1Credentials? = nil) -> OAuth1Session {
    OAuth1Session(consumer: OAuth1Consumer(key: "ck", secret: "cs"), credentials: credentials)
  }

  private func world() throws -> OutboxWorld {
    try OutboxWorld { request in
      (200, request.url.path() == "/access_token" ? "oauth_token=new&oauth_token_secret=as" : "")
    }
  }

  private func outbox(
    _ world: OutboxWorld, _ session: OAuth1Session, _ atSignOut: OutboxConfiguration.SignOut
  ) async throws -> Outbox {
    try await world.outbox(world.client([.oauth1(session)]), OutboxConfiguration(atSignOut: atSignOut))
  }

  private func renew(_ session: OAuth1Session, _ world: OutboxWorld) async throws {
    let url = try #require(URL(string: "https://api.example.com/access_token"))
    let flow = OAuth1Flow(
      session: session, endpoints: OAuth1Flow.Endpoints(requestToken: url, authorize: url, accessToken: url),
      over: world.client())
    try await flow.renew(old, sessionHandle: "h")
  }

  /// The tokens with which entries were signed.
  private func tokens(_ world: OutboxWorld) -> [String] {
    world.mock.sent.filter { $0.url.path().hasPrefix("/pings") }.map { request in
      let field = request.headers["Authorization"] ?? ""
      return ["old", "new"].first { field.contains("oauth_token=\"\($0)\"") } ?? "none"
    }
  }

  @Test(arguments: [OutboxConfiguration.SignOut.hold, .discard])
  func `an entry of a user whose token is renewed is sent with the new one`(
    atSignOut: OutboxConfiguration.SignOut
  ) async throws {
    let world = try world()
    let session = session(old)
    let outbox = try await outbox(world, session, atSignOut)
    try await outbox.enqueue(Ping(number: 1))
    try await renew(session, world)
    let left = try await outbox.drain()
    #expect(left.isEmpty)
    #expect(left.dead == 0)
    #expect(tokens(world) == ["new"])
  }

  @Test func `an entry of a named account is sent at a launch after the renewal`() async throws {
    let world = try world()
    let first = session()
    try first.signIn(old, as: "anna")
    try await outbox(world, first, .hold).enqueue(Ping(number: 1))
    try await renew(first, world)
    let next = session()
    let outbox = try await outbox(world, next, .hold)
    try next.signIn(try #require(first.credentials), as: "anna")
    #expect(try await outbox.drain().isEmpty)
    #expect(tokens(world) == ["new"])
  }
}
