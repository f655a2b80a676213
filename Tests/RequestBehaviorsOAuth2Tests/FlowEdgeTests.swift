import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth2
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Sign-ins beside shutdowns, cancellations, retries, hedges, and other sessions over the same store.
@Suite(.limited) struct FlowEdgeTests {
  private let fixture = OAuth2Fixture()
  private static let codes =
    #"{"device_code":"D","user_code":"W","verification_uri":"https://id.example/d","interval":7}"#

  // MARK: - Dates

  @Test func `a sign-in and a device code that began without a date can be described`() async throws {
    var configuration = RequestConfiguration(baseURL: fixture.mock.baseURL)
    configuration.clock = RequestClock(
      now: { .zero }, date: { Date(timeIntervalSince1970: .nan) }, sleep: { _ in })
    let client = NetworkClient(configuration: configuration, transport: fixture.mock)
    let flow = OAuth2Flow(
      session: fixture.session, endpoint: fixture.endpoint(), redirectURI: OAuth2Fixture.redirect, over: client)
    #expect("\(try await flow.begin())" == "sign-in at id.example since no date")
    fixture.mock.on(.post, "device").respond(200, jsonText: Self.codes)
    let device = OAuth2DeviceFlow(session: fixture.session, endpoint: fixture.endpoint(), over: client)
    #expect("\(try await device.begin())" == "device sign-in at id.example, expires no date")
  }

  // MARK: - Shutdown

  @Test func `a shutdown ends the wait of a device at once`() async throws {
    fixture.mock.on(.post, "device").respond(200, jsonText: Self.codes)
    let device = fixture.device
    let task = Task { await errorCode { try await device.signIn { _ in } } }
    await fixture.clock.waitForSleepers(1)
    await fixture.client.shutdown()
    #expect(await task.value == .clientShutDown)
    #expect(fixture.mock.sent.count == 1)
  }

  @Test func `a shutdown before the wait of a device begins no wait`() async throws {
    fixture.mock.on(.post, "device").respond(200, jsonText: Self.codes)
    let device = fixture.device
    let codes = try await device.begin()
    await fixture.client.shutdown()
    #expect(await errorCode { try await device.finish(codes) } == .clientShutDown)
  }

  @Test func `a code that arrives after a shutdown can be exchanged by another client`() async throws {
    let flow = fixture.flow()
    let signIn = try await flow.begin()
    let found = callback(to: signIn.url, "code=abc")
    await fixture.client.shutdown()
    #expect(await errorCode { try await flow.finish(signIn, callback: found) } == .clientShutDown)
    let mock = MockTransport(baseURL: url("https://id.example/"))
    mock.on(.post, "token").respond(200, jsonText: OAuth2Fixture.token)
    let later = OAuth2Flow(
      session: fixture.session, endpoint: fixture.endpoint(), redirectURI: OAuth2Fixture.redirect,
      over: NetworkClient(configuration: fixture.client.configuration, transport: mock))
    try await later.finish(try restored(signIn), callback: found)
    #expect(try await fixture.isSignedIn)
  }

  private func restored(_ signIn: OAuth2SignIn) throws -> OAuth2SignIn {
    try JSONDecoder().decode(OAuth2SignIn.self, from: JSONEncoder().encode(signIn))
  }

  // MARK: - Retries and hedges

  private enum Request: String, CaseIterable {
    case code
    case device
    case refresh
    case assertion
  }

  /// Sends the request over a client that repeats and hedges as much as it can; returns the code of the error.
  private func send(_ request: Request, _ behaviors: [any RequestBehavior]) async throws -> NetworkError.Code? {
    var configuration = RequestConfiguration(baseURL: fixture.mock.baseURL, behaviors: behaviors)
    configuration.clock = .immediate
    configuration.options.idempotencyKey = .generated
    let client = NetworkClient(configuration: configuration, transport: fixture.mock)
    let endpoint = fixture.endpoint()
    switch request {
    case .code:
      let flow = OAuth2Flow(
        session: fixture.session, endpoint: endpoint, redirectURI: OAuth2Fixture.redirect, over: client)
      return await errorCode { try await flow.signIn { callback(to: $0, "code=abc") } }
    case .device:
      let flow = OAuth2DeviceFlow(session: fixture.session, endpoint: endpoint, over: client)
      return await errorCode { try await flow.signIn { _ in } }
    case .refresh:
      try await fixture.session.signIn(
        AccessToken("old", expiresAt: Date(timeIntervalSince1970: 0), refreshToken: "R"))
      return await errorCode {
        try await client.with { $0.behaviors.append(.tokenAuth(fixture.session)) }.send(.get("orders"))
      }
    case .assertion:
      let session = TokenSession(
        source: .jwtBearer(endpoint, key: signer(), issuer: "robot"), clock: fixture.clock.requestClock)
      return await errorCode {
        try await client.with { $0.behaviors.append(.tokenAuth(session)) }.send(.get("orders"))
      }
    }
  }

  @Test(arguments: [429, 421, 503, 408], [Request.code, .refresh, .assertion])
  private func `a secret for one use is sent once, whatever the client repeats`(
    status: Int, request: Request
  ) async throws {
    fixture.mock.on(.post, "token").respond(
      status, headers: ["Retry-After": "100", "x-should-retry": "true"])
    let behaviors: [any RequestBehavior] = [
      .hedging(after: .zero), .retry(decider: { _ in .retry(after: .zero) }),
    ]
    #expect(try await send(request, behaviors) != nil)
    #expect(fixture.mock.sent.count == 1)
  }

  @Test func `caches distinguish assertions for other scopes or another audience`() {
    func digest(_ audience: String? = nil, _ scopes: [String] = []) -> String? {
      let source = JWTBearerGrant(
        fixture.endpoint(), key: signer(), issuer: "robot", audience: audience, scopes: scopes)
      return TokenAuthBehavior(TokenSession(source: source)).credentialDigest(salt: Data())
    }
    let digests = [digest(), digest("a"), digest("b"), digest(nil, ["a"]), digest("a", ["a"])]
    #expect(digests[0] == nil)
    #expect(Set(digests).count == 5)
    #expect(digest("a", ["a"]) == digests[4])
  }

  @Test func `a device flow polls again by itself, without retries of the client`() async throws {
    fixture.mock.on(.post, "device").respond(200, jsonText: Self.codes)
    fixture.mock.on(.post, "token").respond(429).times(3)
    fixture.respond()
    #expect(try await send(.device, [.retry()]) == nil)
    let attempts = fixture.mock.sent.dropFirst().map(\.attemptNumber)
    #expect(attempts == [1, 1, 1, 1])
  }

  @Test func `a secret for one use that provably was not sent is sent again`() async throws {
    fixture.mock.on(.post, "token").fail(.cannotConnect).times(1)
    fixture.respond()
    #expect(try await send(.code, [.retry()]) == nil)
    #expect(fixture.mock.sent.count == 2)
  }

  @Test func `client credentials may be requested again`() async throws {
    fixture.mock.on(.post, "token").respond(429).times(1)
    fixture.respond()
    fixture.mock.on(.get, "orders").respond(200)
    let session = TokenSession(
      source: .clientCredentials(fixture.endpoint()), clock: fixture.clock.requestClock)
    var configuration = RequestConfiguration(
      baseURL: fixture.mock.baseURL, behaviors: [.retry(), .tokenAuth(session)])
    configuration.clock = .immediate
    try await NetworkClient(configuration: configuration, transport: fixture.mock).send(.get("orders"))
    #expect(fixture.mock.sent.count == 3)
  }

  // MARK: - Redirects

  @Test(arguments: ["device", "push", "token", "revoke"])
  func `a redirect of an endpoint is not followed, and signs no user in or out`(path: String) async throws {
    let fixture = OAuth2Fixture(requiresPush: path == "push")
    try await fixture.session.signIn(AccessToken("old", refreshToken: "R"))
    fixture.mock.on(.post, path).respond(
      307, headers: ["Location": "https://evil.example/", "Content-Type": "application/json"],
      body: Data(#"{"error":"invalid_grant","access_token":"A"}"#.utf8))
    let code = await errorCode {
      switch path {
      case "device": _ = try await fixture.device.begin()
      case "revoke": try await fixture.endpoint().revoke(AccessToken("x", refreshToken: "y"), over: fixture.client)
      default: try await fixture.flow().signIn { callback(to: $0, "code=abc") }
      }
    }
    #expect(code != nil)
    #expect(fixture.mock.sent.count == 1)
    #expect(try await fixture.store.load()?.value == "old")
  }

  // MARK: - Other sessions and other sign-ins

  @Test func `sessions over one store exchange a code once`() async throws {
    fixture.respond()
    let signIn = try await fixture.flow().begin()
    let found = callback(to: signIn.url, "code=abc")
    try await fixture.flow().finish(signIn, callback: found)
    let other = TokenSession(
      source: .refreshToken(fixture.endpoint()), store: fixture.store, clock: fixture.clock.requestClock)
    let flow = OAuth2Flow(
      session: other, endpoint: fixture.endpoint(), redirectURI: OAuth2Fixture.redirect, over: fixture.client)
    #expect(await errorCode { try await flow.finish(signIn, callback: found) } == .oauth2AlreadyFinished)
    #expect(fixture.mock.sent.count == 1)
  }

  @Test func `of two concurrent sign-ins the first to finish succeeds, and the other fails with signedOut`()
    async throws
  {
    let gate = TestGate()
    fixture.mock.on(.post, "token").respond { request in
      await gate.pass()
      let value = try request.form["code"] ?? ""
      return NetworkResponse(
        request: request, statusCode: 200, headers: ["Content-Type": "application/json"],
        body: .data(Data(#"{"access_token":"\#(value)"}"#.utf8)))
    }
    let flow = fixture.flow()
    let tasks = ["one", "two"].map { code in
      Task { await errorCode { try await flow.signIn { callback(to: $0, "code=\(code)") } } }
    }
    await gate.waitForArrivals(2)
    gate.open()
    let codes = [await tasks[0].value, await tasks[1].value]
    #expect(codes.count { $0 == nil } == 1)
    #expect(codes.count { $0 == .signedOut } == 1)
    #expect(try await fixture.store.load()?.value == (codes[0] == nil ? "one" : "two"))
  }

  // MARK: - Tokens that no session takes

  @Test(arguments: [true, false])
  func `a token whose ID token breaks a rule is revoked, unless a user is signed in`(isSignedIn: Bool) async throws {
    if isSignedIn { try await fixture.session.signIn(AccessToken("old")) }
    fixture.respond(200, #"{"access_token":"A","refresh_token":"R","id_token":"x.y.z"}"#)
    fixture.mock.on(.post, "revoke").respond(200).optional()
    let flow = fixture.flow(scopes: ["openid"])
    #expect(await errorCode { try await flow.signIn { callback(to: $0, "code=abc") } } == .oauth2InvalidResponse)
    #expect(fixture.mock.sent.count == (isSignedIn ? 1 : 2))
    #expect(try await fixture.store.load()?.value == (isSignedIn ? "old" : nil))
    if !isSignedIn { #expect(try fixture.mock.sent.last?.form.items.first?.value == "R") }
  }

  // MARK: - Cancellation

  @Test func `a sign-in that is cancelled while its token is stored is complete`() async throws {
    let store = SlowStore()
    let session = TokenSession(source: .refreshToken(fixture.endpoint()), store: store)
    fixture.respond()
    let flow = OAuth2Flow(
      session: session, endpoint: fixture.endpoint(), redirectURI: OAuth2Fixture.redirect, over: fixture.client)
    let task = Task { try await flow.signIn { callback(to: $0, "code=abc") } }
    await store.gate.waitForArrivals(1)
    task.cancel()
    store.gate.open()
    #expect(try await task.value.token.value == "A")
    #expect(try await store.base.load()?.value == "A")
  }

  @Test(arguments: ["device", "push", "revoke"])
  func `a cancellation ends each request at once`(path: String) async throws {
    let fixture = OAuth2Fixture(requiresPush: true)
    fixture.mock.on(.post, path).respond(200).delayed(by: .seconds(60))
    let task = Task {
      switch path {
      case "device": _ = try await fixture.device.begin()
      case "revoke": try await fixture.endpoint().revoke(AccessToken("x"), over: fixture.client)
      default: _ = try await fixture.flow().begin()
      }
    }
    _ = await fixture.mock.waitForRequests(1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test func `a sign-out whose revocation is cancelled still signs out`() async throws {
    try await fixture.session.signIn(AccessToken("old", refreshToken: "R"))
    fixture.mock.on(.post, "revoke").respond(200).delayed(by: .seconds(60))
    let (session, endpoint, client) = (fixture.session, fixture.endpoint(), fixture.client)
    let task = Task { try await session.signOut { try await endpoint.revoke($0, over: client) } }
    _ = await fixture.mock.waitForRequests(1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await fixture.store.load() == nil)
  }

  // MARK: - Stored codes that others have written

  @Test(arguments: [
    ("interval", "1e300"), ("interval", "-1e300"), ("interval", "0"), ("lifetime", "1e300"), ("lifetime", "-1e300"),
    ("expiresAt", "1e300"), ("expiresAt", "-1e300"),
  ])
  func `invalid numbers of a device code do not trap`(name: String, number: String) async throws {
    fixture.mock.on(.post, "device").respond(200, jsonText: Self.codes)
    let codes = try await fixture.device.begin()
    var object = try #require(
      try JSONSerialization.jsonObject(with: JSONEncoder().encode(codes)) as? [String: Any])
    #expect(object[name] != nil)
    object[name] = Double(number)
    let changed = try JSONDecoder().decode(
      OAuth2DeviceCode.self, from: JSONSerialization.data(withJSONObject: object))
    fixture.respond()
    let device = fixture.device
    let code = try await fixture.clock.run { await errorCode { try await device.finish(changed) } }
    #expect([nil, .oauth2Expired].contains(code))
  }
}

/// A store that saves when a gate opens.
private final class SlowStore: TokenStore {
  let base = InMemoryTokenStore()
  let gate = TestGate()

  func load() async throws -> AccessToken? { try await base.load() }

  func save(_ token: AccessToken?) async throws {
    await gate.pass()
    try await base.save(token)
  }
}
