import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

/// The samples of "Tokens and prerequisite requests" and "Signing out".
@Suite(.limited) struct TokenSamplesTests {
  private let server: LoopbackServer
  private var baseURL: URL { server.baseURL }
  private let refreshing = RefreshTokenGrant(TokenEndpoint("oauth/token", clientID: "shop-ios"))

  /// A server that gives tokens at its token endpoint.
  init() throws {
    server = try LoopbackServer { request in
      let givesToken = ["oauth/token", "login", "xapp_token"].contains { request.path.hasSuffix($0) }
      return .json(givesToken ? #"{"access_token":"t1","refresh_token":"r1"}"# : "{}")
    }
  }

  @Test func `the first sample gets a token and sends`() async throws {
    let secret = "s"
    let endpoint = TokenEndpoint(
      "oauth/token", clientID: "shop-ios", clientSecret: secret)
    let session = TokenSession(source: .clientCredentials(endpoint))
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.tokenAuth(session)])
    // Sends POST oauth/token, then GET catalog with the token.
    try await client.send(.get("catalog"))
    #expect(server.requests.map { "\($0.method) \($0.path)" } == ["POST /oauth/token", "GET /catalog"])
    #expect(server.requests.last?.headers["Authorization"] == "Bearer t1")
  }

  @Test func `the sample of a user's token signs in`() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString)/token.json")
    defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
    let (user, password) = ("u", "p")
    let endpoint = TokenEndpoint("oauth/token", clientID: "shop-ios")
    let session = TokenSession(
      source: .refreshToken(endpoint), store: FileTokenStore(url: file))
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.tokenAuth(session)])

    let form: Query = ["user": user, "password": password]
    let token: AccessToken = try await client.send(
      .post("login", body: .form(form)).with(\.authentication, .none))
    try await session.signIn(token)
    #expect(try await session.isSignedIn())
    try await session.signOut()
    #expect(try await session.isSignedIn() == false)
  }

  @Test func `the samples of a source and of two tokens send the tokens that they choose`() async throws {
    struct AppTokens: TokenSource {
      func fetch(using client: NetworkClient) async throws -> AccessToken {
        let query: Query = ["client_id": "shop", "client_secret": "secret"]
        return try await client.send(.get("xapp_token", query: query))
      }
    }

    let app = TokenSession(name: "app", source: AppTokens())
    let behavior = TokenAuthBehavior(app, header: .field("X-Xapp-Token"))
    #expect("\(behavior)".contains("app"))
    let user = TokenSession(name: "user", source: refreshing)
    try await user.signIn(AccessToken("u1"))
    let client = NetworkClient(
      baseURL: baseURL,
      behaviors: [
        .tokenAuth(user),
        .tokenAuth(app, header: .field("X-Xapp-Token")),
      ])
    try await client.send(
      .get("catalog").with(\.authentication, .only("app")))
    try await client.send(.get("feed").with(\.authentication, .optional))
    try await client.send(.get("status").with(\.authentication, .none))
    #expect(server.requests.map { $0.headers["X-Xapp-Token"] } == [nil, "t1", "t1", nil])
    #expect(server.requests.map { $0.headers["Authorization"] } == [nil, nil, "Bearer u1", nil])
  }

  @Test func `the sample of events learns of the end of the session`() async throws {
    let mock = MockTransport(baseURL: baseURL)
    mock.on(.post, "oauth/token").respond(400, jsonText: #"{"error":"invalid_grant"}"#)
    mock.on().respond(401)
    let session = TokenSession(source: refreshing)
    try await session.signIn(AccessToken("t0", refreshToken: "r0"))
    let (shown, continuation) = AsyncStream<Void>.makeStream()
    @Sendable func showSignIn() async { continuation.yield() }

    let events = session.events
    let watching = Task {
      for await event in events {
        if case .signedOut(.refused) = event { await showSignIn() }
      }
    }
    let client = NetworkClient(baseURL: baseURL, behaviors: [.tokenAuth(session)], transport: mock)
    await #expect(throws: NetworkError.self) { try await client.send(.get("a")) }
    var iterator = shown.makeAsyncIterator()
    #expect(await iterator.next() != nil)
    #expect(try await session.isSignedIn() == false)
    watching.cancel()
    await watching.value
  }

  @Test func `the sample of a 401 of another kind keeps the session`() async throws {
    let mock = MockTransport(baseURL: baseURL)
    mock.on().respond(401)
    let session = TokenSession(source: refreshing)
    try await session.signIn(AccessToken("t0", refreshToken: "r0"))
    let behavior = TokenAuthBehavior(session) { response in
      let challenge = response.headers["WWW-Authenticate"] ?? ""
      return response.statusCode == 401
        && challenge.contains("invalid_token")
    }
    let client = NetworkClient(baseURL: baseURL, behaviors: [behavior], transport: mock)
    await #expect(throws: NetworkError.self) { try await client.send(.get("a")) }
    #expect(try await session.isSignedIn())
    #expect(mock.sent.count == 1)
  }
}
