import Foundation
import RequestBehaviors
import Testing

/// The samples of "Tokens and prerequisite requests" and "Signing out".
@Suite struct TokenSampleTests {
  private let transport = ClosureTransport { request in
    let givesToken = ["oauth/token", "login", "xapp_token"].contains { request.url.path().hasSuffix($0) }
    return TokenServer.json(request, givesToken ? #"{"access_token":"t1","refresh_token":"r1"}"# : "{}")
  }

  @Test func `the first sample gets a token and sends`() async throws {
    let secret = "s"
    let endpoint = TokenEndpoint("oauth/token", clientID: "shop-ios", clientSecret: secret)
    let session = TokenSession(source: .clientCredentials(endpoint))
    let client = NetworkClient(baseURL: baseURL, behaviors: [.tokenAuth(session)], transport: transport)
    try await client.send(.get("catalog"))
    #expect(transport.sent.map { $0.url.lastPathComponent } == ["token", "catalog"])
  }

  @Test func `the sample of a user's token signs in`() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString)/token.json")
    defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
    let (user, password) = ("u", "p")
    let session = TokenSession(
      source: .refreshToken(TokenEndpoint("oauth/token", clientID: "shop-ios")), store: FileTokenStore(url: file))
    let client = NetworkClient(baseURL: baseURL, behaviors: [.tokenAuth(session)], transport: transport)

    let token: AccessToken = try await client.send(
      .post("login", body: .form(["user": user, "password": password])).with(\.authentication, .none))
    try await session.signIn(token)
    #expect(try await session.isSignedIn())
    try await session.signOut()
    #expect(try await session.isSignedIn() == false)
  }

  @Test func `the samples of a source and of two tokens choose what they say`() async throws {
    struct AppTokens: TokenSource {
      func fetch(using client: NetworkClient) async throws -> AccessToken {
        try await client.send(.get("api/v1/xapp_token", query: ["client_id": "shop", "client_secret": "secret"]))
      }
    }

    let app = TokenSession(name: "app", source: AppTokens())
    let user = TokenSession(name: "user", source: .refreshToken(.test))
    try await user.signIn(AccessToken("u1"))
    let client = NetworkClient(
      baseURL: baseURL,
      behaviors: [.tokenAuth(user), .tokenAuth(app, header: .field("X-Xapp-Token"))], transport: transport)
    try await client.send(.get("catalog").with(\.authentication, .only("app")))
    try await client.send(.get("feed").with(\.authentication, .optional))
    try await client.send(.get("status").with(\.authentication, .none))
    #expect(transport.sent.map { $0.headers["X-Xapp-Token"] } == [nil, "t1", "t1", nil])
  }

  @Test func `the sample of events learns of the end of the session`() async throws {
    let refusing = ClosureTransport(401)
    let session = TokenSession(source: .refreshToken(.test))
    try await session.signIn(AccessToken("t0", refreshToken: "r0"))
    let shown = Box(false)
    let events = session.events
    let behavior = TokenAuthBehavior(session) { response in
      response.statusCode == 401 && response.headers["WWW-Authenticate"]?.contains("invalid_token") == true
    }
    _ = try? await NetworkClient(refusing, [behavior]).send(.get("a") as Request<Void>)
    #expect(try await session.isSignedIn())
    _ = try? await NetworkClient(refusing, [.tokenAuth(session)]).send(.get("a") as Request<Void>)
    for await event in events {
      if case .signedOut(.refused) = event { shown.value = true }
      if shown.value { break }
    }
    #expect(shown.value)
  }
}
