import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth2
import RequestBehaviorsTesting
import Testing

/// Revocation at sign-out (RFC 7009).
@Suite(.limited) struct RevocationTests {
  private let fixture = OAuth2Fixture()

  private func signOut() async throws {
    try await fixture.session.signIn(AccessToken("A", refreshToken: "R"))
    try await fixture.session.signOut { try await fixture.endpoint().revoke($0, over: fixture.client) }
  }

  @Test func `the refresh token is revoked`() async throws {
    fixture.mock.on(.post, "revoke").respond(200)
    try await signOut()
    #expect(try fixture.mock.sent[0].form.items.map(\.value) == ["R", "refresh_token", "shop-ios"])
    #expect(try await fixture.isSignedIn == false)
  }

  @Test func `where the server revokes no refresh tokens, the access token is`() async throws {
    fixture.mock.on(.post, "revoke").respond(400, jsonText: #"{"error":"unsupported_token_type"}"#).times(1)
    fixture.mock.on(.post, "revoke").respond(200)
    try await signOut()
    #expect(try fixture.mock.sent[1].form.items.map(\.value) == ["A", "access_token", "shop-ios"])
  }

  @Test func `a token that is of no use any more counts as revoked`() async throws {
    fixture.mock.on(.post, "revoke").respond(400, jsonText: #"{"error":"invalid_token"}"#)
    try await signOut()
    #expect(fixture.mock.sent.count == 1)
  }

  @Test func `a refusal is thrown after the sign-out`() async throws {
    fixture.mock.on(.post, "revoke").respond(401, jsonText: #"{"error":"invalid_client"}"#)
    #expect(await errorCode { try await signOut() } == .oauth2Refused)
    #expect(try await fixture.isSignedIn == false)
    #expect(try await fixture.store.load() == nil)
  }

  @Test func `a redirect is not followed with the token`() async throws {
    fixture.mock.on(.post, "revoke").respond(307, headers: ["Location": "https://evil.example/"])
    #expect(await errorCode { try await signOut() } == .unacceptableStatus)
    #expect(fixture.mock.sent.count == 1)
  }
}
