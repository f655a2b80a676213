import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth2
import RequestBehaviorsTesting
import Testing

/// The authorization server of the testing module, behind a real connection.
@Suite(.limited) struct MockServerTests {
  private let id = MockOAuth2Server()
  private let service: LoopbackServer
  private let client: NetworkClient
  private let redirect = url("http://127.0.0.1:1/done")

  init() throws {
    service = try LoopbackServer { [id] request in id.response(to: request) ?? .status(404) }
    client = NetworkClient(baseURL: service.baseURL)
  }

  private func flow(_ redirect: URL? = nil, clientID: String = "shop") async throws -> OAuth2Flow {
    let server = try await OAuth2Server.discover("http://127.0.0.1:\(service.port)", over: client)
    let endpoint = TokenEndpoint(server, clientID: clientID)
    return OAuth2Flow(
      session: TokenSession(source: .refreshToken(endpoint)), endpoint: endpoint,
      redirectURI: redirect ?? self.redirect, scopes: ["a", "b"], over: client)
  }

  /// Opens a page without following the redirect at its end.
  private func get(_ page: URL, _ decision: String = "") async throws -> NetworkResponse {
    try await client.send(
      Request<NetworkResponse>.get(url: url(page.absoluteString + decision)).with(\.redirects, .none)
        .with(\.acceptableStatuses, .all))
  }

  @Test func `the stubs of a mock give tokens to a client that verifies responses by a nonce`() async throws {
    let mock = MockTransport()
    let id = mock.oauth2()
    let client = NetworkClient(baseURL: mock.baseURL, behaviors: [.nonceVerification()], transport: mock)
    let source = ClientCredentialsGrant(TokenEndpoint("token", clientID: "robot"))
    #expect(id.accepts(try await source.fetch(using: client)))
  }

  @Test(arguments: ["", "/", "/tenants/7", "/tenants/7/"])
  func `a client signs in at a mock that it has discovered`(path: String) async throws {
    let mock = MockTransport(baseURL: url("https://id.example" + path))
    let id = mock.oauth2()
    let client = NetworkClient(baseURL: mock.baseURL, behaviors: [.nonceVerification()], transport: mock)
    let issuer = path.hasPrefix("/tenants") ? "https://id.example/tenants/7" : "https://id.example"
    let endpoint = TokenEndpoint(try await OAuth2Server.discover(issuer, over: client), clientID: "shop")
    let flow = OAuth2Flow(
      session: TokenSession(source: .refreshToken(endpoint)), endpoint: endpoint, redirectURI: redirect, over: client)
    let grant = try await flow.signIn { try id.authorize($0) }
    #expect(id.accepts(grant.token))
    let document = try await client.send(Request<NetworkResponse>.get(url: #require(mock.sent.first).url))
    #expect(document.headers["Content-Type"] == "application/json")
  }

  @Test func `the revocation of one token of a service keeps its next token valid`() async throws {
    let server = try await OAuth2Server.discover("http://127.0.0.1:\(service.port)", over: client)
    let endpoint = TokenEndpoint(server, clientID: "robot")
    let source = ClientCredentialsGrant(endpoint)
    let tokens = [try await source.fetch(using: client), try await source.fetch(using: client)]
    try await endpoint.revoke(tokens[0], over: client)
    #expect(tokens.map { id.accepts($0) } == [false, true])
    #expect(id.accepts(try await source.fetch(using: client)))
  }

  @Test func `a consent signs in, and the callback names the issuer`() async throws {
    let flow = try await flow()
    let signIn = try await flow.begin()
    let page = try await get(signIn.url)
    #expect(page.statusCode == 200)
    #expect(try page.text.contains("It asks for: a b."))
    let marked = try await get(signIn.url, "&x=%22%CC%81")
    #expect(try marked.text.contains("name=\"x\" value=\"&quot;\u{301}\""))
    let location = try #require(try await get(signIn.url, "&decision=allow").headers["Location"])
    #expect(items(of: url(location)).contains { $0 == ("iss", "http://127.0.0.1:\(service.port)") })
    let grant = try await flow.finish(signIn, callback: url(location))
    #expect(id.accepts(grant.token))
    id.expireAccessTokens()
    #expect(!id.accepts(grant.token))
  }

  @Test func `a refusal is reported as a refusal by the user`() async throws {
    let flow = try await flow()
    let signIn = try await flow.begin()
    let location = try #require(try await get(signIn.url, "&decision=deny").headers["Location"])
    #expect(await errorCode { try await flow.finish(signIn, callback: url(location)) } == .oauth2Denied)
  }

  @Test func `a repeated code or refresh token is counted, and ends the sign-in`() async throws {
    let flow = try await flow()
    let grant = try await flow.signIn { try id.authorize($0, issuedBy: service) }
    let source = RefreshTokenGrant(flow.endpoint)
    let newer = try await source.refresh(grant.token, using: client)
    #expect(id.reuseCount == 0)
    #expect(id.accepts(newer))
    await #expect(throws: NetworkError.self) { try await source.refresh(grant.token, using: client) }
    #expect(id.reuseCount == 1)
    #expect(!id.accepts(newer))
    await #expect(throws: NetworkError.self) { try await source.refresh(newer, using: client) }
    #expect(id.reuseCount == 1)
  }

  @Test func `values of the page are escaped`() async throws {
    let page = try await get(try await flow(clientID: #"<script>"&"#).begin().url)
    #expect(try !page.text.contains("<script"))
    #expect(try page.text.contains("&lt;script&gt;&quot;&amp;"))
  }

  @Test(arguments: ["https://evil.example/done", "http://192.0.2.1/done", "javascript:alert(1)"])
  func `an altered redirect URI gets a 400 without a redirect`(redirect: String) async throws {
    let page = try await flow().begin().url.absoluteString
    let written = Query(["redirect_uri": self.redirect.absoluteString]).percentEncoded
    let other = Query(["redirect_uri": redirect]).percentEncoded
    #expect(page.contains(written))
    let response = try await get(url(page.replacing(written, with: other)), "&decision=allow")
    #expect(response.statusCode == 400)
    #expect(response.headers["Location"] == nil)
  }

  @Test func `a page without a challenge is refused`() async throws {
    let page = try await flow().begin().url.absoluteString.replacing("code_challenge=", with: "challenge=")
    #expect(try await get(url(page)).statusCode == 400)
  }

  @Test func `a device is signed in after a consent`() async throws {
    let server = try await OAuth2Server.discover("http://127.0.0.1:\(service.port)", over: client)
    let endpoint = TokenEndpoint(server, clientID: "shop")
    var configuration = RequestConfiguration(baseURL: service.baseURL)
    configuration.clock = .immediate
    let flow = OAuth2DeviceFlow(
      session: TokenSession(source: .refreshToken(endpoint)), endpoint: endpoint,
      over: NetworkClient(configuration: configuration))
    let grant = try await flow.signIn { try id.approve(userCode: $0.userCode) }
    #expect(id.accepts(grant.token))
  }

  @Test(arguments: ["", "USER-9"])
  func `a consent with a code that no device shows is refused`(code: String) {
    let error = #expect(throws: NetworkError.self) { try id.approve(userCode: code) }
    #expect(error?.message.contains("\"\(code)\"") == true)
  }
}

extension MockOAuth2Server {
  /// Consents at a page of a server that announces `iss`.
  fileprivate func authorize(_ page: URL, issuedBy service: LoopbackServer) throws -> URL {
    url(try authorize(page).absoluteString + "&iss=http://127.0.0.1:\(service.port)")
  }
}
