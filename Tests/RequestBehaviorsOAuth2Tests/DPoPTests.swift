import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth2
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Tokens that are bound to a key (RFC 9449).
@Suite(.limited) struct DPoPTests {
  private let fixture = OAuth2Fixture()
  private let key: DPoPKey
  private static let token = #"{"access_token":"A","token_type":"DPoP","refresh_token":"R"}"#

  init() throws { key = try DPoPKey(signer()) }

  private var session: TokenSession {
    TokenSession(
      source: .refreshToken(fixture.endpoint(dpop: key)), store: fixture.store, clock: fixture.clock.requestClock)
  }

  private func client(_ session: TokenSession, _ behaviors: any RequestBehavior...) -> NetworkClient {
    fixture.client.with { $0.behaviors += [.tokenAuth(session), .dpop(key)] + behaviors }
  }

  private func signedIn() async throws -> TokenSession {
    let session = session
    try await session.signIn(AccessToken("A", type: "DPoP", refreshToken: "R"))
    return session
  }

  private func proof(_ index: Int) -> [String: Any] { part(1, of: fixture.mock.sent[index].headers["DPoP"]) }

  @Test func `the page names the key, and the token is bound to it`() async throws {
    fixture.respond(200, Self.token)
    let flow = fixture.flow(dpop: key)
    let signIn = try await flow.begin()
    #expect(items(of: signIn.url).contains { $0 == ("dpop_jkt", key.thumbprint) })
    let grant = try await flow.finish(signIn, callback: callback(to: signIn.url, "code=abc"))
    #expect(grant.token.type == "DPoP")
    let header = part(0, of: fixture.mock.sent[0].headers["DPoP"])
    #expect(header["typ"] as? String == "dpop+jwt")
    #expect(header["alg"] as? String == "ES256")
    #expect((header["jwk"] as? [String: String])?.keys.sorted() == ["crv", "kty", "x", "y"])
    #expect(proof(0)["htu"] as? String == "https://id.example/token")
    #expect(proof(0)["htm"] as? String == "POST")
    #expect(proof(0)["ath"] == nil)
  }

  @Test func `a bearer token in its place is refused`() async throws {
    fixture.respond(200, #"{"access_token":"A","token_type":"Bearer"}"#)
    let flow = fixture.flow(dpop: key)
    #expect(await errorCode { try await flow.signIn { callback(to: $0, "code=abc") } } == .oauth2InvalidResponse)
  }

  @Test func `a request carries a proof of its own, with the hash of its token`() async throws {
    let client = client(try await signedIn())
    fixture.mock.on(.get, "orders").respond(200).times(2)
    try await client.send(.get("orders", query: ["page": 2]))
    try await client.send(.get("orders"))
    #expect(fixture.mock.sent[0].headers["Authorization"] == "DPoP A")
    #expect(proof(0)["htu"] as? String == "https://id.example/orders")
    let hash = Digest.sha256(of: "A").base64.replacing("+", with: "-").replacing("/", with: "_").replacing(
      "=", with: "")
    #expect(proof(0)["ath"] as? String == hash)
    #expect(proof(0)["jti"] as? String != proof(1)["jti"] as? String)
  }

  @Test func `a request that asks for the credentials of one session carries the proof of its token`() async throws {
    let session = TokenSession(
      name: "anna", source: .refreshToken(fixture.endpoint(dpop: key)), store: fixture.store,
      clock: fixture.clock.requestClock)
    try await session.signIn(AccessToken("A", type: "DPoP", refreshToken: "R"))
    fixture.mock.on(.get, "orders").respond(200)
    try await client(session).send(.get("orders").with(\.authentication, .only("anna")))
    #expect(fixture.mock.sent[0].headers["DPoP"] != nil)
  }

  @Test func `a request without authentication does not get a proof`() async throws {
    fixture.mock.on(.get, "orders").respond(200)
    let request = Request<Void>.get("orders", headers: ["Authorization": "DPoP other"])
    try await client(try await signedIn()).send(request.with(\.authentication, .none))
    #expect(fixture.mock.sent[0].headers["DPoP"] == nil)
  }

  @Test func `a bearer token does not need a proof`() async throws {
    let session = session
    try await session.signIn(AccessToken("A"))
    fixture.mock.on(.get, "orders").respond(200)
    try await client(session).send(.get("orders"))
    #expect(fixture.mock.sent[0].headers["DPoP"] == nil)
  }

  @Test func `a nonce that a resource asks for is sent at once, and the session does not see it`() async throws {
    let session = try await signedIn()
    fixture.mock.on(.get, "orders").respond(
      401, headers: ["WWW-Authenticate": #"DPoP error="use_dpop_nonce""#, "DPoP-Nonce": "n1"]
    ).times(1)
    fixture.mock.on(.get, "orders").respond(200, headers: ["DPoP-Nonce": "n2"]).times(1)
    fixture.mock.on(.get, "orders").respond(200)
    let client = client(session)
    try await client.send(.get("orders"))
    try await client.send(.get("orders"))
    #expect(fixture.mock.sent.count == 3)
    #expect(proof(0)["nonce"] == nil)
    #expect(proof(1)["nonce"] as? String == "n1")
    #expect(proof(2)["nonce"] as? String == "n2")
  }

  @Test(arguments: [true, false])
  func `a request that is sent again with a nonce has a signature of its own`(isSignatureFirst: Bool) async throws {
    var signature = MessageSignature(keyID: "k", hmacSHA256: Data("s".utf8), covering: ["@method", "dpop"])
    signature.includesNonce = true
    let (signing, session) = (MessageSignatureBehavior(signature), try await signedIn())
    let list: [any RequestBehavior] = [.tokenAuth(session), .dpop(key)]
    let client = fixture.client.with { $0.behaviors += isSignatureFirst ? [signing] + list : list + [signing] }
    fixture.mock.on(.get, "orders").respond(
      401, headers: ["WWW-Authenticate": #"DPoP error="use_dpop_nonce""#, "DPoP-Nonce": "n1"]
    ).times(1)
    fixture.mock.on(.get, "orders").respond(200)
    try await client.send(.get("orders"))
    #expect(proof(1)["nonce"] as? String == "n1")
    #expect(Set(fixture.mock.sent.map { $0.headers["Signature-Input"] }).count == 2)
    #expect(Set(fixture.mock.sent.map { $0.headers["Signature"] }).count == 2)
  }

  @Test func `a 401 without a challenge is about the token, and not about its proof`() async throws {
    let session = try await signedIn()
    fixture.mock.on(.get, "orders").respond(401).times(2)
    fixture.respond(200, #"{"access_token":"B","token_type":"DPoP"}"#)
    let client = client(session)
    #expect(await errorCode { try await client.send(.get("orders")) } == .unacceptableStatus)
    #expect(fixture.mock.sent.last?.headers["Authorization"] == "DPoP B")
    #expect(try await session.isSignedIn() == false)
  }

  @Test func `a nonce that does not help is not tried again, and does not sign the session out`() async throws {
    let session = try await signedIn()
    fixture.mock.on(.get, "orders").respond(
      401, headers: ["WWW-Authenticate": #"DPoP error="use_dpop_nonce""#, "DPoP-Nonce": "n1"]
    ).times(4)
    let client = client(session)
    #expect(await errorCode { try await client.send(.get("orders")) } == .unacceptableStatus)
    #expect(fixture.mock.sent.count == 2)
    #expect(try await session.isSignedIn())
  }

  @Test func `a nonce in another scheme's challenge is not used`() async throws {
    let client = client(try await signedIn())
    fixture.mock.on(.get, "orders").respond(
      401, headers: ["WWW-Authenticate": #"Bearer error="use_dpop_nonce""#, "DPoP-Nonce": "n1"]
    ).times(1)
    #expect(await errorCode { try await client.send(.get("orders")) } == .unacceptableStatus)
    #expect(fixture.mock.sent.count == 1)
  }

  @Test func `a nonce at the token endpoint does not cause a further refresh`() async throws {
    let session = session
    try await session.signIn(AccessToken("A", type: "DPoP", lifetime: .zero, refreshToken: "R"))
    fixture.mock.on(.get, "orders").respond(
      401, headers: ["WWW-Authenticate": #"DPoP error="invalid_token""#]
    ).times(1)
    fixture.mock.on(.post, "token").respond(
      400, headers: ["DPoP-Nonce": "n1", "Content-Type": "application/json"],
      body: Data(#"{"error":"use_dpop_nonce"}"#.utf8)
    ).times(1)
    fixture.respond(200, #"{"access_token":"B","token_type":"DPoP"}"#)
    fixture.mock.on(.get, "orders").respond(200)
    try await client(session).send(.get("orders"))
    #expect(fixture.mock.sent.map { "\($0.method)" } == ["GET", "POST", "POST", "GET"])
    #expect(proof(2)["nonce"] as? String == "n1")
    #expect(fixture.mock.sent[3].headers["Authorization"] == "DPoP B")
  }

  /// Requires a nonce once, and then gives a token.
  private func askForNonce() {
    fixture.mock.on(.post, "token").respond(
      400, headers: ["DPoP-Nonce": "n1", "Content-Type": "application/json"],
      body: Data(#"{"error":"use_dpop_nonce"}"#.utf8)
    ).times(1)
    fixture.respond(200, Self.token)
  }

  /// The ids of the assertions in a field of the bodies sent.
  private func ids(_ field: String) throws -> [String] {
    try fixture.mock.sent.compactMap { request in
      part(1, of: try request.form[field])["jti"] as? String
    }
  }

  @Test func `a client's assertion does not come twice when the server asks for a nonce`() async throws {
    askForNonce()
    let endpoint = fixture.endpoint(.privateKeyJWT(signer()), dpop: key)
    _ = try await endpoint.requestToken(["grant_type": "x"], using: fixture.client)
    #expect(proof(1)["nonce"] as? String == "n1")
    #expect(try Set(ids("client_assertion")).count == 2)
  }

  @Test func `an assertion as a grant does not come twice when the server asks for a nonce`() async throws {
    askForNonce()
    let source = JWTBearerGrant(fixture.endpoint(dpop: key), key: signer(), issuer: "robot")
    _ = try await source.fetch(using: fixture.client)
    #expect(proof(1)["nonce"] as? String == "n1")
    #expect(try Set(ids("assertion")).count == 2)
  }

  @Test func `a nonce that does not help at the token endpoint is not tried again`() async throws {
    fixture.mock.on(.post, "token").respond(
      400, headers: ["DPoP-Nonce": "n1", "Content-Type": "application/json"],
      body: Data(#"{"error":"use_dpop_nonce"}"#.utf8)
    ).times(3)
    let endpoint = fixture.endpoint(dpop: key)
    let code = await errorCode { _ = try await endpoint.requestToken(["grant_type": "x"], using: fixture.client) }
    #expect(code == .unacceptableStatus)
    #expect(fixture.mock.sent.count == 2)
    // The nonce is known by now, so asking for it again is futile.
    _ = await errorCode { _ = try await endpoint.requestToken(["grant_type": "x"], using: fixture.client) }
    #expect(fixture.mock.sent.count == 3)
  }

  @Test func `a nonce is used although a concurrent response has brought one`() async throws {
    let session = try await signedIn()
    let (first, second) = (TestGate(), TestGate())
    fixture.mock.on(.get, "orders").respond { request in
      let sent = part(1, of: request.headers["DPoP"])["nonce"] as? String
      if sent == nil {
        first.arrive()
        // Meanwhile another response brings a nonce.
        await second.pass()
        return NetworkResponse(
          request: request, statusCode: 401,
          headers: ["WWW-Authenticate": #"DPoP error="use_dpop_nonce""#, "DPoP-Nonce": "n1"])
      }
      return NetworkResponse(request: request, statusCode: sent == "n1" ? 200 : 401)
    }
    fixture.mock.on(.get, "news").respond(200, headers: ["DPoP-Nonce": "n1"])
    let client = client(session)
    let task = Task { try await client.send(.get("orders")) }
    await first.waitForArrivals(1)
    try await client.send(.get("news"))
    second.open()
    try await task.value
    #expect(fixture.mock.sent.count == 3)
  }

  @Test func `the token endpoint gets the nonce that it asked for although a concurrent response has brought another`()
    async throws
  {
    let session = session
    try await session.signIn(AccessToken("A", type: "DPoP", lifetime: .zero, refreshToken: "R"))
    fixture.mock.on(.get, "orders").respond(
      401, headers: ["WWW-Authenticate": #"DPoP error="invalid_token""#, "DPoP-Nonce": "resource"]
    ).times(1)
    fixture.mock.on(.post, "token").respond { request in
      let isRight = part(1, of: request.headers["DPoP"])["nonce"] as? String == "n1"
      return NetworkResponse(
        request: request, statusCode: isRight ? 200 : 400,
        headers: ["DPoP-Nonce": "n1", "Content-Type": "application/json"],
        body: .data(Data((isRight ? Self.token : #"{"error":"use_dpop_nonce"}"#).utf8)))
    }
    fixture.mock.on(.get, "news").respond(200, headers: ["DPoP-Nonce": "resource"])
    fixture.mock.on(.get, "orders").respond(200)
    let other = fixture.client.with { $0.behaviors += [.dpop(key)] }
    // The resources of the same origin have nonces of their own, and one comes between the two token requests.
    let concurrent = ClosureBehavior(
      order: .observation,
      afterFailure: { _, request in
        guard request.url.lastPathComponent == "token" else { return }
        try? await other.send(.get("news", headers: ["Authorization": "DPoP A"]))
      })
    try await client(session, concurrent).send(.get("orders"))
    let proofs = fixture.mock.sent.map { part(1, of: $0.headers["DPoP"])["nonce"] as? String }
    #expect(fixture.mock.sent.map { $0.url.lastPathComponent } == ["orders", "token", "news", "token", "orders"])
    #expect(proofs[3] == "n1")
  }

  @Test func `nonces are kept for each origin`() async throws {
    let session = try await signedIn()
    fixture.mock.on(.get, "orders").respond(200, headers: ["DPoP-Nonce": "resource"])
    fixture.mock.on(.post, "https://other.example/token").respond(200, jsonText: Self.token)
    try await client(session).send(.get("orders"))
    var fixture = fixture
    fixture.server.token = url("https://other.example/token")
    _ = try await fixture.endpoint(dpop: key).requestToken(["grant_type": "x"], using: fixture.client)
    #expect(proof(1)["nonce"] == nil)
  }

  @Test func `a key that cannot sign sends nothing`() async throws {
    let broken = try DPoPKey(signer(length: 70))
    let session = try await signedIn()
    let client = fixture.client.with { $0.behaviors += [.tokenAuth(session), .dpop(broken)] }
    #expect(await errorCode { try await client.send(.get("orders")) } == .oauth2SigningFailed)
    #expect(fixture.mock.sent.isEmpty)
  }

  @Test func `a token of another key is not refreshed`() async throws {
    fixture.respond(200, Self.token)
    try await fixture.flow(dpop: key).signIn { callback(to: $0, "code=abc") }
    let other = try DPoPKey(
      SigningKey("ES256", publicKey: .ec(x: [UInt8](9...40), y: [UInt8](33...64))) { _ in
        [UInt8](repeating: 7, count: 64)
      })
    let kept = try #require(try await fixture.store.load())
    let source = RefreshTokenGrant(fixture.endpoint(dpop: other))
    let code = await errorCode { _ = try await source.refresh(kept, using: fixture.client) }
    #expect(code == .notSignedIn)
    #expect(fixture.mock.sent.count == 1)
  }

  @Test func `a token of another key is not sent, not refreshed and not removed`() async throws {
    var token = AccessToken("A", type: "DPoP", lifetime: .zero, refreshToken: "R")
    token.keyThumbprint = "of another key"
    try await fixture.store.save(token)
    let session = session
    #expect(try await session.isSignedIn() == false)
    let client = client(session)
    #expect(await errorCode { try await client.send(.get("orders")) } == .notSignedIn)
    #expect(fixture.mock.sent.isEmpty)
    // Another process may have the key.
    #expect(try await fixture.store.load()?.value == "A")
    try await session.signIn(AccessToken("B", type: "DPoP"))
    fixture.mock.on(.get, "orders").respond(200)
    try await client.send(.get("orders"))
    #expect(fixture.mock.sent[0].headers["Authorization"] == "DPoP B")
  }

  @Test(arguments: [true, false])
  func `a fresh token of another key is not sent either`(isBearer: Bool) async throws {
    var token = AccessToken("A", type: "DPoP", refreshToken: "R")
    token.keyThumbprint = "of another key"
    try await fixture.store.save(token)
    let endpoint = isBearer ? fixture.endpoint() : fixture.endpoint(dpop: key)
    let session = TokenSession(source: .refreshToken(endpoint), store: fixture.store)
    let client = fixture.client.with { $0.behaviors.append(.tokenAuth(session)) }
    #expect(await errorCode { try await client.send(.get("orders")) } == .notSignedIn)
    #expect(fixture.mock.sent.isEmpty)
  }

  @Test func `a refused token is not replaced by a newer token of another process's key`()
    async throws
  {
    let store = HeldStore()
    let session = TokenSession(
      source: .refreshToken(fixture.endpoint(dpop: key)), store: store, clock: fixture.clock.requestClock)
    try await session.signIn(AccessToken("A", type: "DPoP", refreshToken: "R"))
    let id = try #require(await store.token?.sessionID)
    fixture.mock.on(.get, "orders").respond { request in
      var token = AccessToken("B", type: "DPoP", refreshToken: "S")
      (token.sessionID, token.keyThumbprint) = (id, "of another key")
      await store.save(token)
      return NetworkResponse(request: request, statusCode: 401)
    }
    let client = client(session)
    #expect(await errorCode { try await client.send(.get("orders")) } == .notSignedIn)
    #expect(fixture.mock.sent.map { $0.headers["Authorization"] } == ["DPoP A"])
    #expect(await store.token?.value == "B")
  }

  @Test func `for a replay a service gets its own token if the newer one is bound to another process's key`()
    async throws
  {
    let store = HeldStore()
    let session = TokenSession(
      source: .clientCredentials(fixture.endpoint(dpop: key)), store: store, clock: fixture.clock.requestClock)
    fixture.respond(200, #"{"access_token":"A","token_type":"DPoP"}"#)
    fixture.mock.on(.get, "orders").respond { request in
      var token = AccessToken("B", type: "DPoP")
      (token.sessionID, token.keyThumbprint) = (TokenAuthBehavior(session).account, "of another key")
      await store.save(token)
      return NetworkResponse(request: request, statusCode: 401)
    }.times(1)
    fixture.respond(200, #"{"access_token":"C","token_type":"DPoP"}"#)
    fixture.mock.on(.get, "orders").respond(200)
    try await client(session).send(.get("orders"))
    #expect(fixture.mock.sent.map { $0.headers["Authorization"] } == [nil, "DPoP A", nil, "DPoP C"])
  }

  @Test func `a request that waited is not sent with a newer token of another process's key`() async throws {
    let store = HeldStore()
    let session = TokenSession(
      source: .refreshToken(fixture.endpoint(dpop: key)), store: store, clock: fixture.clock.requestClock)
    try await session.signIn(AccessToken("A", type: "DPoP", refreshToken: "R"))
    let clock = fixture.clock.requestClock
    let waiting = ClosureBehavior(
      "waiting", order: .last,
      intercept: { request, next in
        var token = AccessToken("B", type: "DPoP", refreshToken: "S")
        (token.sessionID, token.keyThumbprint) = (await store.token?.sessionID, "of another key")
        await store.save(token)
        _ = await TokenAuthBehavior(session).readAccount(on: clock)
        return try await next(request)
      })
    fixture.mock.on(.get, "orders").respond(200)
    try await client(session, waiting).send(.get("orders"))
    #expect(fixture.mock.sent.map { $0.headers["Authorization"] } == ["DPoP A"])
  }

  @Test(arguments: [true, false])
  func `a service gets a token of its own key in place of one of another key`(isAssertion: Bool) async throws {
    var token = AccessToken("A", type: "DPoP")
    token.keyThumbprint = "of another key"
    try await fixture.store.save(token)
    let endpoint = fixture.endpoint(dpop: key)
    let source: any TokenSource =
      isAssertion ? .jwtBearer(endpoint, key: signer(), issuer: "robot") : .clientCredentials(endpoint)
    let session = TokenSession(source: source, store: fixture.store, clock: fixture.clock.requestClock)
    let client = client(session)
    fixture.respond(200, #"{"access_token":"B","token_type":"DPoP"}"#)
    fixture.mock.on(.get, "orders").respond(200).times(2)
    for _ in 0..<2 { try await client.send(.get("orders")) }
    #expect(fixture.mock.sent.map { $0.headers["Authorization"] } == [nil, "DPoP B", "DPoP B"])
    #expect(try await fixture.store.load()?.value == "B")
  }

  @Test func `a service that gets no token of its own key does not send one`() async throws {
    var token = AccessToken("A", type: "DPoP")
    token.keyThumbprint = "of another key"
    try await fixture.store.save(token)
    let source = ClientCredentialsGrant(fixture.endpoint(dpop: key))
    let session = TokenSession(source: source, store: fixture.store, clock: fixture.clock.requestClock)
    let client = client(session)
    fixture.respond(400, #"{"error":"temporarily_unavailable"}"#)
    #expect(await errorCode { try await client.send(.get("orders")) } == .tokenUnavailable)
    #expect(fixture.mock.sent.map { "\($0.method)" } == ["POST"])
    #expect(try await fixture.store.load()?.value == "A")
  }

  @Test func `a token keeps its key through its JSON`() throws {
    var token = AccessToken("A", type: "DPoP")
    token.keyThumbprint = "t"
    let decoded = try JSONDecoder().decode(AccessToken.self, from: JSONEncoder().encode(token))
    #expect(decoded.keyThumbprint == "t")
  }

  @Test func `a sign-in with another key cannot be finished`() async throws {
    let signIn = try await fixture.flow(dpop: key).begin()
    let flow = fixture.flow()
    let code = await errorCode { try await flow.finish(signIn, callback: callback(to: signIn.url, "code=abc")) }
    #expect(code == .oauth2SigningFailed)
  }

  @Test func `a one-shot body is not sent again for a nonce`() async throws {
    let client = client(try await signedIn())
    fixture.mock.on(.put, "file").respond(
      401, headers: ["WWW-Authenticate": #"DPoP error="use_dpop_nonce""#, "DPoP-Nonce": "n1"]
    ).times(1)
    let body = RequestContent.body(.oneShot(ByteStream(chunks: [Data("x".utf8)])))
    #expect(await errorCode { try await client.send(.put("file", body: body)) } == .unacceptableStatus)
    #expect(fixture.mock.sent.count == 1)
  }

  @Test func `a key for HMAC cannot bind a token`() {
    #expect(throws: NetworkError.self) { try DPoPKey(signer("HS256", length: 32)) }
    #expect(throws: NetworkError.self) { try DPoPKey(SigningKey("ES256") { $0 }) }
  }
}

/// A store of its own, as another process sees it.
private actor HeldStore: TokenStore {
  private(set) var token: AccessToken?

  func load() -> AccessToken? { token }
  func save(_ new: AccessToken?) { token = new }
}
