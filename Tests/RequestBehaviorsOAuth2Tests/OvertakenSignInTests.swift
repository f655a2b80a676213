import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth2
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Sign-ins that the user has overtaken, by signing out or in, while the server was asked.
@Suite(.limited) struct OvertakenSignInTests {
  private let fixture = OAuth2Fixture()
  private let gate = TestGate()

  init() {
    let gate = gate
    fixture.mock.on(.post, "revoke").respond(200).optional()
    fixture.mock.on(.post, "token").respond { request in
      await gate.pass()
      return NetworkResponse(
        request: request, statusCode: 200, headers: ["Content-Type": "application/json"],
        body: .data(Data(OAuth2Fixture.token.utf8)))
    }
  }

  /// Changes the session while a code is exchanged, and returns the code of the sign-in's error.
  private func finish(_ change: () async throws -> Void) async throws -> NetworkError.Code? {
    let flow = fixture.flow()
    let task = Task { await errorCode { try await flow.signIn { callback(to: $0, "code=abc") } } }
    await gate.waitForArrivals(1)
    try await change()
    gate.open()
    return await task.value
  }

  @Test func `a sign-out during the exchange is not undone, and the token is revoked`() async throws {
    try await fixture.session.signIn(AccessToken("old"))
    #expect(try await finish { try await fixture.session.signOut() } == .signedOut)
    #expect(try await fixture.isSignedIn == false)
    #expect(try await fixture.store.load() == nil)
    #expect(try fixture.mock.sent.last?.form.items.first?.value == "R")
  }

  @Test func `a sign-out while the page is open does not end the sign-in`() async throws {
    try await fixture.session.signIn(AccessToken("old"))
    gate.open()
    try await fixture.flow().signIn { [session = fixture.session] page in
      try await session.signOut()
      return callback(to: page, "code=abc")
    }
    #expect(try await fixture.isSignedIn)
  }

  @Test func `another sign-in during the exchange is not undone`() async throws {
    #expect(try await finish { try await fixture.session.signIn(AccessToken("other")) } == .signedOut)
    #expect(try await fixture.store.load()?.value == "other")
    // Some servers revoke all tokens of a user and a client.
    #expect(fixture.mock.sent.count == 1)
  }

  @Test func `a sign-in of another process that the session has seen is not undone`() async throws {
    fixture.mock.on(.get, "orders").respond(200)
    let client = fixture.client.with { $0.behaviors.append(.tokenAuth(fixture.session)) }
    try await fixture.session.signIn(AccessToken("old", expiresAt: fixture.clock.date.addingTimeInterval(-1)))
    let code = try await finish {
      try await fixture.store.save(AccessToken("other", lifetime: .seconds(3_600)))
      // The session finds it as it wants to refresh its own.
      _ = try? await client.send(.get("orders"))
      #expect(try await fixture.store.load()?.value == "other")
    }
    #expect(code == .signedOut)
    #expect(try await fixture.store.load()?.value == "other")
  }

  @Test func `an older sign-out of another process does not end a sign-in that learns of it`() async throws {
    fixture.mock.on(.get, "orders").respond(200).optional()
    let client = fixture.client.with { $0.behaviors.append(.tokenAuth(fixture.session)) }
    try await fixture.session.signIn(AccessToken("old", expiresAt: fixture.clock.date.addingTimeInterval(-1)))
    try await fixture.store.save(nil)
    let code = try await finish {
      // The session reads the store as it wants to refresh its own token.
      let orders = await errorCode { try await client.send(.get("orders")) }
      #expect([.notSignedIn, .signedOut].contains(orders))
    }
    #expect(code == nil)
    #expect(try await fixture.store.load()?.value == "A")
  }

  @Test func `an older sign-out of another process does not end a sign-in on another device`() async throws {
    fixture.mock.on(.post, "device").respond(
      200, jsonText: #"{"device_code":"D","user_code":"U","verification_uri":"https://id.example/d","expires_in":600}"#)
    fixture.mock.on(.get, "orders").respond(200).optional()
    let client = fixture.client.with { $0.behaviors.append(.tokenAuth(fixture.session)) }
    try await fixture.session.signIn(AccessToken("old", expiresAt: fixture.clock.date.addingTimeInterval(-1)))
    try await fixture.store.save(nil)
    gate.open()
    let task = Task { [device = fixture.device] in try await device.signIn { _ in } }
    await fixture.clock.waitForSleepers(1)
    _ = await errorCode { try await client.send(.get("orders")) }
    fixture.clock.advance(by: .seconds(5))
    #expect(try await task.value.token.value == "A")
  }

  @Test func `a cancelled sign-in does not wait for a store that stalls`() async throws {
    let store = StalledStore()
    let endpoint = fixture.endpoint()
    let session = TokenSession(source: .refreshToken(endpoint), store: store, clock: fixture.clock.requestClock)
    let flow = OAuth2Flow(
      session: session, endpoint: endpoint, redirectURI: OAuth2Fixture.redirect, over: fixture.client)
    let task = Task { try await flow.signIn { callback(to: $0, "code=abc") } }
    await store.gate.waitForArrivals(1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(fixture.mock.sent.isEmpty)
    store.gate.open()
  }

  @Test func `a server without revocation does not get a revocation request`() async throws {
    var fixture = fixture
    fixture.server.revoke = nil
    let flow = fixture.flow()
    let task = Task { await errorCode { try await flow.signIn { callback(to: $0, "code=abc") } } }
    await gate.waitForArrivals(1)
    try await fixture.session.signOut()
    gate.open()
    #expect(await task.value == .signedOut)
    #expect(fixture.mock.sent.count == 1)
  }

  @Test func `a sign-in succeeds although the server ends the session during the exchange`() async throws {
    try await fixture.session.signIn(AccessToken("old"))
    fixture.mock.on(.get, "orders").respond(401)
    let client = fixture.client.with { $0.behaviors.append(.tokenAuth(fixture.session)) }
    let code = try await finish {
      _ = await errorCode { try await client.send(.get("orders")) }
      let isSignedIn = try await fixture.isSignedIn
      #expect(isSignedIn == false)
    }
    #expect(code == nil)
    #expect(try await fixture.store.load()?.value == "A")
  }

  @Test func `a sign-out while a device waits is not undone, and the token is revoked`() async throws {
    fixture.mock.on(.post, "device").respond(
      200,
      jsonText: #"{"device_code":"D","user_code":"W","verification_uri":"https://id.example/d","interval":7}"#)
    let device = fixture.device
    let task = Task { await errorCode { try await device.signIn { _ in } } }
    await fixture.clock.waitForSleepers(1)
    try await fixture.session.signOut()
    fixture.clock.advance(by: .seconds(7))
    gate.open()
    #expect(await task.value == .signedOut)
    #expect(try await fixture.isSignedIn == false)
    #expect(try fixture.mock.sent.last?.form.items.first?.value == "R")
  }
}

/// Sign-ins that a flow of another client or server is to finish.
@Suite(.limited) struct ForeignSignInTests {
  private let fixture = OAuth2Fixture()

  private func secretFlow(_ server: OAuth2Server, clientID: String) -> OAuth2Flow {
    OAuth2Flow(
      session: fixture.session,
      endpoint: TokenEndpoint(server, clientID: clientID, authentication: .post("the secret of another client")),
      redirectURI: OAuth2Fixture.redirect, over: fixture.client)
  }

  @Test func `a sign-in for another token endpoint is refused, and no secret is sent`() async throws {
    let signIn = try await fixture.flow().begin()
    var other = fixture.server
    other.token = url("https://other.example/token")
    let flow = secretFlow(other, clientID: "shop-ios")
    let code = await errorCode { try await flow.finish(signIn, callback: callback(to: signIn.url, "code=abc")) }
    #expect(code == .oauth2InvalidServer)
    #expect(fixture.mock.sent.isEmpty)
  }

  @Test func `a sign-in of another client is refused, and its own flow can still finish it`() async throws {
    let signIn = try await fixture.flow().begin()
    let found = callback(to: signIn.url, "code=abc")
    let flow = secretFlow(fixture.server, clientID: "shop-server")
    #expect(await errorCode { try await flow.finish(signIn, callback: found) } == .oauth2InvalidServer)
    #expect(fixture.mock.sent.isEmpty)
    fixture.respond()
    try await fixture.flow().finish(signIn, callback: found)
    #expect(try await fixture.isSignedIn)
  }

  @Test(arguments: ["shop-server", "shop-ios"])
  func `a device code of another client or server is refused`(clientID: String) async throws {
    fixture.mock.on(.post, "device").respond(
      200, jsonText: #"{"device_code":"D","user_code":"W","verification_uri":"https://id.example/d"}"#)
    let code = try await fixture.device.begin()
    var server = fixture.server
    if clientID == "shop-ios" { server.token = url("https://other.example/token") }
    let flow = OAuth2DeviceFlow(
      session: fixture.session,
      endpoint: TokenEndpoint(server, clientID: clientID, authentication: .post("the secret of another client")),
      over: fixture.client)
    #expect(await errorCode { try await flow.finish(code) } == .oauth2InvalidServer)
    #expect(fixture.mock.sent.count == 1)
  }
}

/// Codes that never left.
@Suite(.limited) struct UnsentCodeTests {
  private let fixture = OAuth2Fixture()
  private let isBroken = Locked(true)

  /// A key whose closure fails until it is mended.
  private func key(_ error: any Error) -> SigningKey {
    SigningKey("ES256") { [isBroken] _ in
      if isBroken.withLock({ $0 }) { throw error }
      return [UInt8](repeating: 7, count: 64)
    }
  }

  private func codes(_ error: any Error) async throws -> (first: NetworkError.Code?, sent: Int) {
    let flow = fixture.flow(authentication: .privateKeyJWT(key(error)))
    let signIn = try await flow.begin()
    let found = callback(to: signIn.url, "code=abc")
    let first = await errorCode { try await flow.finish(signIn, callback: found) }
    let sent = fixture.mock.sent.count
    isBroken.withLock { $0 = false }
    fixture.respond()
    try await flow.finish(signIn, callback: found)
    return (first, sent)
  }

  @Test func `a code whose assertion could not be signed can be exchanged again`() async throws {
    let codes = try await codes(CocoaError(.userCancelled))
    #expect(codes.first == .oauth2SigningFailed)
    #expect(codes.sent == 0)
    #expect(try await fixture.isSignedIn)
  }

  @Test func `a code whose exchange was cancelled before it was sent can be exchanged again`() async throws {
    let codes = try await codes(CancellationError())
    #expect(codes.first == nil)
    #expect(codes.sent == 0)
    #expect(try await fixture.isSignedIn)
  }

  @Test func `a code whose exchange was cancelled after it was sent is used`() async throws {
    let gate = TestGate()
    fixture.mock.on(.post, "token").respond { _ in
      gate.arrive()
      // Until the request is cancelled.
      try await Waiter<Void>().value()
      throw CancellationError()
    }
    let flow = fixture.flow()
    let signIn = try await flow.begin()
    let found = callback(to: signIn.url, "code=abc")
    let task = Task { try await flow.finish(signIn, callback: found) }
    await gate.waitForArrivals(1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(await errorCode { try await flow.finish(signIn, callback: found) } == .oauth2AlreadyFinished)
  }
}

/// A store that does not respond until its gate opens.
private final class StalledStore: TokenStore {
  let gate = TestGate()

  func load() async -> AccessToken? {
    await gate.pass()
    return nil
  }

  func save(_ token: AccessToken?) async { await gate.pass() }
}
