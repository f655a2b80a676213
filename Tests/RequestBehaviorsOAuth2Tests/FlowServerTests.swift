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

  @Test(arguments: ["canary", "me:canary", "me:can%40canary"])
  func `the error for a URL with a user in it does not show the password`(user: String) async throws {
    var fixture = OAuth2Fixture()
    let errors = [
      await #expect(throws: NetworkError.self) {
        _ = try await OAuth2Server.discover("https://\(user)@id.example", over: fixture.client)
      },
      await #expect(throws: NetworkError.self) {
        _ = try await fixture.flow(redirect: url("https://\(user)@shop.example/in")).begin()
      },
      await #expect(throws: NetworkError.self) {
        fixture.server.token = url("http://\(user)@id.example/token")
        _ = try await fixture.flow().begin()
      },
    ]
    for error in errors {
      #expect(error?.code == .oauth2InvalidServer)
      #expect(error?.message.contains("canary") == false, "\(error?.message ?? "")")
    }
    #expect(fixture.mock.sent.isEmpty)
  }

  @Test(arguments: [
    "https://me:ca/nary@id.example", "https://me:canary?x@id.example", "https://me:canary#x@id.example",
  ])
  func `the error for an issuer that is no URL does not show its password`(issuer: String) async throws {
    let error = await #expect(throws: NetworkError.self) {
      _ = try await OAuth2Server.discover(issuer, over: fixture.client)
    }
    #expect(error?.code == .oauth2InvalidServer)
    #expect(error?.message.contains("nary") == false, "\(error?.message ?? "")")
  }

  @Test func `an endpoint that names no server is refused with the remedy`() async throws {
    let flow = OAuth2Flow(
      session: fixture.session, endpoint: TokenEndpoint("token", clientID: "shop"),
      redirectURI: OAuth2Fixture.redirect, over: fixture.client)
    let error = await #expect(throws: NetworkError.self) { try await flow.begin() }
    #expect(error?.message.contains("TokenEndpoint(server, clientID:)") == true)
  }
}
