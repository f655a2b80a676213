import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth2
import RequestBehaviorsTesting
import Testing

/// Authorization code with a proof key, over the mock.
@Suite(.limited) struct FlowTests {
  private let fixture = OAuth2Fixture()

  @Test func `the page has the parameters of the RFCs in order`() async throws {
    let page = try await fixture.flow(scopes: ["orders.read"], resources: [url("https://api.example/")])
      .begin(["prompt": "consent"]).url
    #expect(page.absoluteString.hasPrefix("https://id.example/authorize?response_type=code&client_id=shop-ios"))
    #expect(
      items(of: page).map(\.0) == [
        "response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method",
        "resource", "prompt",
      ])
    let values = Dictionary(items(of: page)) { first, _ in first }
    #expect(values["redirect_uri"] == "com.example.shop:/signed-in")
    #expect(values["code_challenge_method"] == "S256")
    #expect(values["state"]?.count == 22)
    #expect(values["code_challenge"]?.count == 43)
  }

  @Test func `the query of the authorize URL comes first`() async throws {
    var fixture = fixture
    fixture.server.authorize = url("https://id.example/authorize?tenant=a%20b")
    let page = try await fixture.flow().begin().url.absoluteString
    #expect(page.hasPrefix("https://id.example/authorize?tenant=a%20b&response_type=code&"))
  }

  @Test(arguments: [
    ["state": "x"], ["client_id": "x"], ["request_uri": "x"], ["nonce": "x"], ["code_challenge_method": "plain"],
    ["tenant": "again"], ["redirect_uri": "x"], ["dpop_jkt": "x"],
  ])
  func `no parameter may come twice`(parameters: [String: String]) async throws {
    var fixture = fixture
    fixture.server.authorize = url("https://id.example/authorize?tenant=a")
    let flow = fixture.flow()
    #expect(await errorCode { _ = try await flow.begin(Query(parameters)) } == .oauth2InvalidServer)
  }

  @Test(arguments: [
    "http://app.example/done", "https://app.example/done#x", "https://me@app.example/done", "javascript:alert(1)",
    "urn:ietf:wg:oauth:2.0:oob", "file:///tmp/x", "https://app.example/done?state=1", "done",
  ])
  func `a redirect URI that others can take is refused`(redirect: String) async throws {
    let flow = fixture.flow(redirect: url(redirect))
    #expect(await errorCode { _ = try await flow.begin() } == .oauth2InvalidServer)
  }

  @Test func `a code becomes a token, and the session is signed in`() async throws {
    fixture.respond()
    let grant = try await fixture.flow(scopes: ["orders.read"]).signIn { callback(to: $0, "code=a%2Bb") }
    #expect(grant.token.value == "A")
    #expect(grant.token.refreshToken == "R")
    #expect(grant.scopes == ["orders.read"])
    #expect(grant["team"] == "7")
    #expect(try await fixture.isSignedIn)
    #expect(try await fixture.store.load()?.value == "A")
    let form = try fixture.mock.sent[0].form.items
    #expect(form.map(\.name) == ["grant_type", "code", "redirect_uri", "code_verifier", "client_id"])
    #expect(form[0].value == "authorization_code")
    #expect(form[1].value == "a+b")
    #expect(form[2].value == "com.example.shop:/signed-in")
    #expect(fixture.mock.sent[0].headers["Accept"] == "application/json")
  }

  @Test func `the verifier sent is that of the challenge shown`() async throws {
    fixture.respond()
    let flow = fixture.flow()
    let signIn = try await flow.begin()
    try await flow.finish(signIn, callback: callback(to: signIn.url, "code=abc"))
    let verifier = try #require(try fixture.mock.sent[0].form["code_verifier"])
    let hash = Digest.sha256(of: verifier).base64.replacing("+", with: "-").replacing("/", with: "_")
    #expect(items(of: signIn.url).contains { $0 == ("code_challenge", String(hash.dropLast())) })
  }

  @Test func `if the server does not name scopes, the token has the requested ones`() async throws {
    fixture.respond(200, #"{"access_token":"A"}"#)
    let grant = try await fixture.flow(scopes: ["a", "b"]).signIn { callback(to: $0, "code=abc") }
    #expect(grant.scopes == ["a", "b"])
    #expect(grant.token.scopes == ["a", "b"])
  }

  @Test func `a sign-in can be finished after a restart of the app`() async throws {
    fixture.respond()
    let signIn = try await fixture.flow().begin()
    let kept = try JSONEncoder().encode(signIn)
    fixture.clock.advance(by: .seconds(3_599))
    let restored = try JSONDecoder().decode(OAuth2SignIn.self, from: kept)
    #expect(restored == signIn)
    try await fixture.flow().finish(restored, callback: callback(to: restored.url, "code=abc"))
    #expect(try await fixture.isSignedIn)
  }

  @Test func `a sign-in can be finished for exactly an hour`() async throws {
    fixture.respond()
    let flow = fixture.flow()
    let signIn = try await flow.begin()
    fixture.clock.advance(by: .seconds(3_600))
    try await flow.finish(signIn, callback: callback(to: signIn.url, "code=abc"))
    #expect(try await fixture.isSignedIn)
  }

  @Test func `a sign-in expires after an hour`() async throws {
    let flow = fixture.flow()
    let signIn = try await flow.begin()
    fixture.clock.advance(by: .seconds(3_601))
    let code = await errorCode { try await flow.finish(signIn, callback: callback(to: signIn.url, "code=abc")) }
    #expect(code == .oauth2Expired)
    #expect(fixture.mock.sent.isEmpty)
  }

  @Test func `a clock that was set back does not expire a sign-in`() async throws {
    let flow = fixture.flow()
    let signIn = try await flow.begin()
    fixture.clock.setDate(fixture.clock.date.addingTimeInterval(-86_400))
    fixture.respond()
    try await flow.finish(signIn, callback: callback(to: signIn.url, "code=abc"))
    #expect(try await fixture.isSignedIn)
  }

  @Test func `a clock that is set forward while the page is open does not expire the sign-in`() async throws {
    fixture.respond()
    let clock = fixture.clock
    try await fixture.flow().signIn { page in
      clock.setDate(clock.date.addingTimeInterval(86_400 * 365))
      return callback(to: page, "code=abc")
    }
    #expect(try await fixture.isSignedIn)
  }

  @Test func `a page that is open for more than an hour expires the sign-in`() async throws {
    let clock = fixture.clock
    let code = await errorCode {
      try await fixture.flow().signIn { page in
        clock.advance(by: .seconds(3_601))
        clock.setDate(clock.date.addingTimeInterval(-86_400))
        return callback(to: page, "code=abc")
      }
    }
    #expect(code == .oauth2Expired)
    #expect(fixture.mock.sent.isEmpty)
  }

  @Test func `one code is exchanged once, however often the callback comes`() async throws {
    fixture.respond()
    let flow = fixture.flow()
    let signIn = try await flow.begin()
    let found = callback(to: signIn.url, "code=abc")
    try await flow.finish(signIn, callback: found)
    #expect(await errorCode { try await flow.finish(signIn, callback: found) } == .oauth2AlreadyFinished)
    #expect(fixture.mock.sent.count == 1)
    #expect(try await fixture.isSignedIn)
  }

  @Test func `of twenty callbacks at once one is exchanged`() async throws {
    fixture.respond()
    let flow = fixture.flow()
    let signIn = try await flow.begin()
    let found = callback(to: signIn.url, "code=abc")
    let codes = await withTaskGroup(of: NetworkError.Code?.self) { group in
      for _ in 0..<20 { group.addTask { await errorCode { try await flow.finish(signIn, callback: found) } } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(codes.count { $0 == nil } == 1)
    #expect(codes.count { $0 == .oauth2AlreadyFinished } == 19)
    #expect(fixture.mock.sent.count == 1)
  }

  @Test func `a callback of another sign-in leaves this one waiting`() async throws {
    fixture.respond()
    let flow = fixture.flow()
    let (first, second) = (try await flow.begin(), try await flow.begin())
    let foreign = callback(to: second.url, "error=access_denied")
    #expect(await errorCode { try await flow.finish(first, callback: foreign) } == .oauth2UnexpectedCallback)
    let stateless = callback(to: first.url, "error=access_denied", state: false)
    #expect(await errorCode { try await flow.finish(first, callback: stateless) } == .oauth2UnexpectedCallback)
    try await flow.finish(first, callback: callback(to: first.url, "code=abc"))
    #expect(try await fixture.isSignedIn)
  }

  @Test func `the error for the user's refusal contains the server's words`() async throws {
    let flow = fixture.flow()
    let error = await #expect(throws: NetworkError.self) {
      try await flow.signIn {
        callback(to: $0, "error=access_denied&error_description=no%0Away&error_uri=https://id.example/why")
      }
    }
    #expect(error?.code == .oauth2Denied)
    #expect(error?.oauth2?.code == .accessDenied)
    #expect(error?.oauth2?.details == "no way")
    #expect(error?.oauth2?.page == url("https://id.example/why"))
    #expect(fixture.mock.sent.isEmpty)
  }

  @Test func `a callback from another server is recognized`() async throws {
    let flow = fixture.flow()
    let code = await errorCode {
      try await flow.signIn { callback(to: $0, "code=abc&iss=https://evil.example") }
    }
    #expect(code == .oauth2InvalidResponse)
    #expect(fixture.mock.sent.isEmpty)
  }

  @Test func `the error for a refused code contains the server's words`() async throws {
    fixture.respond(400, #"{"error":"invalid_grant","error_description":"code expired"}"#)
    let flow = fixture.flow()
    let error = await #expect(throws: NetworkError.self) { try await flow.signIn { callback(to: $0, "code=abc") } }
    #expect(error?.code == .oauth2Refused)
    #expect(error?.oauth2?.code == .invalidGrant)
    #expect(error?.statusCode == 400)
    #expect(try await fixture.isSignedIn == false)
  }

  @Test(arguments: [
    (200, "<html>log in</html>", "text/html"), (200, #"{"access_token":"#, "application/json"),
    (200, "access_token=A&token_type=bearer", "application/x-www-form-urlencoded"), (200, "[]", "application/json"),
    (200, "", "application/json"), (200, #"{"access_token":"A","token_type":"mac"}"#, "application/json"),
    (200, #"{"access_token":"A","token_type":"DPoP"}"#, "application/json"),
    (200, #"{"access_token":"A\nB"}"#, "application/json"),
    (200, #"{"access_token":"A","expires_in":"soon"}"#, "application/json"),
  ])
  func `a response without a valid token does not sign a user in`(status: Int, body: String, type: String) async throws
  {
    fixture.respond(status, body, type: type)
    let flow = fixture.flow()
    let code = await errorCode { try await flow.signIn { callback(to: $0, "code=abc") } }
    #expect(code == .oauth2InvalidResponse)
    #expect(try await fixture.isSignedIn == false)
  }

  @Test func `a portal at the token endpoint does not sign the session out`() async throws {
    try await fixture.session.signIn(AccessToken("old"))
    fixture.mock.on(.post, "token").respond(302, headers: ["Location": "https://portal.example/"])
    let flow = fixture.flow()
    #expect(await errorCode { try await flow.signIn { callback(to: $0, "code=abc") } } == .unacceptableStatus)
    #expect(fixture.mock.sent.count == 1)
    #expect(try await fixture.store.load()?.value == "old")
  }

  @Test func `an exchange whose response is lost is not sent again`() async throws {
    fixture.mock.on(.post, "token").fail(.timedOut)
    let flow = fixture.flow()
    let signIn = try await flow.begin()
    let found = callback(to: signIn.url, "code=abc")
    #expect(await errorCode { try await flow.finish(signIn, callback: found) } == .timedOut)
    #expect(await errorCode { try await flow.finish(signIn, callback: found) } == .oauth2AlreadyFinished)
    #expect(fixture.mock.sent.count == 1)
  }

  @Test func `a code that was not sent can be exchanged again`() async throws {
    fixture.mock.on(.post, "token").fail(.cannotConnect).times(1)
    fixture.respond()
    let flow = fixture.flow()
    let signIn = try await flow.begin()
    let found = callback(to: signIn.url, "code=abc")
    #expect(await errorCode { try await flow.finish(signIn, callback: found) } == .cannotConnect)
    try await flow.finish(signIn, callback: found)
    #expect(try await fixture.isSignedIn)
  }

  @Test func `a code is neither retried nor hedged, whatever behaviors the client has`() async throws {
    let mock = fixture.mock
    mock.on(.post, "token").respond(503).times(1)
    mock.on(.post, "token").respond(200, jsonText: OAuth2Fixture.token).optional()
    let client = NetworkClient(
      configuration: RequestConfiguration(baseURL: mock.baseURL, behaviors: [.retry(), .tokenAuth(fixture.session)]),
      transport: mock)
    let flow = OAuth2Flow(
      session: fixture.session, endpoint: fixture.endpoint(), redirectURI: OAuth2Fixture.redirect, over: client)
    #expect(await errorCode { try await flow.signIn { callback(to: $0, "code=abc") } } == .unacceptableStatus)
    #expect(mock.sent.count == 1)
  }

  @Test func `a cancelled exchange does not sign the session in`() async throws {
    fixture.respond().delayed(by: .seconds(60))
    let flow = fixture.flow()
    let task = Task { try await flow.signIn { callback(to: $0, "code=abc") } }
    _ = await fixture.mock.waitForRequests(1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await fixture.isSignedIn == false)
  }

  @Test func `the requests do not carry the session's token`() async throws {
    try await fixture.session.signIn(AccessToken("old"))
    fixture.respond()
    let client = fixture.client.with { $0.behaviors.append(.tokenAuth(fixture.session)) }
    let flow = OAuth2Flow(
      session: fixture.session, endpoint: fixture.endpoint(), redirectURI: OAuth2Fixture.redirect, over: client)
    try await flow.signIn { callback(to: $0, "code=abc") }
    #expect(fixture.mock.sent[0].headers["Authorization"] == nil)
    fixture.mock.on(.get, "orders").respond(200)
    try await client.send(.get("orders"))
    #expect(fixture.mock.sent[1].headers["Authorization"] == "Bearer A")
  }
}
