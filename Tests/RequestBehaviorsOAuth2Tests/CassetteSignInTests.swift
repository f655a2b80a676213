import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth2
import RequestBehaviorsTesting
import Testing

/// Sign-ins that a cassette has recorded once: each run sends other codes, verifiers, states, assertions and proofs.
@Suite(.limited) struct CassetteSignInTests {
  private let fixture = OAuth2Fixture()
  private let folder = URL.temporaryDirectory.appending(path: "sign-ins-\(UUID().uuidString)")

  private func cassette(_ mode: CassetteMode) throws -> CassetteTransport {
    try CassetteMode.$environment.withValue([:]) {
      try CassetteTransport("tape", mode: mode, over: fixture.mock, directory: folder.path(percentEncoded: false))
    }
  }

  private func client(_ transport: any Transport) -> NetworkClient {
    var configuration = fixture.client.configuration
    configuration.clock = .immediate
    return NetworkClient(configuration: configuration, transport: transport)
  }

  /// Does the same with a server that is recorded, and then from the file.
  private func check(_ use: (NetworkClient) async throws -> Void) async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let recording = try cassette(.recordAll)
    try await use(client(recording))
    try recording.save()
    await recording.shutdown()
    let playing = try cassette(.replay)
    try await use(client(playing))
    try playing.verify()
  }

  private func respond(_ token: String) {
    fixture.mock.on(.post, "push").respond(201, jsonText: #"{"request_uri":"urn:x:1","expires_in":60}"#).optional()
    fixture.mock.on(.post, "token").respond(jsonText: token)
    fixture.mock.on(.post, "revoke").respond(200).optional()
    fixture.mock.on(.get, "orders").respond(200, jsonText: "[1]").optional()
  }

  @Test(arguments: [ClientAuthentication.none, .basic("secret"), .post("secret"), .privateKeyJWT(signer())])
  func `a sign-in by code, a refresh and a sign-out are played`(client kind: ClientAuthentication) async throws {
    respond(#"{"access_token":"A","token_type":"DPoP","refresh_token":"R","expires_in":3600}"#)
    try await check { client in
      let dpop = try DPoPKey(signer())
      let endpoint = fixture.endpoint(kind, dpop: dpop)
      let session = TokenSession(source: .refreshToken(endpoint), clock: fixture.clock.requestClock)
      let flow = OAuth2Flow(
        session: session, endpoint: endpoint, redirectURI: OAuth2Fixture.redirect, scopes: ["a"], over: client)
      try await flow.signIn { callback(to: $0, "code=\(UUID())") }
      let signedIn = client.with { $0.behaviors += [.tokenAuth(session), .dpop(dpop)] }
      #expect(try await signedIn.send(Request<[Int]>.get("orders")) == [1])
      fixture.clock.advance(by: .seconds(7_200))
      #expect(try await signedIn.send(Request<[Int]>.get("orders")) == [1])
      try await session.signOut { try await endpoint.revoke($0, over: client) }
    }
  }

  @Test func `a pushed sign-in is played`() async throws {
    respond(OAuth2Fixture.token)
    var fixture = fixture
    fixture.server.requiresPush = true
    try await check { client in
      let session = TokenSession(source: .refreshToken(fixture.endpoint()), clock: .immediate)
      let flow = OAuth2Flow(
        session: session, endpoint: fixture.endpoint(), redirectURI: OAuth2Fixture.redirect, over: client)
      let signIn = try await flow.begin()
      #expect(items(of: signIn.url).map(\.0) == ["client_id", "request_uri"])
    }
  }

  @Test func `a sign-in on another device is played with its polls`() async throws {
    fixture.mock.on(.post, "device").respond(
      200, jsonText: #"{"device_code":"D","user_code":"U","verification_uri":"https://id.example/d","interval":1}"#)
    fixture.mock.on(.post, "token").respond(400, jsonText: #"{"error":"authorization_pending"}"#).times(2)
    fixture.mock.on(.post, "token").respond(jsonText: OAuth2Fixture.token).times(1)
    try await check { client in
      let session = TokenSession(source: .refreshToken(fixture.endpoint()), clock: .immediate)
      let flow = OAuth2DeviceFlow(session: session, endpoint: fixture.endpoint(), over: client)
      try await flow.signIn { _ in }
      #expect(try await session.isSignedIn())
    }
  }

  @Test func `a service's assertions are played`() async throws {
    respond(#"{"access_token":"A","token_type":"Bearer","expires_in":3600}"#)
    try await check { client in
      let source: any TokenSource = .jwtBearer(fixture.endpoint(), key: signer(), issuer: "robot")
      let session = TokenSession(source: source, clock: fixture.clock.requestClock)
      let signedIn = client.with { $0.behaviors.append(.tokenAuth(session)) }
      let orders = try await signedIn.send(Request<[Int]>.get("orders"))
      #expect(orders == [1])
    }
  }
}
