import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

/// Stands for the place where an app keeps its secrets.
private final class Vault: Sendable {
  private let service: String
  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var items: [String: Data] = [:]

  init(service: String) { self.service = service }

  func read(_ account: String) throws -> Data? { lock.withLock { items[service + account] } }
  func write(_ account: String, _ data: Data?) throws { lock.withLock { items[service + account] = data } }
}

final class VaultTokenStore: TokenStore {
  private let vault = Vault(service: "com.example.shop")

  func load() async throws -> AccessToken? {
    try vault.read("token")
      .map { try JSONDecoder().decode(AccessToken.self, from: $0) }
  }

  func save(_ token: AccessToken?) async throws {
    try vault.write("token", token.map(JSONEncoder().encode))
  }
}

/// A custom store that several processes use.
private final class SharedTokenStore: TokenStore {
  private static let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
  private let token = InMemoryTokenStore()

  func load() async throws -> AccessToken? { try await token.load() }
  func save(_ token: AccessToken?) async throws { try await self.token.save(token) }

  private let lock = FileLock(
    url: folder.appending(path: "token.lock"))

  func withRefreshLock(_ work: RefreshWork) async throws {
    try await lock.withLock { await work() }
  }

  deinit { try? FileManager.default.removeItem(at: Self.folder) }
}

struct AccountTokens: TokenSource {
  func refresh(
    _ token: AccessToken, using client: NetworkClient
  ) async throws -> AccessToken {
    let form: Query = ["refresh_token": token.refreshToken]
    return try await client.send(
      .post("token/refresh", body: .form(form)))
  }
}

/// The samples in the reference of tokens and passwords.
@Suite(.limited) struct TokenReferenceTests {
  private struct Form: Encodable { var user = "u" }

  private let server: LoopbackServer
  private var baseURL: URL { server.baseURL }
  private let id = "shop"
  private let secret = "s3cret"
  private let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).json")

  init() throws {
    server = try LoopbackServer { _ in
      .json(#"{"access_token": "t1", "refresh_token": "r1", "name": "Mona"}"#)
    }
  }

  private func sentFields(_ name: String) -> [String?] { server.requests.map { $0.headers[name] } }

  @Test func `a request chooses its authentication`() async throws {
    let app = TokenSession(name: "app", source: .closure { _ in AccessToken("t0") })
    let client = NetworkClient(baseURL: baseURL, behaviors: [.tokenAuth(app)])
    let form = Form()
    let token: AccessToken = try await client.send(
      .post("login", body: .json(form)).with(\.authentication, .none))
    try await client.send(.get("feed").with(\.authentication, .optional))
    try await client.send(
      .get("catalog").with(\.authentication, .only("app")))
    #expect(token.value == "t1")
    #expect(sentFields("Authorization") == [nil, "Bearer t0", "Bearer t0"])
  }

  @Test func `a password is sent`() async throws {
    let client = NetworkClient(
      baseURL: baseURL,
      behaviors: [.basicAuth(user: "build", password: secret)])
    try await client.send(.get("x"))
    #expect(sentFields("Authorization") == ["Basic YnVpbGQ6czNjcmV0"])
  }

  @Test func `a token has a lifetime and a refresh token`() {
    let token = AccessToken(
      "2YotnFZFEjr1zCsicMWpAA", lifetime: .seconds(3_600),
      refreshToken: "tGzv3JOkF0XG5Qx2TlKWIA")
    #expect(token.lifetime == .seconds(3_600))
    #expect(token.refreshToken == "tGzv3JOkF0XG5Qx2TlKWIA")
  }

  @Test func `an app gets a token for itself`() async throws {
    let endpoint = TokenEndpoint(
      "oauth/token", clientID: id, clientSecret: secret)
    let app = TokenSession(
      name: "app", source: .clientCredentials(endpoint))
    try await NetworkClient(baseURL: baseURL, behaviors: [.tokenAuth(app)]).send(.get("x"))
    #expect(sentFields("Authorization").last == "Bearer t1")
  }

  @Test func `a behavior puts the token of a session on requests`() async throws {
    let endpoint = TokenEndpoint(
      "oauth/token", clientID: "shop-ios", clientSecret: secret)
    let session = TokenSession(source: .clientCredentials(endpoint))
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.tokenAuth(session)])
    try await client.send(.get("x"))
    #expect(server.requests.map(\.path) == ["/oauth/token", "/x"])
  }

  @Test func `a closure fetches a token`() async throws {
    let id = id
    let session = TokenSession(
      source: .closure { client in
        try await client.send(
          .get("xapp_token", query: ["client_id": id]))
      })
    try await NetworkClient(baseURL: baseURL, behaviors: [.tokenAuth(session)]).send(.get("x"))
    #expect(sentFields("Authorization").last == "Bearer t1")
  }

  @Test func `a file store has a place`() throws {
    let folder = try FileManager.default.url(
      for: .applicationSupportDirectory, in: .userDomainMask,
      appropriateFor: nil, create: false)
    let store = FileTokenStore(
      url: folder.appending(path: "shop/token.json"))
    #expect(store.location?.hasSuffix("shop/token.json") == true)
  }

  @Test func `a user's token is refreshed and kept in a store`() async throws {
    let store = VaultTokenStore()
    let endpoint = TokenEndpoint("oauth/token", clientID: "shop-ios")
    let session = TokenSession(
      source: .refreshToken(endpoint), store: store)
    try await session.signIn(AccessToken("t0", refreshToken: "r0"))
    #expect(try await store.load()?.value == "t0")
    try await session.signOut()
    #expect(try await store.load() == nil)
  }

  @Test func `a custom store has a lock, under which tokens are refreshed`() async throws {
    let store = SharedTokenStore()
    let session = TokenSession(source: .refreshToken(TokenEndpoint("oauth/token", clientID: "shop-ios")), store: store)
    try await session.signIn(AccessToken("t0", expiresAt: .distantPast, refreshToken: "r0"))
    try await NetworkClient(baseURL: baseURL, behaviors: [.tokenAuth(session)]).send(.get("x"))
    #expect(try await store.load()?.value == "t1")
    #expect(server.requests.map(\.path) == ["/oauth/token", "/x"])
  }

  @Test func `an account signs in`() async throws {
    struct Profile { var userID = "u1" }
    let (session, token, profile) = (TokenSession(source: AccountTokens()), AccessToken("t0"), Profile())
    try await session.signIn(token, as: profile.userID)
    #expect(try await session.isSignedIn())
  }

  @Test func `a custom source refreshes`() async throws {
    let client = NetworkClient(baseURL: baseURL)
    let token = try await AccountTokens().refresh(AccessToken("t0", refreshToken: "r0"), using: client)
    #expect(token.value == "t1")
    #expect(server.requests.first?.text == "refresh_token=r0")
  }

  @Test func `a user signs in and out`() async throws {
    defer { try? FileManager.default.removeItem(at: file) }
    let (endpoint, token) = (TokenEndpoint("oauth/token", clientID: "shop-ios"), AccessToken("t0"))
    let session = TokenSession(
      source: .refreshToken(endpoint), store: FileTokenStore(url: file))
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.tokenAuth(session)])

    try await session.signIn(token)  // what the login returned
    let user: User = try await client.send(.get("me"))
    try await session.signOut()
    #expect(user.name == "Mona")
    #expect(try await session.isSignedIn() == false)
  }

  @Test func `events are followed`() async throws {
    let session = TokenSession(source: AccountTokens())
    let (shown, continuation) = AsyncStream<Void>.makeStream()
    @Sendable func showSignIn() async { continuation.finish() }
    let following = Task {
      continuation.yield()
      for await event in session.events {
        if case .signedOut = event { await showSignIn() }
      }
    }
    defer { following.cancel() }
    var iterator = shown.makeAsyncIterator()
    #expect(await iterator.next() != nil)
  }

  @Test func `a field and a check are chosen`() async throws {
    let session = TokenSession(source: .closure { _ in AccessToken("2YotnF", scopes: ["write"]) })
    // Authorization: Bearer 2YotnF…
    let bearer = TokenAuthBehavior(session)
    // Authorization: Token 2YotnF…
    let named = TokenAuthBehavior(session, header: .authorization("Token"))
    // X-Xapp-Token: 2YotnF…
    let own = TokenAuthBehavior(session, header: .field("X-Xapp-Token"))
    let behavior = TokenAuthBehavior(
      session,
      validation: TokenValidation { $0.scopes.contains("write") })
    for choice in [bearer, named, own, behavior] {
      try await NetworkClient(baseURL: baseURL, behaviors: [choice]).send(.get("x"))
    }
    #expect(sentFields("Authorization") == ["Bearer 2YotnF", "Token 2YotnF", nil, "Bearer 2YotnF"])
    #expect(sentFields("X-Xapp-Token") == [nil, nil, "2YotnF", nil])
  }
}
