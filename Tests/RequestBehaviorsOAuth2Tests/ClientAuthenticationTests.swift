import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth2
import RequestBehaviorsTesting
import Testing

/// How a client authenticates (RFC 6749 §2.3, RFC 7523).
@Suite(.limited) struct ClientAuthenticationTests {
  private let fixture = OAuth2Fixture()

  private func send(_ authentication: ClientAuthentication) async throws -> NetworkRequest {
    fixture.respond()
    _ = try await fixture.endpoint(authentication)
      .requestToken(["grant_type": "client_credentials"], using: fixture.client)
    return try #require(fixture.mock.sent.last)
  }

  @Test func `a client without a secret sends its id`() async throws {
    let sent = try await send(.none)
    #expect(try sent.form.items.map(\.name) == ["grant_type", "client_id"])
    #expect(sent.headers["Authorization"] == nil)
  }

  @Test func `basic is in the field, and not in the body`() async throws {
    let sent = try await send(.basic("1+1=2"))
    #expect(sent.headers["Authorization"] == "Basic " + Data("shop-ios:1%2B1%3D2".utf8).base64EncodedString())
    #expect(try sent.form.items.map(\.name) == ["grant_type"])
  }

  @Test func `post is in the body`() async throws {
    let sent = try await send(.post("1+1=2"))
    #expect(try sent.form.items.map(\.value) == ["client_credentials", "shop-ios", "1+1=2"])
    #expect(sent.headers["Authorization"] == nil)
  }

  @Test func `an assertion is for one audience and a minute`() async throws {
    let sent = try await send(.privateKeyJWT(signer()))
    let form = try sent.form.items
    #expect(form.map(\.name) == ["grant_type", "client_id", "client_assertion_type", "client_assertion"])
    #expect(form[2].value == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
    let header = part(0, of: form[3].value)
    #expect(header["alg"] as? String == "ES256")
    #expect(header["kid"] as? String == "k1")
    let claims = part(1, of: form[3].value)
    #expect(claims["aud"] as? String == OAuth2Fixture.issuer)
    #expect(claims["iss"] as? String == "shop-ios")
    #expect(claims["sub"] as? String == "shop-ios")
    #expect((claims["jti"] as? String)?.count == 22)
    let now = Int(fixture.clock.date.timeIntervalSince1970)
    #expect(claims["iat"] as? Int == now)
    #expect(claims["exp"] as? Int == now + 60)
  }

  @Test func `each assertion has its own id`() async throws {
    let first = try await send(.privateKeyJWT(signer())).form.items.last?.value
    let second = try await send(.privateKeyJWT(signer())).form.items.last?.value
    #expect(part(1, of: first)["jti"] as? String != part(1, of: second)["jti"] as? String)
  }

  @Test func `without an issuer the token endpoint is the audience`() async throws {
    let fixture = OAuth2Fixture(issuer: nil)
    fixture.respond()
    _ = try await fixture.endpoint(.privateKeyJWT(signer())).requestToken(["grant_type": "x"], using: fixture.client)
    #expect(
      part(1, of: try fixture.mock.sent[0].form.items.last?.value)["aud"] as? String == "https://id.example/token")
  }

  @Test func `a secret signs with HMAC-SHA256`() async throws {
    let secret = String(repeating: "s", count: 32)
    let token = try #require(try await send(.clientSecretJWT(secret)).form.items.last?.value)
    let parts = token.split(separator: ".")
    let code = Digest.hmacSHA256(of: parts[0] + "." + parts[1], key: Data(secret.utf8)).base64
    #expect(code.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "") == parts[2])
    #expect(part(0, of: token)["alg"] as? String == "HS256")
  }

  @Test func `a short secret is refused before it is sent`() async throws {
    let code = await errorCode { _ = try await send(.clientSecretJWT(String(repeating: "s", count: 31))) }
    #expect(code == .oauth2SigningFailed)
    #expect(fixture.mock.sent.isEmpty)
  }

  @Test func `a signature in DER is an error that names the format`() async throws {
    let key = SigningKey("ES256") { _ in [0x30, 0x44] + [UInt8](repeating: 1, count: 0x44) }
    let error = await #expect(throws: NetworkError.self) { _ = try await send(.privateKeyJWT(key)) }
    #expect(error?.code == .oauth2SigningFailed)
    #expect(error?.message.contains("DER") == true)
  }

  @Test func `the error of a vault is the cause`() async throws {
    let key = SigningKey("ES256") { _ in throw CocoaError(.fileNoSuchFile) }
    let error = await #expect(throws: NetworkError.self) { _ = try await send(.privateKeyJWT(key)) }
    #expect(error?.code == .oauth2SigningFailed)
    #expect(error?.underlyingError is CocoaError)
  }

  @Test func `an issuer is one account for each user, whatever key signs`() {
    func account(_ issuer: String, _ subject: String?) -> String? {
      JWTBearerGrant(fixture.endpoint(), key: signer(), issuer: issuer, subject: subject).account
    }
    #expect(account("robot", nil) != nil)
    #expect(account("robot", nil) == account("robot", "robot"))
    #expect(account("robot", nil) != account("robot", "anna"))
    #expect(account("robot", "anna") != account("other", "anna"))
  }

  @Test func `an assertion can stand for a user`() async throws {
    fixture.respond()
    let source = JWTBearerGrant(
      fixture.endpoint(), key: signer(), issuer: "robot@shop.example", subject: "anna", scopes: ["stock"])
    #expect(try await source.fetch(using: fixture.client).value == "A")
    let form = try fixture.mock.sent[0].form.items
    #expect(form.map(\.name) == ["grant_type", "assertion", "scope", "client_id"])
    let claims = part(1, of: form[1].value)
    #expect(claims["iss"] as? String == "robot@shop.example")
    #expect(claims["sub"] as? String == "anna")
    #expect(claims["aud"] as? String == OAuth2Fixture.issuer)
  }

  @Test func `a refused assertion does not end the session, and the next one may be accepted`() async throws {
    let session = TokenSession(
      source: .jwtBearer(fixture.endpoint(), key: signer(), issuer: "robot"), store: fixture.store,
      clock: fixture.clock.requestClock)
    let client = fixture.client.with { $0.behaviors.append(.tokenAuth(session)) }
    try await fixture.store.save(AccessToken("old"))
    fixture.mock.on(.get, "orders").respond(401, headers: ["WWW-Authenticate": "Bearer"]).times(2)
    fixture.respond(400, #"{"error":"invalid_grant","error_description":"the assertion is from the future"}"#)
    let error = try await #require(throws: NetworkError.self) { try await client.send(.get("orders")) }
    #expect(error.code == .tokenUnavailable)
    #expect((error.underlyingError as? NetworkError)?.oauth2?.code == .invalidGrant)
    #expect(try await session.isSignedIn())
    #expect(try await fixture.store.load()?.value == "old")
    fixture.respond()
    fixture.mock.on(.get, "orders").respond(200)
    try await client.send(.get("orders"))
    #expect(fixture.mock.sent.last?.headers["Authorization"] == "Bearer A")
  }
}
