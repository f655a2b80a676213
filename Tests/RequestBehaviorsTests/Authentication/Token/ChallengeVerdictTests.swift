import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// The token that a 401 concerns, if a request has more than one credential.
@Suite(.limited) struct ChallengeVerdictTests {
  private let fixture = TokenFixture()
  private let refreshes = Box<[String]>([])

  /// A session that is signed in; each refresh is counted and gives a newer token.
  private func session(_ name: String) async throws -> TokenSession {
    let refreshes = refreshes
    let session = TokenSession(
      name: name,
      source: .refreshing { token, _ in
        refreshes.update { $0.append(name) }
        return AccessToken(token.value + "+")
      }, clock: fixture.clock.requestClock)
    try await session.signIn(AccessToken(name, refreshToken: "r"))
    return session
  }

  /// A server that answers 401, with a challenge if there is one, unless a closure accepts the request.
  private func transport(
    _ challenge: String?, accepts: @escaping @Sendable (HeaderFields) -> Bool = { _ in false }
  ) -> ClosureTransport {
    ClosureTransport { request in
      var headers = HeaderFields()
      if let challenge { headers["WWW-Authenticate"] = challenge }
      return NetworkResponse(request: request, statusCode: accepts(request.headers) ? 200 : 401, headers: headers)
    }
  }

  private func status(_ client: NetworkClient) async throws -> Int? {
    try await #require(throws: NetworkError.self) { try await client.send(.get("a")) }.statusCode
  }

  @Test func `a challenge of one session's scheme refreshes that session only`() async throws {
    let (user, app) = (try await session("user"), try await session("app"))
    let transport = transport(#"Bearer realm="api", error="invalid_token""#) {
      $0["Authorization"] == "Bearer user+" && $0["X-App-Token"] == "app"
    }
    let client = NetworkClient(transport, [.tokenAuth(user), .tokenAuth(app, header: .field("X-App-Token"))])
    try await client.send(.get("a"))
    #expect(refreshes.value == ["user"])
  }

  @Test func `a challenge that remains after a refresh signs out the session that it names, and no other`()
    async throws
  {
    let (user, app) = (try await session("user"), try await session("app"))
    let transport = transport("Bearer")
    let client = NetworkClient(transport, [.tokenAuth(user), .tokenAuth(app, header: .field("X-App-Token"))])
    #expect(try await status(client) == 401)
    #expect(refreshes.value == ["user"])
    #expect(try await user.isSignedIn() == false)
    #expect(try await app.isSignedIn())
  }

  @Test func `a 401 without a challenge refreshes each of two sessions once and signs out neither`() async throws {
    let (user, app) = (try await session("user"), try await session("app"))
    let transport = transport(nil)
    let client = NetworkClient(transport, [.tokenAuth(user), .tokenAuth(app, header: .field("X-App-Token"))])
    #expect(try await status(client) == 401)
    #expect(refreshes.value.sorted() == ["app", "user"])
    #expect(try await user.isSignedIn())
    #expect(try await app.isSignedIn())
  }

  @Test func `a 401 without a challenge to a request with an API key does not sign out`() async throws {
    let user = try await session("user")
    let client = NetworkClient(transport(nil), [.tokenAuth(user), .apiKey("X-Key", "k")])
    #expect(try await status(client) == 401)
    #expect(refreshes.value == ["user"])
    #expect(try await user.isSignedIn())
  }

  // RFC 9110 §11.6.1: a list of challenges, each a scheme with parameters or a token68.
  @Test(arguments: [
    ("Bearer", true), ("bearer", true), ("Basic realm=\"x\", Bearer", true),
    (#"Digest a="b, c", Bearer realm=x"#, true), ("Negotiate dGVzdA==, Bearer error=\"x\"", true),
    (", ,Bearer ,", true), ("Basic realm=\"Bearer \"", false), (#"Basic realm="a\", Bearer realm=\"b""#, false),
    ("Digest", false), ("BearerX", false), ("Basic realm = \"x\" , Bearer", true),
    ("Digest qop=auth , Bearer=1", false), (#"Basic realm="open, Bearer"#, false),
  ])
  func `a challenge is read as RFC 9110 writes it`(challenge: String, isUsers: Bool) async throws {
    let user = try await session("user")
    let client = NetworkClient(transport(challenge), [.tokenAuth(user), .apiKey("X-Key", "k")])
    #expect(try await status(client) == 401)
    #expect(refreshes.value == (isUsers ? ["user"] : []))
  }

  @Test func `a session without other credentials is signed out by a challenge of its scheme or by none`()
    async throws
  {
    for challenge in ["Bearer", nil, #"Basic realm="x", Bearer error="invalid_token""#] {
      let user = try await session("user")
      #expect(try await status(NetworkClient(transport(challenge), [.tokenAuth(user)])) == 401)
      #expect(try await user.isSignedIn() == false, "\(challenge ?? "none")")
    }
  }

  // RFC 6750 §3.1, RFC 9470 §3, RFC 9449 §7.1
  @Test(arguments: [
    #"Basic realm="staging""#, "Negotiate", "Negotiate, Basic", #"Bearer error="insufficient_scope", scope="admin""#,
    #"Bearer error="insufficient_user_authentication""#, #"Bearer error="insufficient_claims""#,
    #"Bearer error="invalid_request""#, #"Bearer error="use_dpop_nonce""#, #"Bearer error="invalid_dpop_proof""#,
  ])
  func `a challenge that does not concern the token neither refreshes nor signs out`(challenge: String)
    async throws
  {
    let user = try await session("user")
    #expect(try await status(NetworkClient(transport(challenge), [.tokenAuth(user)])) == 401)
    #expect(refreshes.value == [])
    #expect(try await user.isSignedIn())
  }

  @Test func `an unknown error in a challenge refreshes and does not sign out`() async throws {
    let user = try await session("user")
    #expect(try await status(NetworkClient(transport(#"Bearer error="expired""#), [.tokenAuth(user)])) == 401)
    #expect(refreshes.value == ["user"])
    #expect(try await user.isSignedIn())
  }

  @Test func `the error in another realm's challenge does not concern the session`() async throws {
    let user = try await session("user")
    let challenge = #"Bearer realm="admin", error="insufficient_scope", Bearer realm="users", error="invalid_token""#
    let client = NetworkClient(transport(challenge), [.tokenAuth(user, realm: "users")])
    #expect(try await status(client) == 401)
    #expect(refreshes.value == ["user"])
    #expect(try await user.isSignedIn() == false)
  }

  @Test func `a realm distinguishes two sessions whose fields have no scheme`() async throws {
    let (user, app) = (try await session("user"), try await session("app"))
    let transport = transport(#"Token realm="users""#)
    let client = NetworkClient(
      transport,
      [
        .tokenAuth(user, header: .field("X-User"), realm: "users"),
        .tokenAuth(app, header: .field("X-App"), realm: "apps"),
      ])
    #expect(try await status(client) == 401)
    #expect(refreshes.value == ["user"])
    #expect(try await user.isSignedIn() == false)
    #expect(try await app.isSignedIn())
  }

  @Test func `a custom check for 401s refreshes a token that the challenge does not name`() async throws {
    let user = try await session("user")
    let behavior = TokenAuthBehavior(user) { $0.statusCode == 401 }
    #expect(try await status(NetworkClient(transport("Digest"), [behavior, .apiKey("X-Key", "k")])) == 401)
    #expect(refreshes.value == ["user"])
    #expect(try await user.isSignedIn())
  }
}
