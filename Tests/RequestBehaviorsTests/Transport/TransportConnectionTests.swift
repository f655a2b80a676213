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

@Suite(.limited) struct TransportConnectionTests {
  @Test func `consecutive sends share a connection`() async throws {
    let server = try LoopbackServer { .text($0.text) }
    let transport = URLSessionTransport()
    for number in 0..<20 {
      let body: RequestBody? = number % 2 == 0 ? nil : .data(Data("\(number)".utf8))
      _ = try await transport.send(server.request(body == nil ? .get : .post, body: body))
    }
    #expect(server.connectionCount == 1)
  }

  @Test func `concurrent sends are not limited by the platform's default number of connections`() async throws {
    let gate = LoopbackGate()
    let server = try LoopbackServer { _ in .status(200).held(by: gate) }
    let transport = URLSessionTransport()
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<40 { group.addTask { try await transport.send(server.request()).statusCode } }
      await gate.waitForArrivals(40)
      gate.open()
      for try await status in group { #expect(status == 200) }
    }
  }

  @Test func `the limit on connections can be set`() async throws {
    let gate = LoopbackGate()
    let server = try LoopbackServer { _ in .status(200).held(by: gate) }
    let transport = URLSessionTransport(configuration: .init(maximumConnectionsPerHost: 2))
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<10 { group.addTask { try await transport.send(server.request()).statusCode } }
      await gate.waitForArrivals(2)
      gate.open()
      for try await status in group { #expect(status == 200) }
    }
    #expect(server.connectionCount <= 2)
  }

  // Apple's URLSession may use fewer than it is told ("httpMaximumConnectionsPerHost").
  @Test(.enabled(if: isLinux))
  func `the default limit is 128 connections to a host, and further sends wait for one`() async throws {
    let gate = LoopbackGate()
    let server = try LoopbackServer { _ in .status(200).held(by: gate) }
    let transport = URLSessionTransport()
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<140 { group.addTask { try await transport.send(server.request()).statusCode } }
      await gate.waitForArrivals(128)
      #expect(server.connectionCount == 128)
      gate.open()
      for try await status in group { #expect(status == 200) }
    }
    #expect(server.connectionCount == 128)
  }

  @Test func `a send that was answered with a challenge is over for the platform too`() async throws {
    let server = try LoopbackServer { _ in .text("hello") }
    server.enqueue(.text("who?", status: 401).header("WWW-Authenticate", "Basic realm=\"x\""))
    let transport = URLSessionTransport(configuration: .init(maximumConnectionsPerHost: 1))
    let findCall = try await challengedCall(server, transport)
    // The platform does one thing after the other: what the first of these begins, the second finds done.
    for _ in 1...2 { #expect(try await transport.send(server.request()).text == "hello") }
    #expect(findCall() == nil)
    #expect(server.connectionCount == 1)
  }

  /// Has a send answered with a challenge, and returns what finds its call if it is still there.
  private func challengedCall(
    _ server: LoopbackServer, _ transport: URLSessionTransport
  ) async throws -> () -> Call? {
    var options = RequestOptions()
    options.idleTimeout = nil
    let call = Call(options: options)
    let request = NetworkRequest(url: server.baseURL, options: options, call: call)
    #expect(try await transport.send(request).statusCode == 401)
    return { [weak call] in call }
  }

  @Test func `the platform keeps no responses, credentials or cookies`() {
    let configuration = URLSessionTransport.Configuration(maximumConnectionsPerHost: 0).makePlatformConfiguration()
    // With a cache, cancelling a task ends the process on Linux.
    #expect(configuration.urlCache == nil)
    #expect(configuration.urlCredentialStorage == nil)
    #expect(configuration.httpCookieStorage == nil)
    #expect(configuration.httpCookieAcceptPolicy == .never)
    #expect(!configuration.httpShouldSetCookies)
    #expect(configuration.httpMaximumConnectionsPerHost == 1)
  }

  @Test func `the platform's settings can be changed, and the transport's own are set after that`() {
    let configuration = URLSessionTransport.Configuration(maximumConnectionsPerHost: 3) { platform in
      platform.allowsCellularAccess = false
      platform.httpAdditionalHeaders = ["Authorization": "x"]
      platform.httpMaximumConnectionsPerHost = 1
      platform.urlCache = URLCache.shared
      platform.urlCredentialStorage = .shared
      platform.httpShouldSetCookies = true
      platform.timeoutIntervalForRequest = 1
      platform.timeoutIntervalForResource = 1
    }
    let made = configuration.makePlatformConfiguration()
    #expect(!made.allowsCellularAccess)
    #expect(made.httpAdditionalHeaders == nil)
    #expect(made.urlCache == nil)
    #expect(made.urlCredentialStorage == nil)
    #expect(made.httpMaximumConnectionsPerHost == 3)
    #expect(!made.httpShouldSetCookies)
    #expect(made.timeoutIntervalForRequest > 1_000_000)
    #expect(made.timeoutIntervalForResource > 1_000_000)
  }

  @Test func `a custom protocol class responds in place of the network`() async throws {
    let transport = URLSessionTransport(configuration: .init { $0.protocolClasses = [AnsweringProtocol.self] })
    let response = try await transport.send(NetworkRequest(url: baseURL))
    #expect(response.statusCode == 203)
    #expect(try response.text == "answered")
  }

  @Test func `connections are closed when the transport goes`() async throws {
    let server = try LoopbackServer { _ in .status(200) }
    var transport: URLSessionTransport? = URLSessionTransport()
    let isReleased = { [weak transport] in transport == nil }
    _ = try await transport?.send(server.request())
    #expect(server.openConnectionCount == 1)
    transport = nil
    #expect(isReleased())
    await server.waitForConnections(atMost: 0)
  }

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

  @Test func `a compressed body is decoded, and its header fields are left`() async throws {
    let compressed = Data(base64Encoded: "H4sIAAAAAAACA0tMHAWjYBSMgqEBACs6PfuwBAAA") ?? Data()
    let server = try LoopbackServer { _ in .data(compressed).header("Content-Encoding", "gzip") }
    let response = try await URLSessionTransport().send(server.request())
    #expect(try response.data == Data(repeating: UInt8(ascii: "a"), count: 1_200))
    #expect(response.headers["Content-Encoding"] == "gzip")
    #expect(response.headers["Content-Length"] == "\(compressed.count)")
  }

  @Test func `a scheme in capitals is understood`() async throws {
    let server = try LoopbackServer { _ in .status(204) }
    let url = try #require(URL(string: "HTTP://127.0.0.1:\(server.port)/a?b#c"))
    #expect(try await URLSessionTransport().send(NetworkRequest(url: url)).statusCode == 204)
    #expect(server.requests.first?.target == "/a?b")
  }
}

/// Answers every request by itself.
private final class AnsweringProtocol: URLProtocol {
  override class func canInit(with request: URLRequest) -> Bool { true }

  override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

  override func startLoading() {
    guard let url = request.url, let client,
      let response = HTTPURLResponse(url: url, statusCode: 203, httpVersion: nil, headerFields: ["X": "y"])
    else { return }
    client.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
    client.urlProtocol(self, didLoad: Data("answered".utf8))
    client.urlProtocolDidFinishLoading(self)
  }

  override func stopLoading() {}
}
