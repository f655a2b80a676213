import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsOAuth1
import RequestBehaviorsTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite(.limited) struct TransportCookieTests {
  @Test func `cookies are neither kept nor sent unless asked for`() async throws {
    let server = try LoopbackServer { _ in .status(200).header("Set-Cookie", "a=b; Path=/") }
    let without = URLSessionTransport()
    _ = try await without.send(server.request())
    _ = try await without.send(server.request(headers: ["Cookie": "own=1"]))
    #expect(server.requests.map { $0.headers["Cookie"] } == [nil, "own=1"])
    let with = URLSessionTransport(configuration: .init(handlesCookies: true))
    _ = try await with.send(server.request())
    _ = try await with.send(server.request())
    _ = try await URLSessionTransport(configuration: .init(handlesCookies: true)).send(server.request())
    #expect(server.requests.dropFirst(2).map { $0.headers["Cookie"] } == [nil, "a=b", nil])
  }

  @Test func `cookies go out only to their paths, over https if they are secure, and until they expire`() async throws {
    let server = try LoopbackServer { request in
      guard request.path.hasPrefix("/set") else { return .text(request.headers["Cookie"] ?? "none") }
      // URLSession on Linux joins several fields, so each response sets one.
      return .status(200).header("Set-Cookie", request.headers["X-Cookie"] ?? "")
    }
    let client = NetworkClient(
      baseURL: server.baseURL, transport: URLSessionTransport(configuration: .init(handlesCookies: true)))
    func set(_ cookie: String) async throws { try await client.send(.get("set", headers: ["X-Cookie": cookie])) }
    func cookies(_ path: RequestPath) async throws -> String { try await client.send(Request<String>.get(path)) }
    try await set("secret=1; Path=/; Secure")
    #expect(try await cookies("a") == "none")
    try await set("inner=1; Path=/admin")
    #expect(try await cookies("a") == "none")
    #expect(try await cookies("administration") == "none")
    #expect(try await cookies("admin") == "inner=1")
    #expect(try await cookies("admin/a") == "inner=1")
    try await set("user=ann; Path=/; Max-Age=3600")
    #expect(try await cookies("admin/a") == "inner=1; user=ann")
    try await set("user=; Path=/; Max-Age=0")
    #expect(try await cookies("a") == "none")
  }

  #if canImport(FoundationNetworking)
    @Test func `a cookie that has expired by its date does not go out`() async throws {
      let server = try LoopbackServer { .text($0.headers["Cookie"] ?? "none") }
      let storage = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
      let cookie = try #require(
        AgingCookie(properties: [.name: "user", .value: "ann", .domain: "127.0.0.1", .path: "/"]))
      storage.setCookie(cookie)
      let configuration = URLSessionTransport.Configuration(handlesCookies: true) { $0.httpCookieStorage = storage }
      let client = NetworkClient(
        baseURL: server.baseURL, transport: URLSessionTransport(configuration: configuration))
      #expect(try await client.send(Request<String>.get("a")) == "user=ann")
      cookie.expiry.update { $0 = .distantPast }
      #expect(try await client.send(Request<String>.get("a")) == "none")
      #expect(server.requestCount == 2)
    }
  #endif

  @Test func `a redirect back that sets a cookie is no loop if the transport keeps it`() async throws {
    let server = try LoopbackServer { request in
      let redirect = LoopbackResponse.status(302).header("Location", request.target)
      if request.headers["Cookie"] == nil { return redirect.header("Set-Cookie", "seen=1; Path=/") }
      switch request.path {
      case "/start": return .text("hello")
      case "/endless": return redirect.header("Set-Cookie", "seen=1; Path=/")
      default: return redirect
      }
    }
    func text(_ path: RequestPath, keepsCookies: Bool = true) async throws -> String {
      let transport = URLSessionTransport(configuration: .init(handlesCookies: keepsCookies))
      return try await NetworkClient(baseURL: server.baseURL, transport: transport).send(Request<String>.get(path))
    }
    #expect(try await text("start") == "hello")
    #expect(server.requestCount == 2)
    let withoutCookies = await #expect(throws: NetworkError.self) { try await text("start", keepsCookies: false) }
    #expect(withoutCookies?.message.contains("a loop") == true)
    #expect(server.requestCount == 3)
    let withoutNewCookie = await #expect(throws: NetworkError.self) { try await text("again") }
    #expect(withoutNewCookie?.message.contains("a loop") == true)
    #expect(server.requestCount == 5)
    let endless = await #expect(throws: NetworkError.self) { try await text("endless") }
    #expect(endless?.message.contains("more than 10 redirects") == true)
  }

  @Test func `a reset of the client removes cookies, also those of responses under way`() async throws {
    let gate = TestGate()
    let server = try LoopbackServer { request in
      if request.path == "/held" { await gate.pass() }
      return .text(request.headers["Cookie"] ?? "none").header("Set-Cookie", "user=alice; Path=/")
    }
    let transport = URLSessionTransport(configuration: .init(handlesCookies: true))
    let client = NetworkClient(baseURL: server.baseURL, transport: transport)
    let variant = client.with { $0.options.idleTimeout = .seconds(30) }
    func cookie(_ client: NetworkClient) async throws -> String { try await client.send(Request<String>.get("a")) }
    #expect(try await cookie(client) == "none")
    #expect(try await cookie(variant) == "user=alice")
    let held = Task { try await client.send(Request<String>.get("held")) }
    await gate.waitForArrivals(1)
    await client.reset()
    gate.open()
    #expect(try await held.value == "user=alice")
    #expect(try await cookie(variant) == "none")
  }

  @Test func `the next user's requests have no cookies of a user who signed out`() async throws {
    let server = try LoopbackServer { request in
      .text(request.headers["Cookie"] ?? "none").header("Set-Cookie", "user=alice; Path=/")
    }
    let session = TokenSession(source: .closure { _ in throw NetworkError.notSignedIn("the test") })
    let oauth = OAuth1Session(
      consumer: OAuth1Consumer(key: "ck", secret: "cs"),
      credentials: OAuth1Credentials(token: "tk", secret: "ts"), origins: .any)
    let client = NetworkClient(
      baseURL: server.baseURL, behaviors: [.tokenAuth(session)],
      transport: URLSessionTransport(configuration: .init(handlesCookies: true)))
    func cookie(_ client: NetworkClient) async throws -> String { try await client.send(Request<String>.get("a")) }
    try await session.signIn(AccessToken("alice"))
    #expect(try await cookie(client) == "none")
    #expect(try await cookie(client) == "user=alice")
    // Without a sign-out, the next user takes the place at once.
    try await session.signIn(AccessToken("bob"))
    #expect(try await cookie(client) == "none")
    try await session.signOut()
    try await session.signIn(AccessToken("carol"))
    #expect(try await cookie(client) == "none")
    let signing = client.with { $0.behaviors = [.oauth1(oauth)] }
    #expect(try await cookie(signing) == "user=alice")
    oauth.signOut()
    #expect(try await cookie(client) == "none")
  }

  @Test(arguments: [true, false])
  func `a redirect after a sign-out or a reset goes out with no cookies of the next user`(signsOut: Bool) async throws {
    let gate = TestGate()
    let answer = { @Sendable (request: LoopbackRequest) in
      LoopbackResponse.text(request.headers["Cookie"] ?? "none").header("Set-Cookie", "user=\(request.path); Path=/")
    }
    let other = try LoopbackServer { answer($0) }
    let location = other.baseURL.appending(path: "alice").absoluteString
    let server = try LoopbackServer { request in
      guard request.path == "/start" else { return answer(request) }
      await gate.pass()
      return .redirect(to: location)
    }
    let session = TokenSession(source: .closure { _ in throw NetworkError.notSignedIn("the test") })
    let client = NetworkClient(
      baseURL: server.baseURL, behaviors: signsOut ? [.tokenAuth(session)] : [],
      transport: URLSessionTransport(configuration: .init(handlesCookies: true)))
    try await session.signIn(AccessToken("alice"))
    let chain = Task { try await client.send(Request<String>.get("start")) }
    await gate.waitForArrivals(1)
    if signsOut { try await session.signIn(AccessToken("bob")) } else { await client.reset() }
    #expect(try await client.send(Request<String>.get("bob")) == "none")
    gate.open()
    let error = await #expect(throws: NetworkError.self) { try await chain.value }
    #expect(error?.code == .signedOut)
    #expect(other.requestCount == 0)
    #expect(try await client.send(Request<String>.get("bob")) == "user=/bob")
  }

  @Test(arguments: [true, false])
  func `the next user has no cookies of a client that is gone, over the same transport`(signsOut: Bool) async throws {
    let server = try LoopbackServer { request in
      .text(request.headers["Cookie"] ?? "none").header("Set-Cookie", "user=alice; Path=/")
    }
    let session = TokenSession(source: .closure { _ in throw NetworkError.notSignedIn("the test") })
    let transport = URLSessionTransport(configuration: .init(handlesCookies: true))
    func cookieOfNewClient() async throws -> String {
      let client = NetworkClient(baseURL: server.baseURL, behaviors: [.tokenAuth(session)], transport: transport)
      return try await client.send(Request<String>.get("a"))
    }
    try await session.signIn(AccessToken("alice"))
    #expect(try await cookieOfNewClient() == "none")
    #expect(try await cookieOfNewClient() == "user=alice")
    if signsOut { try await session.signOut() }
    try await session.signIn(AccessToken("bob"))
    #expect(try await cookieOfNewClient() == "none")
    #expect(server.requestCount == 3)
  }

  /// Holds requests back before URLSession gets them.
  private struct HoldingTransport: Transport {
    let gate = TestGate()
    let inner = URLSessionTransport(configuration: .init(handlesCookies: true))

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
      if request.url.path() == "/held" { await gate.pass() }
      return try await inner.send(request)
    }

    func addsCredentials(to request: NetworkRequest) -> Bool { inner.addsCredentials(to: request) }
    func forgetUser() { inner.forgetUser() }
    func shutdown() async { await inner.shutdown() }
  }

  @Test func `a request that comes to URLSession after its user was replaced sets no cookie for the next user`()
    async throws
  {
    let server = try LoopbackServer { request in
      let user = request.headers["Authorization"]?.dropFirst(7) ?? "nobody"
      return .text(request.headers["Cookie"] ?? "none").header("Set-Cookie", "user=\(user); Path=/")
    }
    let session = TokenSession(source: .closure { _ in throw NetworkError.notSignedIn("the test") })
    let transport = HoldingTransport()
    let client = NetworkClient(baseURL: server.baseURL, behaviors: [.tokenAuth(session)], transport: transport)
    try await session.signIn(AccessToken("alice"))
    let held = Task { try await client.send(Request<String>.get("held")) }
    await transport.gate.waitForArrivals(1)
    try await session.signIn(AccessToken("bob"))
    #expect(try await client.send(Request<String>.get("a")) == "none")
    transport.gate.open()
    let error = await #expect(throws: NetworkError.self) { try await held.value }
    #expect(error?.code == .signedOut)
    #expect(try await client.send(Request<String>.get("a")) == "user=bob")
    #expect(server.requests.map(\.path) == ["/a", "/a"])
  }

  @Test func `a redirect of a user who is still there goes on after another user of the transport has left`()
    async throws
  {
    let gate = TestGate()
    let server = try LoopbackServer { request in
      guard request.path == "/start" else { return .text(request.headers["Cookie"] ?? "none") }
      await gate.pass()
      return .redirect(to: "/end").header("Set-Cookie", "user=alice; Path=/")
    }
    let session = TokenSession(source: .closure { _ in throw NetworkError.notSignedIn("the test") })
    let client = NetworkClient(
      baseURL: server.baseURL, behaviors: [.tokenAuth(session)],
      transport: URLSessionTransport(configuration: .init(handlesCookies: true)))
    try await session.signIn(AccessToken("alice"))
    let chain = Task { try await client.send(Request<String>.get("start")) }
    await gate.waitForArrivals(1)
    await client.reset()
    gate.open()
    #expect(try await chain.value == "none")
  }

  @Test func `a retry after a reset goes out with no cookies of the next user`() async throws {
    let gate = TestGate()
    let server = try LoopbackServer { request in
      let answer = LoopbackResponse.text(request.headers["Cookie"] ?? "none").header("Set-Cookie", "user=bob; Path=/")
      guard request.path == "/start" else { return answer }
      await gate.pass()
      return .status(503)
    }
    let retry = RetryPolicy(backoff: Backoff(base: .zero, floor: .zero))
    let client = NetworkClient(
      baseURL: server.baseURL, behaviors: [.retry(retry)],
      transport: URLSessionTransport(configuration: .init(handlesCookies: true)))
    let retried = Task { try await client.send(Request<String>.get("start")) }
    await gate.waitForArrivals(1)
    await client.reset()
    #expect(try await client.send(Request<String>.get("bob")) == "none")
    gate.open()
    let error = await #expect(throws: NetworkError.self) { try await retried.value }
    #expect(error?.code == .signedOut)
    #expect(server.requests.map(\.path) == ["/start", "/bob"])
  }

  @Test func `a request for a token is repeated after a reset`() async throws {
    let gate = TestGate()
    let hasRefused = Locked(false)
    let server = try LoopbackServer { request in
      guard request.path == "/token" else { return .text(request.headers["Authorization"] ?? "none") }
      let isFirst = hasRefused.withLock { hasRefused in
        defer { hasRefused = true }
        return !hasRefused
      }
      guard isFirst else { return .json(#"{"access_token": "new", "token_type": "Bearer"}"#) }
      await gate.pass()
      return .status(429).header("Retry-After", "0")
    }
    let endpoint = TokenEndpoint("token", clientID: "shop", clientSecret: "secret")
    let retry = RetryPolicy(backoff: Backoff(base: .zero, floor: .zero))
    let client = NetworkClient(
      baseURL: server.baseURL,
      behaviors: [.retry(retry), .tokenAuth(TokenSession(source: .clientCredentials(endpoint)))],
      transport: URLSessionTransport(configuration: .init(handlesCookies: true)))
    let sent = Task { try await client.send(Request<String>.get("a")) }
    await gate.waitForArrivals(1)
    await client.reset()
    gate.open()
    #expect(try await sent.value == "Bearer new")
  }

  @Test(arguments: [false, true])
  func `a request whose body is read during a reset is not sent, and has no cookies of the next user`(
    hasOwnStorage: Bool
  ) async throws {
    let server = try LoopbackServer { request in
      .status(200).header("Set-Cookie", "user=\(request.path.dropFirst()); Path=/")
    }
    let storage = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
    let transport = URLSessionTransport(
      configuration: .init(handlesCookies: true) { if hasOwnStorage { $0.httpCookieStorage = storage } })
    let client = NetworkClient(baseURL: server.baseURL, transport: transport)
    let (chunks, asked) = (AsyncStream.makeStream(of: Data.self), TestGate())
    let body = RequestBody.stream {
      asked.arrive()
      return ByteStream(chunks.stream)
    }
    let upload = Task { try await client.send(Request<Void>.put("alice", body: .body(body))) }
    await asked.waitForArrivals(1)
    await client.reset()
    try await client.send(.get("bob"))
    chunks.continuation.finish()
    let error = await #expect(throws: NetworkError.self) { try await upload.value }
    #expect(error?.code == .signedOut)
    #expect(server.requests.map(\.path) == ["/bob"])
  }

  @Test func `a request that waits for a limit during a reset goes out with no cookies of the next user`() async throws
  {
    let gate = TestGate()
    let server = try LoopbackServer { request in
      if request.path == "/alice1" { await gate.pass() }
      return .text(request.headers["Cookie"] ?? "none").header("Set-Cookie", "user=\(request.path); Path=/")
    }
    let events = RecordedEvents()
    let client = NetworkClient(
      baseURL: server.baseURL, behaviors: [events, .concurrencyLimit(1)],
      transport: URLSessionTransport(configuration: .init(handlesCookies: true)))
    let first = Task { try await client.send(Request<String>.get("alice1")) }
    await gate.waitForArrivals(1)
    let second = Task { try await client.send(Request<String>.post("alice2")) }
    await events.waitFor(1, "waits")
    await client.reset()
    let error = await #expect(throws: NetworkError.self) { try await second.value }
    #expect(error?.code == .signedOut)
    gate.open()
    _ = try await first.value
    #expect(try await client.send(Request<String>.get("bob")) == "none")
    #expect(server.requests.map(\.path) == ["/alice1", "/bob"])
  }

  @Test func `a custom cookie storage is emptied`() async throws {
    let server = try LoopbackServer { _ in .status(200).header("Set-Cookie", "a=b; Path=/") }
    let storage = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
    let configuration = URLSessionTransport.Configuration(handlesCookies: true) { $0.httpCookieStorage = storage }
    let transport = URLSessionTransport(configuration: configuration)
    let client = NetworkClient(baseURL: server.baseURL, transport: transport)
    try await client.send(.get("a"))
    #expect(storage.cookies?.count == 1)
    await client.reset()
    try await client.send(.get("a"))
    #expect(server.requests.map { $0.headers["Cookie"] } == [nil, nil])
  }

  @Test func `a page that depends on the platform's cookies is not used for another user`() async throws {
    let server = try LoopbackServer { request in
      let user = request.headers["Cookie"] ?? "nobody"
      return LoopbackResponse.text(user).header("Cache-Control", "max-age=60").header("Vary", "Cookie")
        .header("Set-Cookie", "user=\(request.target.dropFirst()); Path=/")
    }
    let client = NetworkClient(
      baseURL: server.baseURL, behaviors: [.caching(MemoryCacheStore())],
      transport: URLSessionTransport(configuration: .init(handlesCookies: true)))
    var pages: [String] = []
    for path in ["ann", "ann", "bob", "ann"] {
      pages.append(try await client.send(Request<String>.get("\(path)")))
    }
    #expect(pages == ["nobody", "user=ann", "user=ann", "user=bob"])
  }
}

#if canImport(FoundationNetworking)
  /// A cookie whose date of expiry comes when a test says so.
  private final class AgingCookie: HTTPCookie, @unchecked Sendable {
    let expiry = Box<Date>(.distantFuture)

    override var expiresDate: Date? { expiry.value }
  }
#endif
