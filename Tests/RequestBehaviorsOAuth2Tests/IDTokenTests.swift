import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth2
import RequestBehaviorsTesting
import Testing

/// The claims of an ID token (OpenID Connect Core §3.1.3.7).
@Suite(.limited) struct IDTokenTests {
  private let fixture = OAuth2Fixture()

  /// Returns a token; a value of `nil` removes a claim.
  private func token(
    _ changes: [String: Any?] = [:], nonce: String, header: [String: Any] = ["alg": "RS256"]
  ) throws -> String {
    let now = fixture.clock.date.timeIntervalSince1970
    var claims: [String: Any?] = [
      "iss": OAuth2Fixture.issuer, "aud": "shop-ios", "exp": now + 60, "iat": now, "nonce": nonce, "sub": "anna",
      "email": "anna@shop.example",
    ]
    for (name, value) in changes { claims.updateValue(value, forKey: name) }
    let parts = try [header, claims.compactMapValues(\.self)].map { object in
      try JSONSerialization.data(withJSONObject: object).base64EncodedString().replacing("+", with: "-")
        .replacing("/", with: "_").replacing("=", with: "")
    }
    return parts.joined(separator: ".") + ".c2ln"
  }

  private func signIn(_ make: (_ nonce: String) throws -> String?) async throws -> OAuth2Grant {
    let flow = fixture.flow(scopes: ["openid", "email"])
    let signIn = try await flow.begin()
    let nonce = items(of: signIn.url).first { $0.0 == "nonce" }?.1 ?? ""
    let member = try make(nonce).map { #","id_token":"\#($0)""# } ?? ""
    fixture.respond(200, #"{"access_token":"A"\#(member)}"#)
    return try await flow.finish(signIn, callback: callback(to: signIn.url, "code=abc"))
  }

  @Test func `a valid token names the user`() async throws {
    let grant = try await signIn { try token(nonce: $0) }
    #expect(grant.idToken?.subject == "anna")
    #expect(grant.idToken?.issuer == OAuth2Fixture.issuer)
    #expect(grant.idToken?["email"] == "anna@shop.example")
    #expect(try await fixture.isSignedIn)
  }

  @Test func `one of several audiences needs azp`() async throws {
    let grant = try await signIn { try token(["aud": ["shop-ios", "b"], "azp": "shop-ios"], nonce: $0) }
    #expect(grant.idToken?.audiences == ["shop-ios", "b"])
  }

  static let wrong: [(name: String, value: (any Sendable)?)] = [
    ("iss", "https://evil.example"), ("iss", nil), ("aud", "other"), ("aud", nil), ("aud", ["shop-ios", "b"]),
    ("azp", "other"), ("exp", 0), ("exp", nil), ("exp", "soon"), ("iat", 0), ("iat", 4_000_000_000), ("iat", nil),
    ("nonce", "x"), ("nonce", nil), ("sub", ""), ("sub", nil), ("sub", "ä"),
    ("sub", String(repeating: "x", count: 256)),
    ("at_hash", "x"),
  ]
  @Test(arguments: wrong.indices) func `a token that breaks a rule does not sign a user in`(index: Int) async throws {
    let (name, value) = Self.wrong[index]
    let code = await errorCode { _ = try await signIn { try token([name: value], nonce: $0) } }
    #expect(code == .oauth2InvalidResponse, "\(name)")
    #expect(try await fixture.isSignedIn == false)
  }

  @Test func `the hash of the access token is compared`() async throws {
    let hash = Digest.sha256(of: "A").bytes.prefix(16).base64EncodedString().replacing("=", with: "")
      .replacing("+", with: "-").replacing("/", with: "_")
    #expect(try await signIn { try token(["at_hash": hash], nonce: $0) }.idToken != nil)
  }

  @Test(arguments: ["none", "None", ""]) func `a token must be signed`(algorithm: String) async throws {
    let code = await errorCode {
      _ = try await signIn { try token(nonce: $0, header: ["alg": algorithm]) }
    }
    #expect(code == .oauth2InvalidResponse)
  }

  @Test func `a header with crit is not understood`() async throws {
    let code = await errorCode {
      _ = try await signIn { try token(nonce: $0, header: ["alg": "RS256", "crit": ["exp"]]) }
    }
    #expect(code == .oauth2InvalidResponse)
  }

  @Test(arguments: [nil, "", "a.b", "a.b.c.d", "e30.e30.", "!.!.!"])
  func `a response without an ID token does not sign the session in`(text: String?) async throws {
    #expect(await errorCode { _ = try await signIn { _ in text } } == .oauth2InvalidResponse)
    #expect(try await fixture.isSignedIn == false)
  }

  @Test func `the same user is the same owner at each sign-in`() async throws {
    var owners: [String] = []
    for _ in 0..<2 {
      _ = try await signIn { try token(nonce: $0) }
      owners.append(try await fixture.store.load()?.sessionID ?? "")
    }
    #expect(owners[0] == owners[1])
    #expect(!owners[0].contains("anna"))
  }

  @Test func `a closure can check the signature`() async throws {
    let seen = Locked<[String]>([])
    let flow = OAuth2Flow(
      session: fixture.session, endpoint: fixture.endpoint(), redirectURI: OAuth2Fixture.redirect, scopes: ["openid"],
      over: fixture.client
    ) { input, signature, algorithm, _ in
      seen.withLock {
        $0 = [String(decoding: input, as: UTF8.self), String(decoding: signature, as: UTF8.self), algorithm]
      }
      throw CocoaError(.coderInvalidValue)
    }
    let signIn = try await flow.begin()
    let text = try token(nonce: items(of: signIn.url).first { $0.0 == "nonce" }?.1 ?? "")
    fixture.respond(200, #"{"access_token":"A","id_token":"\#(text)"}"#)
    await #expect(throws: CocoaError.self) {
      try await flow.finish(signIn, callback: callback(to: signIn.url, "code=abc"))
    }
    #expect(seen.withLock { $0 } == [String(text.dropLast(5)), "sig", "RS256"])
    #expect(try await fixture.isSignedIn == false)
  }

  @Test func `openid needs an issuer for comparison`() async throws {
    let flow = OAuth2Fixture(issuer: nil).flow(scopes: ["openid"])
    #expect(await errorCode { _ = try await flow.begin() } == .oauth2InvalidServer)
  }
}
