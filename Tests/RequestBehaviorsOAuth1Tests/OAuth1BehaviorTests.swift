import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth1
import RequestBehaviorsTesting
import TestSupport
import Testing

@Suite(.limited) struct OAuth1BehaviorTests {
  private let mock = MockTransport()
  private let clock = ManualClock()

  private func client(_ session: OAuth1Session = .sample(), _ others: [any RequestBehavior] = []) -> NetworkClient {
    var configuration = RequestConfiguration(baseURL: mock.baseURL, behaviors: [.oauth1(session)] + others)
    configuration.clock = clock.requestClock
    return NetworkClient(configuration: configuration, transport: mock)
  }

  private func verdicts() -> [OAuth1Verifier.Verdict] {
    var verifier = OAuth1Verifier.sample(now: clock.date)
    return mock.sent.map { verifier.verify(OAuth1Verifier.Received($0)) }
  }

  @Test func `a request is signed as it is sent`() async throws {
    mock.on().respond(200)
    try await client().send(.get("users/a b", query: ["q": "x+y z", "n": "\u{e9}"]))
    try await client().send(.post("users", body: .form(["status": "Hello, \"you\" + me", "empty": ""])))
    try await client(.sample(.hmacSHA256)).send(.put("users/1", body: .json(["a": 1])))
    #expect(verdicts() == [.accepted, .accepted, .accepted])
  }

  @Test func `the signing behavior is directly outside of verification`() throws {
    let pipeline = try client(.sample(), [.nonceVerification()]).pipeline(for: Request<Void>.get("x"))
    #expect(pipeline.entries.map(\.name).suffix(2) == ["OAuth1Behavior", "NonceVerificationBehavior"])
  }

  @Test func `Authorization is replaced, and every other field is unchanged`() async throws {
    mock.on().respond(200)
    var request = Request<Void>.put("p", body: .text("x"))
    request.headers = ["Authorization": "OAuth old=\"1\"", "X-A": "1", "Accept": "text/plain"]
    try await client().send(request)
    let sent = try #require(mock.sent.first)
    #expect(sent.headers.values(for: "Authorization").count == 1)
    #expect(sent.headers["Authorization"]?.hasPrefix("OAuth oauth_consumer_key=\"ck\", ") == true)
    #expect(sent.headers["X-A"] == "1")
    #expect(sent.headers["Accept"] == "text/plain")
    #expect(try sent.text == "x")
    #expect(verdicts() == [.accepted])
  }

  @Test func `dot segments that a behavior made are removed before the request is signed`() async throws {
    mock.on().respond(200)
    let rewriting = ClosureBehavior(modify: { $0.url = try #require(URL(string: "https://example.com/a/../b/./c?d=.")) }
    )
    try await client(.sample(), [rewriting]).send(.get("p"))
    #expect(mock.sent.first?.url.absoluteString == "https://example.com/b/c?d=.")
    #expect(verdicts() == [.accepted])
  }

  @Test func `the signature is a secret of the origin that it is for`() async throws {
    mock.on().respond(200)
    try await client().send(.get("p"))
    let origin = try #require(Origin("https://example.com"))
    #expect(mock.sent.first?.headers.field(named: "Authorization")?.sensitivity == .only([origin]))
  }

  @Test func `a further attempt has its own nonce and timestamp`() async throws {
    mock.on().respond(503).times(2).respond(200)
    let clock = clock
    let retry = ClosureBehavior("retry", order: .retry) { request, next in
      var response = try await next(request)
      while response.statusCode == 503 {
        clock.advance(by: .seconds(7))
        response = try await next(request)
      }
      return response
    }
    try await client(.sample(), [retry]).send(.get("p"))
    let received = mock.sent.map { OAuth1Verifier.Received($0) }
    #expect(Set(received.map { $0["oauth_nonce"] }).count == 3)
    #expect(Set(received.map { $0["oauth_timestamp"] }).count == 3)
    #expect(verdicts() == [.accepted, .accepted, .accepted])
  }

  @Test func `concurrent sends never share a nonce`() async throws {
    mock.on().respond(200)
    let client = client()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<100 { group.addTask { try? await client.send(.get("p")) } }
    }
    let nonces = mock.sent.compactMap { OAuth1Verifier.Received($0)["oauth_nonce"] }
    #expect(Set(nonces).count == 100)
    #expect(nonces.allSatisfy { $0.utf8.count == 32 && $0.allSatisfy(\.isHexDigit) })
  }

  @Test func `a redirect is signed again for its URL and method`() async throws {
    mock.on(.post, "old").respond(303, headers: ["Location": "/new?page=2"])
    mock.on(.get, "new").respond(200)
    try await client().send(.post("old", body: .form(["a": "1"])))
    #expect(verdicts() == [.accepted, .accepted])
    #expect(mock.sent.map { OAuth1Verifier.Received($0)["oauth_nonce"] }.count == 2)
  }

  @Test func `a redirect to another origin carries no signature`() async throws {
    mock.on(.get, "https://example.com/old").respond(302, headers: ["Location": "https://other.example/new"])
    mock.on(.get, "https://other.example/new").respond(200)
    try await client().send(.get("old"))
    #expect(mock.sent.map { $0.headers.contains("Authorization") } == [true, false])
  }

  @Test func `only requests to the session's origins are signed`() async throws {
    mock.on().respond(200)
    let other = try #require(URL(string: "https://other.example/p"))
    try await client().send(.get(url: other))
    let listed = OAuth1Session.sample(origins: .only([try #require(Origin(other))]))
    try await client(listed).send(.get(url: other))
    try await client(listed).send(.get("p"))
    #expect(mock.sent.map { $0.headers.contains("Authorization") } == [false, true, false])
  }

  @Test func `a request can opt out, and stays out when it is redirected`() async throws {
    mock.on(.get, "old").respond(302, headers: ["Location": "/p"])
    mock.on(.get, "p").respond(200)
    try await client().send(.get("old").with(\.authentication, .none))
    #expect(mock.sent.allSatisfy { !$0.headers.contains("Authorization") })
    #expect(mock.sent.count == 2)
  }

  @Test func `a request without a signed-in user is an error that names the remedy`() async throws {
    mock.on().respond(200)
    let session = OAuth1Session.sample()
    session.signOut()
    let error = await #expect(throws: NetworkError.self) { try await client(session).send(.get("p")) }
    #expect(error?.code == .oauth1MissingCredentials)
    #expect(error?.message.contains("sign in") == true)
    #expect(error?.request?.url.path() == "/p")
    #expect(mock.sent.isEmpty)

    session.signIn(OAuth1Credentials(token: "tk", secret: "ts-canary"))
    try await client(session).send(.get("p"))
    #expect(verdicts() == [.accepted])
  }

  @Test func `an app can sign without a token`() async throws {
    mock.on().respond(200)
    let session = OAuth1Session(
      consumer: OAuth1Consumer(key: "ck", secret: "cs-canary"), credentials: OAuth1Credentials.none)
    try await client(session).send(.get("p"))
    #expect(verdicts() == [.accepted])
    #expect(mock.sent.first?.headers["Authorization"]?.contains("oauth_token") == false)
  }

  @Test func `the query and the form can carry the parameters instead of the header`() async throws {
    mock.on(.get, "old").respond { request in
      NetworkResponse(
        request: request, statusCode: 302,
        headers: ["Location": request.url.absoluteString.replacingOccurrences(of: "/old", with: "/new")])
    }
    mock.on().respond(200)
    var options = OAuth1Options()
    options.location = .query
    try await client(.sample(options: options)).send(.get("old", query: ["a": "b c"]))
    options.location = .formBody
    try await client(.sample(options: options)).send(.post("p", body: .form(["a": "1"])))
    try await client(.sample(options: options)).send(.post("p"))
    #expect(verdicts() == [.accepted, .accepted, .accepted, .accepted])
    #expect(mock.sent.allSatisfy { !$0.headers.contains("Authorization") })

    let error = await #expect(throws: NetworkError.self) {
      try await client(.sample(options: options)).send(.get("p"))
    }
    #expect(error?.code == .invalidRequest)
  }

  @Test(arguments: [OAuth1ParameterLocation.authorizationHeader, .query, .formBody])
  func `a message signature covers the parameters, whichever is listed first`(
    location: OAuth1ParameterLocation
  ) async throws {
    mock.on().respond(200)
    var options = OAuth1Options()
    options.location = location
    let covered: [SignatureComponent] = location == .authorizationHeader ? ["authorization"] : []
    let signature = MessageSignature(
      keyID: "k", hmacSHA256: Data("key".utf8), covering: ["@target-uri", "content-digest", "content-type"] + covered)
    let lists: [[any RequestBehavior]] = [
      [.oauth1(.sample(options: options)), .messageSignature(signature)],
      [.messageSignature(signature), .oauth1(.sample(options: options))],
    ]
    for list in lists {
      var configuration = RequestConfiguration(baseURL: mock.baseURL, behaviors: list)
      configuration.clock = clock.requestClock
      let client = NetworkClient(configuration: configuration, transport: mock)
      try await client.send(.post("p", body: .form(["a": "1"])))
    }
    for sent in mock.sent {
      var unsigned = sent
      unsigned.headers.removeAll { ["Signature", "Signature-Input", "Content-Digest"].contains($0.name) }
      let signed = try await signature.signed(unsigned, created: clock.date)
      #expect(sent.headers["Signature"] == signed.headers["Signature"])
    }
    #expect(verdicts() == [.accepted, .accepted])
  }

  @Test func `a request that is sent again by another clock has a new message signature`() async throws {
    mock.on().respond(
      401, headers: ["Date": "Sun, 06 Nov 1994 08:49:37 GMT"], body: Data("oauth_problem=timestamp_refused".utf8)
    ).times(1).respond(200)
    var signature = MessageSignature(keyID: "k", hmacSHA256: Data("key".utf8), covering: ["@method"])
    signature.includesNonce = true
    var configuration = RequestConfiguration(
      baseURL: mock.baseURL, behaviors: [.messageSignature(signature), .oauth1(.sample())])
    configuration.clock = ManualClock(date: Date(timeIntervalSince1970: 1_000_000_000)).requestClock
    try await NetworkClient(configuration: configuration, transport: mock).send(.get("p"))
    #expect(mock.sent.count == 2)
    #expect(Set(mock.sent.map { $0.headers["Signature"] }).count == 2)
  }

  @Test func `where a redirect drops the form, the parameters go into the field`() async throws {
    mock.on(.post, "orders").respond { request in
      NetworkResponse(
        request: request, statusCode: 303,
        headers: ["Location": request.url.absoluteString.replacingOccurrences(of: "/orders", with: "/result")])
    }
    mock.on(.get, "result").respond(200)
    var options = OAuth1Options()
    options.location = .formBody
    try await client(.sample(options: options)).send(.post("orders", body: .form(["a": "1"])))
    #expect(verdicts() == [.accepted, .accepted])
    #expect(mock.sent.map { $0.headers.contains("Authorization") } == [false, true])
  }

  @Test func `a sign-out drops the cookies of a login, even if its client sent no other request`() async throws {
    let (transport, session) = (CookieTransport(), OAuth1Session.sample())
    let client = NetworkClient(baseURL: mock.baseURL, behaviors: [.oauth1(session)], transport: transport)
    try await client.send(.post("login").with(\.authentication, .none))
    #expect(transport.hasCookies)
    session.signOut()
    #expect(!transport.hasCookies)
  }

  @Test func `a form body that is a stream is an error, another one is not signed`() async throws {
    mock.on().respond(200)
    let stream = { (type: String) in
      RequestContent.body(.stream(contentType: type) { ByteStream(chunks: [Data("a=1".utf8)]) })
    }
    let error = await #expect(throws: NetworkError.self) {
      try await client().send(.post("p", body: stream("application/x-www-form-urlencoded")))
    }
    #expect(error?.code == .invalidRequest)
    #expect(error?.message.contains("stream") == true)
    try await client().send(.post("p", body: stream("text/plain")))
    #expect(verdicts() == [.accepted])
  }

  @Test func `a stream with parameters in the form is an error that names the stream`() async throws {
    var options = OAuth1Options()
    options.location = .formBody
    let stream = RequestContent.body(.stream(length: 3) { ByteStream(chunks: [Data("a=1".utf8)]) })
    let error = await #expect(throws: NetworkError.self) {
      try await client(.sample(options: options)).send(.post("p", body: stream))
    }
    #expect(error?.code == .invalidRequest)
    #expect(error?.message.contains("is a stream or a file") == true)
    #expect(error?.request?.url.path.hasSuffix("/p") == true)
  }

  @Test func `a body without a media type gets the one that it is signed as`() async throws {
    mock.on().respond(200)
    try await client().send(.post("p", body: .body(.data(Data("a=1".utf8)))))
    #expect(mock.sent.first?.headers["Content-Type"] == "application/octet-stream")
    #expect(verdicts() == [.accepted])
  }

  @Test func `a request that cannot be signed is an error that names the request`() async throws {
    var options = OAuth1Options()
    options.includesBodyHash = true
    let cases: [(OAuth1Session, Request<Void>, NetworkError.Code)] = [
      (.sample(), .get("p", query: ["oauth_nonce": "x"]), .invalidRequest),
      (.sample(.rsaSHA1 { _ in throw Failure("locked") }), .get("p"), .oauth1SigningFailed),
      (
        .sample(options: options),
        .post("p", body: .body(.stream(contentType: "text/plain") { ByteStream(chunks: []) })),
        .invalidRequest
      ),
      (
        .sample(.plaintext, origins: .any), .get(url: try #require(URL(string: "http://example.com/"))),
        .oauth1InsecurePlaintext
      ),
    ]
    for (session, request, code) in cases {
      let error = await #expect(throws: NetworkError.self) { try await client(session).send(request) }
      #expect(error?.code == code)
      #expect(error?.request != nil)
    }
    #expect(mock.sent.isEmpty)
  }

  @Test func `descriptions do not show a secret`() async throws {
    mock.on().respond(401)
    let session = OAuth1Session.sample()
    let client = client(session)
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("p")) }
    let sent = try #require(mock.sent.first)
    let pipeline = try client.pipeline(for: Request<Void>.get("p"))
    for value in [session, OAuth1Behavior(session), pipeline, error as Any, sent.headers] as [Any] {
      var dumped = ""
      if !(value is HeaderFields) { dump(value, to: &dumped) }
      for text in ["\(value)", String(reflecting: value), dumped] {
        #expect(!text.contains("canary"))
        #expect(value is OAuth1Session || !text.contains("oauth_signature=\""))
      }
    }
  }

  @Test func `the scope tells users apart and does not show the token`() {
    func request() -> NetworkRequest {
      NetworkRequest(url: mock.baseURL, call: Call(baseOrigin: Origin(mock.baseURL)))
    }
    let session = OAuth1Session.sample()
    let first = request()
    let scope = OAuth1Behavior(session).scope(for: first)
    #expect(scope == OAuth1Behavior(.sample()).scope(for: request()))
    #expect(scope?.contains("tk") == false)
    session.signIn(OAuth1Credentials(token: "other", secret: "s"))
    #expect(OAuth1Behavior(session).scope(for: request()) != scope)
    session.signOut()
    #expect(OAuth1Behavior(session).scope(for: request()) == nil)
    // A call keeps the owner with whom it began.
    #expect(OAuth1Behavior(session).scope(for: first) == scope)
    #expect(OAuth1Behavior(.sample()).scope(for: NetworkRequest(url: mock.baseURL)) == nil)
  }

  @Test func `a list may contain two sessions of different names`() async throws {
    mock.on().respond(200)
    let other = try #require(URL(string: "https://other.example/p"))
    let second = OAuth1Session(
      consumer: OAuth1Consumer(key: "second", secret: "s"), credentials: OAuth1Credentials.none,
      origins: .only([try #require(Origin(other))]), name: "second")
    let client = client(.sample(), [.oauth1(second)])
    try await client.send(.get("p"))
    try await client.send(.get(url: other))
    #expect(mock.sent.map { OAuth1Verifier.Received($0)["oauth_consumer_key"] } == ["ck", "second"])
  }
}
