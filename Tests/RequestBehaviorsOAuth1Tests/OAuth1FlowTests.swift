import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth1
import RequestBehaviorsTesting
import TestSupport
import Testing

@Suite(.limited) struct OAuth1FlowTests {
  private let mock = MockTransport()
  private let session = OAuth1Session(consumer: OAuth1Consumer(key: "ck", secret: "cs-canary"))
  private let granted = "oauth_token=rt%2F1&oauth_token_secret=rs%2Fcanary&oauth_callback_confirmed=true"

  private func flow(
    callback: String? = "myapp://back?x=1", authorize: String = "https://example.com/authorize"
  ) throws -> OAuth1Flow {
    try OAuth1Flow(
      session: session,
      endpoints: OAuth1Flow.Endpoints(
        requestToken: #require(URL(string: "https://example.com/request_token")),
        authorize: #require(URL(string: authorize)),
        accessToken: #require(URL(string: "https://example.com/access_token"))),
      callback: callback.flatMap { URL(string: $0) },
      over: NetworkClient(baseURL: mock.baseURL, behaviors: [.oauth1(session)], transport: mock))
  }

  private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

  @Test func `a sign-in takes three steps, and the session signs for the user afterwards`() async throws {
    mock.on(.post, "request_token").respond(text: granted)
    mock.on(.post, "access_token")
      .respond(text: "oauth_token=at&oauth_token_secret=as&screen_name=J%C3%BCrgen+M&user_id=7&user_id=8")
    mock.on(.get, "me").respond(200)
    let access = try await flow().signIn { url in
      #expect(url.absoluteString == "https://example.com/authorize?oauth_token=rt%2F1")
      return try self.url("myapp://back?x=1&oauth_token=rt%2F1&oauth_verifier=v%2B1")
    }
    #expect(access.credentials == OAuth1Credentials(token: "at", secret: "as"))
    #expect(access["screen_name"] == "J\u{fc}rgen M")
    #expect(access["user_id"] == "7")
    #expect(access["other"] == nil)
    #expect(access.fields.map(\.name) == ["screen_name", "user_id", "user_id"])
    #expect(session.credentials == access.credentials)

    try await NetworkClient(baseURL: mock.baseURL, behaviors: [.oauth1(session)], transport: mock).send(.get("me"))
    var verifier = OAuth1Verifier(
      consumers: ["ck": "cs-canary"], tokens: ["rt/1": "rs/canary", "at": "as"],
      now: Int(Date().timeIntervalSince1970))
    let received = mock.sent.map { OAuth1Verifier.Received($0) }
    #expect(received.map { verifier.verify($0) } == [.accepted, .accepted, .accepted])
    #expect(received.map { $0["oauth_callback"] } == ["myapp%3A%2F%2Fback%3Fx%3D1", nil, nil])
    #expect(received.map { $0["oauth_token"] } == [nil, "rt%2F1", "at"])
    #expect(received.map { $0["oauth_verifier"] } == [nil, "v%2B1", nil])
    #expect(mock.sent.allSatisfy { $0.headers.values(for: "Authorization").count == 1 })
  }

  @Test func `without a callback the user types a code`() async throws {
    mock.on(.post, "request_token").respond(text: granted)
    mock.on(.post, "access_token").respond(text: "oauth_token=at&oauth_token_secret=")
    let access = try await flow(callback: nil).signInWithCode { _ in " 1234567\n" }
    let received = mock.sent.map { OAuth1Verifier.Received($0) }
    #expect(received.map { $0["oauth_callback"] } == ["oob", nil])
    #expect(received.map { $0["oauth_verifier"] } == [nil, "1234567"])
    #expect(access.credentials.secret.isEmpty)
  }

  @Test func `the request token survives the end of the app`() async throws {
    mock.on(.post, "request_token").respond(text: granted)
    mock.on(.post, "access_token").respond(text: "oauth_token=at&oauth_token_secret=as")
    let stored = try JSONEncoder().encode(try await flow().begin())
    let token = try JSONDecoder().decode(OAuth1RequestToken.self, from: stored)
    #expect(token == OAuth1RequestToken(token: "rt/1", secret: "rs/canary"))
    try await flow().finish(token, callback: url("myapp://back?oauth_token=rt%2F1&oauth_verifier=v"))
    #expect(session.credentials?.token == "at")
  }

  @Test(arguments: [
    ("https://h/a", "https://h/a?oauth_token=a%2Bb%2Fc"),
    ("https://h/a?x=1#f", "https://h/a?x=1&oauth_token=a%2Bb%2Fc#f"),
    ("https://h", "https://h?oauth_token=a%2Bb%2Fc"),
  ])
  func `the token is added to the query of the authorize URL`(endpoint: String, page: String) throws {
    let token = OAuth1RequestToken(token: "a+b/c", secret: "")
    #expect(try flow(authorize: endpoint).authorizeURL(for: token).absoluteString == page)
  }

  @Test(arguments: [
    ("myapp://back?denied=rt", NetworkError.Code.oauth1Denied),
    ("myapp://back?denied=other", .oauth1UnexpectedCallback),
    ("myapp://back?oauth_problem=user_refused", .oauth1Denied),
    ("myapp://back?oauth_problem=permission_denied&oauth_token=rt", .oauth1Denied),
    ("myapp://back?oauth_problem=consumer_key_rejected", .oauth1Refused),
    ("myapp://back?oauth_token=other&oauth_verifier=v", .oauth1UnexpectedCallback),
    ("myapp://back?oauth_verifier=v", .oauth1UnexpectedCallback), ("myapp://back", .oauth1UnexpectedCallback),
    ("myapp://back?oauth_token=rt", .oauth1UnexpectedCallback),
    ("myapp://back?oauth_token=rt&oauth_verifier=", .oauth1UnexpectedCallback),
    ("myapp://back#oauth_token=rt&oauth_verifier=v", .oauth1UnexpectedCallback),
    ("myapp://back?oauth_token=RT&oauth_verifier=v", .oauth1UnexpectedCallback),
  ])
  func `a callback that is not the consent to this sign-in is refused`(callback: String, code: NetworkError.Code)
    async throws
  {
    let token = OAuth1RequestToken(token: "rt", secret: "rs")
    let error = await #expect(throws: NetworkError.self) { try await flow().finish(token, callback: url(callback)) }
    #expect(error?.code == code)
    #expect(mock.sent.isEmpty)
    #expect(session.credentials == nil)
  }

  @Test(arguments: [
    "myapp://back?&oauth_token=rt&oauth_verifier=v", "myapp://back?oauth_verifier=v&oauth_token=rt&x#f",
    "https://h/p?oauth_token=%72t&oauth_verifier=v",
  ])
  func `a callback is read as a form`(callback: String) async throws {
    mock.on(.post, "access_token").respond(text: "oauth_token=at&oauth_token_secret=as")
    try await flow().finish(OAuth1RequestToken(token: "rt", secret: "rs"), callback: url(callback))
    #expect(mock.sent.first.map { OAuth1Verifier.Received($0)["oauth_verifier"] } == "v")
  }

  @Test(arguments: ["\r\n", "\n", "\r", " \t\n\n"])
  func `white space around a token response is not part of it`(space: String) async throws {
    mock.on(.post, "request_token").respond(text: space + granted + space)
    mock.on(.post, "access_token").respond(text: space + "oauth_token=at&oauth_token_secret=as" + space)
    let token = try await flow().begin()
    #expect(token == OAuth1RequestToken(token: "rt/1", secret: "rs/canary"))
    let access = try await flow().finish(token, verifier: "v")
    #expect(access.credentials == OAuth1Credentials(token: "at", secret: "as"))
    #expect(access.fields.isEmpty)
  }

  @Test func `white space that a token response escapes is part of a secret`() async throws {
    mock.on(.post, "access_token").respond(text: "oauth_token=at&oauth_token_secret=+as%0A")
    let access = try await flow().finish(OAuth1RequestToken(token: "rt", secret: "rs"), verifier: "v")
    #expect(access.credentials == OAuth1Credentials(token: "at", secret: " as\n"))
  }

  @Test func `the verifier of a callback is sent unchanged, with its white space`() async throws {
    mock.on(.post, "access_token").respond(text: "oauth_token=at&oauth_token_secret=as")
    let token = OAuth1RequestToken(token: "rt", secret: "rs")
    try await flow().finish(token, callback: url("myapp://back?oauth_token=rt&oauth_verifier=+v%0A"))
    #expect(mock.sent.first.map { OAuth1Verifier.Received($0)["oauth_verifier"] } == "%20v%0A")
  }

  @Test func `the names of an access token's fields are shown, and no value`() async throws {
    mock.on(.post, "access_token").respond(text: "oauth_token=at-canary&oauth_token_secret=as-canary&mail=m-canary")
    let access = try await flow().finish(OAuth1RequestToken(token: "rt", secret: "rs"), verifier: "v")
    #expect("\(access)" == #"OAuth1AccessToken(fields: ["mail"])"#)
    var dumped = ""
    dump(access, to: &dumped)
    for text in [String(reflecting: access), "\([access])", dumped] { #expect(!text.contains("canary")) }
  }

  @Test func `another origin's refusal of a redirected token request is not answered with a resend`() async throws {
    mock.on(.post, "https://example.com/request_token")
      .respond(303, headers: ["Location": "https://other.example/request_token"])
    mock.on(.get, "https://other.example/request_token")
      .respond(401, headers: ["Date": "Sun, 06 Nov 1994 08:49:37 GMT"])
    _ = try? await flow().begin()
    #expect(mock.sent.map(\.url.host) == ["example.com", "other.example"])
  }

  @Test(arguments: [
    ("oauth_token=rt&oauth_token_secret=canary", NetworkError.Code.oauth1CallbackNotConfirmed),
    ("oauth_token=rt&oauth_token_secret=canary&oauth_callback_confirmed=false", .oauth1CallbackNotConfirmed),
    ("oauth_token=rt&oauth_callback_confirmed=true", .oauth1InvalidResponse),
    ("oauth_token_secret=canary&oauth_callback_confirmed=true", .oauth1InvalidResponse),
    (#"{"oauth_token": "canary"}"#, .oauth1InvalidResponse), ("", .oauth1InvalidResponse),
  ])
  func `a response that is not a request token is an error that does not show its content`(
    body: String, code: NetworkError.Code
  )
    async throws
  {
    mock.on(.post, "request_token").respond(text: body)
    let error = await #expect(throws: NetworkError.self) { _ = try await flow().begin() }
    #expect(error?.code == code)
    #expect(error?.statusCode == 200)
    #expect(error.map { "\($0)".contains("canary") } == false)
  }

  @Test func `the error for a refusal contains the service's reason`() async throws {
    mock.on(.post, "request_token").respond(401, text: "oauth_problem=consumer_key_rejected&oauth_problem_advice=x")
      .respond(401, text: "no", headers: ["WWW-Authenticate": "OAuth realm=\"r\", oauth_problem=\"nonce_used\""])
      .respond(503, text: "busy")
    for (code, text) in [
      (NetworkError.Code.oauth1Refused, "consumer_key_rejected"), (.oauth1Refused, "nonce_used"),
      (.unacceptableStatus, "503"),
    ] {
      let error = await #expect(throws: NetworkError.self) { _ = try await flow().begin() }
      #expect(error?.code == code)
      #expect(error?.message.contains(text) == true)
    }
  }

  @Test func `an error of the browser ends the sign-in`() async throws {
    mock.on(.post, "request_token").respond(text: granted)
    await #expect(throws: Failure("closed")) { try await flow().signIn { _ in throw Failure("closed") } }
    #expect(mock.sent.count == 1)
  }

  @Test func `the consumer's signature does not follow a redirect to another origin`() async throws {
    mock.on(.post, "https://example.com/request_token")
      .respond(307, headers: ["Location": "https://other.example/request_token"])
    mock.on(.post, "https://other.example/request_token").respond(text: granted)
    _ = try? await flow().begin()
    #expect(mock.sent.dropFirst().allSatisfy { !$0.headers.contains("Authorization") })
  }

  @Test func `the descriptions of a token do not show a secret`() {
    let token = OAuth1RequestToken(token: "canary", secret: "canary")
    var dumped = ""
    dump(token, to: &dumped)
    for text in ["\(token)", String(reflecting: token), dumped] { #expect(!text.contains("canary")) }
  }
}
