import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth2
import RequestBehaviorsTesting
import Testing

/// The metadata of a server (RFC 8414, OpenID Connect Discovery).
@Suite(.limited) struct MetadataTests {
  private let mock = MockTransport(baseURL: url("https://api.example/"))
  private var client: NetworkClient { NetworkClient(baseURL: mock.baseURL, transport: mock) }

  private static let document = #"""
    {"issuer":"https://id.example/tenant","authorization_endpoint":"https://id.example/tenant/authorize",
    "token_endpoint":"https://id.example/tenant/token","revocation_endpoint":"https://id.example/tenant/revoke",
    "device_authorization_endpoint":"https://id.example/tenant/device",
    "pushed_authorization_request_endpoint":"https://id.example/tenant/push",
    "authorization_response_iss_parameter_supported":true,"require_pushed_authorization_requests":true,
    "code_challenge_methods_supported":["plain","S256"],
    "mtls_endpoint_aliases":{"token_endpoint":"https://mtls.id.example/token"}}
    """#

  @Test func `the document of RFC 8414 is in front of the issuer's path`() async throws {
    mock.on(.get, "https://id.example/.well-known/oauth-authorization-server/tenant").respond(
      200, jsonText: Self.document)
    let server = try await OAuth2Server.discover("https://id.example/tenant", over: client)
    #expect(server.issuer == "https://id.example/tenant")
    #expect(server.authorize == url("https://id.example/tenant/authorize"))
    #expect(server.token == url("https://id.example/tenant/token"))
    #expect(server.revoke == url("https://id.example/tenant/revoke"))
    #expect(server.deviceAuthorization == url("https://id.example/tenant/device"))
    #expect(server.push == url("https://id.example/tenant/push"))
    #expect(server.announcesIssuer)
    #expect(server.requiresPush)
    #expect(server.supportsProofKeys)
    #expect(server.mutualTLSEndpoints == ["token_endpoint": url("https://mtls.id.example/token")])
  }

  @Test func `if that document is missing, the one of OpenID Connect behind the path is read`() async throws {
    mock.on(.get, "https://id.example/.well-known/oauth-authorization-server/tenant").respond(404)
    mock.on(.get, "https://id.example/tenant/.well-known/openid-configuration").respond(200, jsonText: Self.document)
    #expect(try await OAuth2Server.discover("https://id.example/tenant", over: client).announcesIssuer)
  }

  @Test(arguments: [
    "http://id.example", "https://id.example?x=1", "https://id.example#x", "id.example", "", "https://",
    "https://me@id.example",
  ])
  func `an issuer is an https URL without query and fragment`(issuer: String) async throws {
    let code = await errorCode { _ = try await OAuth2Server.discover(issuer, over: client) }
    #expect(code == .oauth2InvalidServer)
    #expect(mock.sent.isEmpty)
  }

  @Test func `the document must name the same issuer, and a slash at the end is named`() async throws {
    mock.on(.get, "https://id.example/.well-known/oauth-authorization-server")
      .respond(200, jsonText: #"{"issuer":"https://id.example/","token_endpoint":"https://id.example/token"}"#)
    let error = await #expect(throws: NetworkError.self) {
      try await OAuth2Server.discover("https://id.example", over: client)
    }
    #expect(error?.code == .oauth2InvalidServer)
    #expect(error?.message.contains("slash at the end") == true)
  }

  @Test(arguments: [
    (#"{"issuer":"https://id.example"}"#, "token_endpoint"),
    (#"{"issuer":"https://id.example","token_endpoint":"http://id.example/token"}"#, "https"),
    (#"{"issuer":"https://id.example","token_endpoint":"https://id.example/token#x"}"#, "fragment"),
    (#"{"token_endpoint":"https://id.example/token"}"#, "issuer"), ("<html>", "not a JSON object"),
    ("[]", "not a JSON object"),
    (#"{"issuer":7,"token_endpoint":"https://id.example/token"}"#, "issuer"),
  ])
  func `a document that breaks a rule is refused with it`(document: String, rule: String) async throws {
    mock.on(.get, "https://id.example/.well-known/oauth-authorization-server").respond(200, jsonText: document)
    let error = await #expect(throws: NetworkError.self) {
      try await OAuth2Server.discover("https://id.example", over: client)
    }
    #expect(error?.code == .oauth2InvalidServer)
    #expect(error?.message.contains(rule) == true, "\(error?.message ?? "")")
  }

  @Test func `a server without S256 can be discovered`() async throws {
    mock.on(.get, "https://id.example/.well-known/oauth-authorization-server").respond(
      200,
      jsonText:
        #"{"issuer":"https://id.example","token_endpoint":"https://id.example/t","code_challenge_methods_supported":["plain"]}"#
    )
    #expect(try await OAuth2Server.discover("https://id.example", over: client).supportsProofKeys == false)
  }

  @Test func `a portal's redirect is not followed`() async throws {
    mock.on(.get, "https://id.example/.well-known/oauth-authorization-server")
      .respond(302, headers: ["Location": "https://portal.example/"])
    let code = await errorCode { _ = try await OAuth2Server.discover("https://id.example", over: client) }
    #expect(code == .unacceptableStatus)
    #expect(mock.sent.count == 1)
  }

  @Test func `a server with a certificate is asked at its own endpoints`() async throws {
    var server = OAuth2Server(token: url("https://id.example/token"))
    server.mutualTLSEndpoints = ["token_endpoint": url("https://mtls.id.example/token")]
    mock.on(.post, "https://mtls.id.example/token").respond(200, jsonText: #"{"access_token":"A"}"#)
    let endpoint = TokenEndpoint(server, clientID: "shop", authentication: .mutualTLS)
    _ = try await endpoint.requestToken(["grant_type": "client_credentials"], using: client)
    #expect(try mock.sent[0].form.items.map(\.name) == ["grant_type", "client_id"])
  }

  @Test func `a client with a certificate uses each endpoint that is for such clients`() async throws {
    let host = "https://mtls.id.example"
    var server = OAuth2Fixture(requiresPush: true).server
    server.mutualTLSEndpoints = [
      "token_endpoint": url("\(host)/token"), "revocation_endpoint": url("\(host)/revoke"),
      "device_authorization_endpoint": url("\(host)/device"),
      "pushed_authorization_request_endpoint": url("\(host)/push"),
    ]
    let mock = MockTransport(baseURL: url("https://id.example/"))
    mock.on(.post, "https://mtls.id.example/push").respond(201, jsonText: #"{"request_uri":"u"}"#)
    mock.on().respond(200, jsonText: #"{"device_code":"D","user_code":"W","verification_uri":"https://id.example/d"}"#)
    let client = NetworkClient(baseURL: mock.baseURL, transport: mock)
    let endpoint = TokenEndpoint(server, clientID: "shop", authentication: .mutualTLS)
    let session = TokenSession(source: .refreshToken(endpoint))
    _ = try await OAuth2DeviceFlow(session: session, endpoint: endpoint, over: client).begin()
    try await endpoint.revoke(AccessToken("A"), over: client)
    _ = try await OAuth2Flow(
      session: session, endpoint: endpoint, redirectURI: OAuth2Fixture.redirect, over: client
    ).begin()
    #expect(mock.sent.map { $0.url.absoluteString } == ["\(host)/device", "\(host)/revoke", "\(host)/push"])
  }
}
