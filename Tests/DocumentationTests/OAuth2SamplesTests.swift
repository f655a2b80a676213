import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth2
import RequestBehaviorsTesting
import Testing

/// A browser whose user consents.
private struct Browser: Sendable {
  let id: MockOAuth2Server

  func open(_ url: URL) async throws -> URL { try id.authorize(url) }
}

private struct Profile: Decodable {
  var userID: String
}

private struct Vault: Sendable {
  func sign(_ bytes: [UInt8]) throws -> [UInt8] { [UInt8](repeating: 1, count: 64) }
}

/// The samples of RequestBehaviorsOAuth2, and those about it elsewhere.
@Suite(.limited) struct OAuth2SamplesTests {
  private let mock = MockTransport(baseURL: URL(string: "https://id.example/"))
  private let store = InMemoryTokenStore()
  private let annasStore = InMemoryTokenStore(AccessToken("A"))
  private let bensStore = InMemoryTokenStore(AccessToken("B"))
  private var baseURL: URL { mock.baseURL }
  private let kept = Locked<Data>(Data())
  private let vault = Vault()
  private let key = Vault()
  private let clock = ManualClock()
  private let publicKey = PublicKey.ec(x: [1], y: [2])

  private var client: NetworkClient {
    var configuration = RequestConfiguration(baseURL: mock.baseURL)
    configuration.clock = clock.requestClock
    return NetworkClient(configuration: configuration, transport: mock)
  }

  private var server: OAuth2Server {
    var server = OAuth2Server(
      issuer: "https://id.example", authorize: URL(string: "https://id.example/authorize"),
      token: mock.baseURL.appending(path: "token"), revoke: mock.baseURL.appending(path: "revoke"))
    server.deviceAuthorization = mock.baseURL.appending(path: "device")
    return server
  }

  private var endpoint: TokenEndpoint { TokenEndpoint(server, clientID: "shop-ios") }
  private var session: TokenSession { TokenSession(source: .refreshToken(endpoint), store: store) }

  private func keep(_ data: Data) throws { kept.withLock { $0 = data } }
  private func open(_ url: URL) {}
  private func offerFewerFeatures() {}

  @Test func `a server is described or discovered`() async throws {
    let described = OAuth2Server(
      authorize: URL(string: "https://id.example/authorize"),
      token: URL(string: "https://id.example/token")!)
    do {
      let server = OAuth2Server(
        authorize: URL(string: "https://id.example/authorize"),
        token: URL(string: "https://id.example/token")!)
      #expect(server == described)
    }
    mock.on(.get, ".well-known/oauth-authorization-server").respond(
      200, jsonText: #"{"issuer":"https://id.example","token_endpoint":"https://id.example/token"}"#)
    do {
      let server = try await OAuth2Server.discover(
        "https://id.example", over: client)
      #expect(server.token == described.token)
    }
    let server = try await OAuth2Server.discover(
      "https://id.example", over: client)
    let endpoint = TokenEndpoint(server, clientID: "shop-ios")
    let session = TokenSession(
      source: .refreshToken(endpoint), store: store)
    #expect(try await session.isSignedIn() == false)
  }

  @Test func `an app signs a user in`() async throws {
    let id = mock.oauth2()
    let browser = Browser(id: id)
    let session = session
    let flow = OAuth2Flow(
      session: session, endpoint: endpoint,
      redirectURI: URL(string: "com.example.shop:/signed-in")!,
      scopes: ["orders.read"], over: client)
    let grant = try await flow.signIn { url in
      // Shows the page and returns the URL of the callback.
      try await browser.open(url)
    }
    #expect(grant.scopes == ["orders.read"])
    try await session.signOut { token in
      try await endpoint.revoke(token, over: client)
    }
    #expect(!id.accepts(grant.token))
  }

  @Test func `an app may end between the steps of a sign-in`() async throws {
    let id = mock.oauth2(members: ["team": "7"])
    let flow = OAuth2Flow(
      session: session, endpoint: endpoint,
      redirectURI: URL(string: "com.example.shop:/signed-in")!, over: client)
    let signIn = try await flow.begin(["prompt": "consent"])
    try keep(JSONEncoder().encode(signIn))
    open(signIn.url)
    let (data, url) = (self.kept.withLock { $0 }, try id.authorize(signIn.url))
    let kept = try JSONDecoder().decode(
      OAuth2SignIn.self, from: data)
    let grant = try await flow.finish(kept, callback: url)
    print(grant.scopes, grant["team"] ?? "")
    #expect(grant["team"] == "7")
  }

  @Test func `a tool signs a user in through this machine's address`() async throws {
    let id = mock.oauth2()
    let browser = NetworkClient(baseURL: baseURL)
    func print(_ text: String) {
      let page = URL(string: String(text.dropFirst("Open ".count)))
      Task { try await browser.send(Request<NetworkResponse>.get(url: id.authorize(try #require(page)))) }
    }
    let loopback = try LoopbackRedirect()
    let flow = OAuth2Flow(
      session: session, endpoint: endpoint,
      redirectURI: loopback.url, over: client)
    try await flow.signIn { url in
      print("Open \(url)")
      return try await loopback.callback(for: url)
    }
    #expect(try await store.load() != nil)
  }

  @Test func `a device signs a user in`() async throws {
    let id = mock.oauth2()
    let shown = Locked<String>("")
    @Sendable func print(_ text: String) { shown.withLock { $0 = text } }
    let task = Task {
      let flow = OAuth2DeviceFlow(
        session: session, endpoint: endpoint, scopes: ["orders.read"],
        over: client)
      try await flow.signIn { code in
        print("Go to \(code.page) and type \(code.userCode)")
      }
    }
    await clock.waitForSleepers(1)
    try id.approve(userCode: String(shown.withLock { $0 }.split(separator: " ").last ?? ""))
    clock.advance(by: .seconds(5))
    try await task.value
    #expect(try await store.load()?.scopes == ["orders.read"])
  }

  @Test func `a server authenticates with its key`() async throws {
    _ = mock.oauth2()
    let key = SigningKey("ES256", keyID: "2026-11") { bytes in
      try vault.sign(bytes)
    }
    let endpoint = TokenEndpoint(
      server, clientID: "shop-server",
      authentication: .privateKeyJWT(key))
    let session = TokenSession(
      source: .clientCredentials(endpoint, scopes: ["stock"]))
    mock.on(.get, "orders").respond(200)
    try await client.with { $0.behaviors.append(.tokenAuth(session)) }.send(.get("orders"))
    do {
      let session = TokenSession(
        source: .jwtBearer(
          endpoint, key: key, issuer: "robot@shop.example",
          scopes: ["stock.read"]))
      #expect(try await session.isSignedIn() == false)
    }
    #expect(try mock.sent[0].form.items.count == 5)
  }

  @Test func `the app asks for the name of the account, or knows it`() async throws {
    let browser = Browser(id: mock.oauth2())
    mock.on(.get, "me").respond(200, jsonText: #"{"userID":"anna"}"#)
    let session = session
    let flow = OAuth2Flow(
      session: session, endpoint: endpoint,
      redirectURI: URL(string: "com.example.shop:/signed-in")!, over: client)
    try await flow.signIn { url in
      try await browser.open(url)
    } naming: { grant in
      let profile: Profile = try await client.prerequisites.send(
        .get("me").with(.bearer(grant.token.value)))
      return profile.userID
    }
    let asked = try await store.load()?.sessionID
    let name = "anna"
    try await flow.signIn(["login_hint": name], as: name) { url in
      try await browser.open(url)
    }
    #expect(asked != nil)
    #expect(try await store.load()?.sessionID == asked)
  }

  @Test func `a token that could not be revoked is revoked later`() async throws {
    let session = session
    try await session.signIn(AccessToken("A", refreshToken: "R"))
    let unrevoked = InMemoryTokenStore()
    mock.on(.post, "revoke").fail(.cannotConnect).times(1)
    mock.on(.post, "revoke").respond(200)
    try await session.signOut { token in
      do {
        try await endpoint.revoke(token, over: client)
      } catch {
        // There is no network, or a portal.
        try await unrevoked.save(token)
      }
    }
    #expect(try await store.load() == nil)
    #expect(try await unrevoked.load()?.refreshToken == "R")
    if let token = try await unrevoked.load() {
      try await endpoint.revoke(token, over: client)
      try await unrevoked.save(nil)
    }
    #expect(mock.sent.count == 2)
    #expect(try await unrevoked.load() == nil)
  }

  @Test func `tokens are bound to a key`() async throws {
    let session = session
    do {
      let dpop = try DPoPKey(
        SigningKey("ES256", publicKey: publicKey) { try key.sign($0) })
      let endpoint = TokenEndpoint(
        server, clientID: "shop-ios", dpop: dpop)
      let client = NetworkClient(
        baseURL: baseURL,
        behaviors: [.tokenAuth(session), .dpop(dpop)])
      #expect(try client.pipeline(for: Request<Void>.get("a")).warnings.isEmpty)
      #expect("\(endpoint)".contains("shop-ios"))
    }
    let point = [UInt8](0..<65)
    let publicKey = PublicKey.ec(x: point[1..<33], y: point[33..<65])
    #expect(publicKey.members["crv"] == "P-256")
  }

  @Test func `a refusal has a reason`() async throws {
    let id = mock.oauth2()
    let browser = Browser(id: id)
    let flow = OAuth2Flow(
      session: session, endpoint: endpoint,
      redirectURI: URL(string: "com.example.shop:/signed-in")!, over: client)
    do {
      try await flow.signIn { url in try await browser.open(url) }
    } catch let error as NetworkError {
      print(error.code, error.oauth2?.code ?? "no reason")
    }
    do {
      try await flow.signIn { url in try await browser.open(url) }
    } catch let error as NetworkError
      where error.oauth2?.code == .invalidScope
    {
      offerFewerFeatures()
    }
    do {
      try await flow.signIn { url in .callback(to: url, code: "abc") }
    } catch let error as NetworkError {
      #expect(error.oauth2?.code == .invalidGrant)
    }
    await #expect(throws: NetworkError.self) {
      try await flow.signIn { url in id.deny(url) }
    }
  }

  @Test func `the server of the mock signs a user in`() async throws {
    let flow = OAuth2Flow(
      session: session, endpoint: endpoint,
      redirectURI: URL(string: "com.example.shop:/signed-in")!, over: client)
    let id = mock.oauth2()
    let grant = try await flow.signIn { url in
      try id.authorize(url)
    }
    #expect(id.accepts(grant.token))
  }

  @Test func `the server of the mock also works over a real connection`() async throws {
    let client = NetworkClient(baseURL: baseURL)
    let id = MockOAuth2Server()
    let service = try LoopbackServer { request in
      id.response(to: request) ?? .status(404)
    }
    let server = try await OAuth2Server.discover(
      "http://127.0.0.1:\(service.port)", over: client)
    #expect(server.token == service.baseURL.appending(path: "token"))
    #expect(server.announcesIssuer)
  }
}
