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

  @Test func `the access token is revoked if the server does not revoke refresh tokens`() async throws {
    fixture.mock.on(.post, "revoke").respond(400, jsonText: #"{"error":"unsupported_token_type"}"#).times(1)
    fixture.mock.on(.post, "revoke").respond(200)
    try await signOut()
    #expect(try fixture.mock.sent[1].form.items.map(\.value) == ["A", "access_token", "shop-ios"])
  }

  @Test func `a token that the server calls invalid counts as revoked`() async throws {
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

  @Test func `an error with the status 200 counts as a refusal`() async throws {
    fixture.mock.on(.post, "revoke").respond(200, jsonText: #"{"ok":false,"error":"invalid_client"}"#)
    let error = await #expect(throws: NetworkError.self) { try await signOut() }
    #expect(error?.code == .oauth2Refused)
    #expect(error?.oauth2?.code == .invalidClient)
    #expect(try await fixture.isSignedIn == false)
  }

  @Test func `a portal's page does not count as a revocation`() async throws {
    fixture.mock.on(.post, "revoke").respond(
      200, headers: ["Content-Type": "text/html; charset=utf-8"], body: Data("\u{FEFF}\n <html>Sign in".utf8))
    #expect(await errorCode { try await signOut() } == .oauth2InvalidResponse)
    #expect(try await fixture.isSignedIn == false)
  }

  @Test(arguments: ["", "OK", "revoked"])
  func `a body that is not a page is ignored, whatever its type`(body: String) async throws {
    fixture.mock.on(.post, "revoke").respond(200, headers: ["Content-Type": "text/html"], body: Data(body.utf8))
    try await signOut()
    #expect(fixture.mock.sent.count == 1)
  }

  @Test func `without a network the error is thrown, and the session is signed out`() async throws {
    fixture.mock.on(.post, "revoke").fail(.cannotConnect)
    #expect(await errorCode { try await signOut() } == .cannotConnect)
    #expect(try await fixture.isSignedIn == false)
    #expect(try await fixture.store.load() == nil)
  }

  @Test func `a session that has forgotten the token does not revoke it at the next sign-out`() async throws {
    fixture.mock.on(.post, "revoke").fail(.cannotConnect)
    _ = await errorCode { try await signOut() }
    try await fixture.session.signOut { _ in Issue.record("there is no token") }
    #expect(fixture.mock.sent.count == 1)
  }

  @Test func `the error of a revocation is thrown before that of the store`() async throws {
    let session = TokenSession(source: .signInOnly, store: FailingStore())
    _ = try? await session.signIn(AccessToken("A"))
    await #expect(throws: CocoaError.self) { try await session.signOut { _ in throw CocoaError(.userCancelled) } }
    #expect(try await session.isSignedIn() == false)
  }

  @Test func `a redirect is not followed with the token`() async throws {
    fixture.mock.on(.post, "revoke").respond(307, headers: ["Location": "https://evil.example/"])
    #expect(await errorCode { try await signOut() } == .unacceptableStatus)
    #expect(fixture.mock.sent.count == 1)
  }
}

/// A store that can be read and not written.
private final class FailingStore: TokenStore {
  func load() async throws -> AccessToken? { nil }
  func save(_ token: AccessToken?) async throws { throw NetworkError(.tokenStoreFailed, "full") }
}
