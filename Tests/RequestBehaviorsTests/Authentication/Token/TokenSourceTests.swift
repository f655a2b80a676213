import Foundation
import RequestBehaviors
import TestSupport
import Testing

@Suite(.limited) struct TokenSourceTests {
  private let transport = ClosureTransport(200, #"{"access_token":"t1"}"#)

  /// The request by which a source gets a token.
  private func request(_ source: any TokenSource, refreshing token: AccessToken? = nil) async throws -> NetworkRequest {
    let client = NetworkClient(transport)
    if let token {
      _ = try await source.refresh(token, using: client)
    } else {
      _ = try await source.fetch(using: client)
    }
    return try #require(transport.sent.last)
  }

  // RFC 6749 §4.4.2
  @Test func `client credentials go into the field by default`() async throws {
    let sent = try await request(.clientCredentials(.test, scopes: ["read", "write"]))
    #expect(sent.method == .post)
    #expect(sent.url.absoluteString == "https://api.example.com/v1/token")
    #expect(sent.headers["Authorization"] == "Basic YXBwOmFwcC1zZWNyZXQ=")
    #expect(sent.headers.field(named: "Authorization")?.isSensitive == true)
    #expect(sent.headers["Content-Type"] == "application/x-www-form-urlencoded")
    #expect(sent.headers["Accept"] == "application/json")
    #expect(sent.body?.data == Data("grant_type=client_credentials&scope=read%20write".utf8))
  }

  // RFC 8707 §2 allows more than one resource.
  @Test func `additional parameters follow those of the grant`() async throws {
    let parameters: Query = ["audience": "https://api.example.com", "resource": "a", "resource": "b"]
    let sent = try await request(.clientCredentials(.test, scopes: ["read"], parameters: parameters))
    let text = "grant_type=client_credentials&scope=read&audience=https%3A%2F%2Fapi.example.com&resource=a&resource=b"
    #expect(sent.body?.data == Data(text.utf8))
  }

  @Test(arguments: ["grant_type", "scope", "client_id", "client_secret", "client_assertion", "client_assertion_type"])
  func `a reserved parameter is refused before a request is sent`(name: String) async throws {
    let source = ClientCredentialsGrant(.test, parameters: Query([name: "x"]))
    let error = await #expect(throws: NetworkError.self) { try await source.fetch(using: NetworkClient(transport)) }
    #expect(error?.code == .invalidRequest)
    #expect(error?.message == "the parameter \(name) is set by the token source and cannot be given")
    #expect(transport.sent.isEmpty)
  }

  @Test func `sessions with other parameters are distinguished, and parameters are not shown`() {
    func rights(_ scopes: [String], _ parameters: Query) -> String? {
      let source = ClientCredentialsGrant(.test, scopes: scopes, parameters: parameters)
      return TokenAuthBehavior(TokenSession(source: source)).credentialDigest(salt: Data())
    }
    let all = [
      rights([], [:]), rights(["a"], [:]), rights([], ["audience": "a"]), rights(["a"], ["audience": "a"]),
      rights([], ["audience": "s3cret"]),
    ]
    #expect(Set(all).count == all.count)
    #expect(rights(["a"], ["audience": "a"]) == all[3])
    #expect(!all.contains { $0?.contains("s3cret") == true })
  }

  // RFC 6749 §2.3.1: both are form-encoded first.
  @Test func `an id with a colon and a secret with special characters are escaped`() async throws {
    let endpoint = TokenEndpoint("token", clientID: "a:b", clientSecret: "pä s%")
    let sent = try await request(.clientCredentials(endpoint))
    let value = try #require(sent.headers["Authorization"]?.dropFirst(6))
    #expect(Data(base64Encoded: String(value)) == Data("a%3Ab:p%C3%A4%20s%25".utf8))
  }

  @Test func `client credentials go into the body on request`() async throws {
    let endpoint = TokenEndpoint("token", clientID: "app", clientSecret: "s&s", authentication: .post)
    let sent = try await request(.clientCredentials(endpoint))
    #expect(!sent.headers.contains("Authorization"))
    #expect(sent.body?.data == Data("grant_type=client_credentials&client_id=app&client_secret=s%26s".utf8))
  }

  // RFC 6749 §6
  @Test func `a public client refreshes with its id`() async throws {
    let sent = try await request(
      .refreshToken(TokenEndpoint("token", clientID: "app")), refreshing: AccessToken("t0", refreshToken: "r+0"))
    #expect(!sent.headers.contains("Authorization"))
    #expect(sent.body?.data == Data("grant_type=refresh_token&refresh_token=r%2B0&client_id=app".utf8))
  }

  @Test func `members that a refresh omits keep their values`() async throws {
    let store = InMemoryTokenStore()
    let session = TokenSession(source: .refreshToken(.test), store: store)
    try await session.signIn(AccessToken("t0", expiresAt: .distantPast, refreshToken: "r0", scopes: ["read"]))
    try await NetworkClient(transport, [.tokenAuth(session)]).send(.get("a"))
    let token = try #require(try await store.load())
    #expect(token.value == "t1")
    #expect(token.refreshToken == "r0")
    #expect(token.scopes == ["read"])
  }

  @Test func `without a source of tokens the user signs in, and again when the token is refused`() async throws {
    let refusing = ClosureTransport { request in
      NetworkResponse(request: request, statusCode: request.headers["Authorization"] == "Bearer good" ? 200 : 401)
    }
    let session = TokenSession(source: .signInOnly)
    let client = NetworkClient(refusing, [.tokenAuth(session)])
    let before = await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    #expect(before?.code == .notSignedIn)
    try await session.signIn(AccessToken("good"))
    try await client.send(.get("x"))
    try await session.signIn(AccessToken("bad"))
    let after = await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    #expect(after?.code == .notSignedIn)
    #expect(after?.message.contains("cannot be refreshed; sign in again") == true)
    #expect(refusing.sent.count == 2)
  }

  @Test func `the refresh of a custom source is not repeated once it may have arrived`() async throws {
    let transport = ClosureTransport { request in
      if request.url.path().hasSuffix("refresh") { throw NetworkError(.timedOut, "lost") }
      return NetworkResponse(request: request, statusCode: 200)
    }
    let source = ClosureTokenSource(refresh: { _, client in
      try await client.send(Request<Void>.get("refresh"))
      return AccessToken("t1")
    })
    let session = TokenSession(source: source)
    try await session.signIn(AccessToken("t0", expiresAt: .distantPast))
    let client = NetworkClient(transport, [.retry(), .hedging(after: .zero), .tokenAuth(session)])
    await #expect(throws: NetworkError.self) { try await client.send(.get("a")) }
    #expect(transport.sent.count == 1)
  }

  @Test func `a source with a refresh closure alone cannot get the first token`() async throws {
    let source = ClosureTokenSource(refresh: { token, _ in AccessToken(token.value + "+") })
    let client = NetworkClient(transport)
    await #expect(throws: NetworkError.self) { try await source.fetch(using: client) }
    #expect(try await source.refresh(AccessToken("a"), using: client).value == "a+")
  }
}
