import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth2
import RequestBehaviorsTesting
import Testing

/// The requests of a flow to the server before the page is opened.
@Suite(.limited) struct FlowServerTests {
  private let fixture = OAuth2Fixture()

  @Test func `a pushed request leaves two parameters on the page`() async throws {
    let fixture = OAuth2Fixture(requiresPush: true)
    fixture.mock.on(.post, "push").respond(201, jsonText: #"{"request_uri":"urn:x:1","expires_in":60}"#)
    fixture.respond()
    let flow = fixture.flow(scopes: ["a"])
    let signIn = try await flow.begin()
    #expect(items(of: signIn.url).map(\.0) == ["client_id", "request_uri"])
    let form = try fixture.mock.sent[0].form.items
    #expect(form.map(\.name).count { $0 == "client_id" } == 1)
    let state = try #require(form.first { $0.name == "state" }).value
    try await flow.finish(signIn, callback: url("com.example.shop:/signed-in?code=abc&state=\(state)"))
    #expect(try await fixture.isSignedIn)
  }

  @Test func `a server without S256 is refused by the flow`() async throws {
    var fixture = fixture
    fixture.server.supportsProofKeys = false
    let flow = fixture.flow()
    #expect(await errorCode { _ = try await flow.begin() } == .oauth2InvalidServer)
  }

  @Test func `an endpoint that names no server is refused with the remedy`() async throws {
    let flow = OAuth2Flow(
      session: fixture.session, endpoint: TokenEndpoint("token", clientID: "shop"),
      redirectURI: OAuth2Fixture.redirect, over: fixture.client)
    let error = await #expect(throws: NetworkError.self) { try await flow.begin() }
    #expect(error?.message.contains("TokenEndpoint(server, clientID:)") == true)
  }
}
