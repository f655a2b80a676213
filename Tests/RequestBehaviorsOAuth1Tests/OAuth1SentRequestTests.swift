import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth1
import RequestBehaviorsTesting
import TestSupport
import Testing

/// A request was sent and refused: what its error tells, and how its session explains it.
@Suite(.limited) struct OAuth1SentRequestTests {
  private let mock = MockTransport()
  private let clock = ManualClock(date: Date(timeIntervalSince1970: 784_111_777))

  private func client(_ session: OAuth1Session, _ others: [any RequestBehavior] = []) -> NetworkClient {
    var configuration = RequestConfiguration(baseURL: mock.baseURL, behaviors: [.oauth1(session)] + others)
    configuration.clock = clock.requestClock
    return NetworkClient(configuration: configuration, transport: mock)
  }

  private func refusal(
    _ session: OAuth1Session, _ others: [any RequestBehavior] = [], of request: Request<Void> = .get("p")
  ) async throws -> NetworkError {
    try #require(await #expect(throws: NetworkError.self) { try await client(session, others).send(request) })
  }

  // MARK: The remedy

  @Test(
    arguments: [
      ("oauth_problem=token_revoked", "The token is no longer valid: sign the user in again."),
      ("oauth_problem=nonce_used", "The same signed request arrived twice: look for a proxy that repeats requests."),
      (
        "oauth_problem=consumer_key_unknown",
        "The service does not accept the consumer key: is it for this service and this environment of it?"
      ),
      (
        "oauth_problem=timestamp_refused&oauth_acceptable_timestamps=784115077-784115677",
        "The timestamp is 3300 s before the earliest that the service accepts."
      ),
      (
        "oauth_problem=timestamp_refused&oauth_acceptable_timestamps=784110000-784111777",
        nil
      ),
    ] as [(String, String?)])
  func `a problem that the service names has a remedy`(body: String, remedy: String?) async throws {
    mock.on().respond(401, body: Data(body.utf8))
    let session = OAuth1Session.sample()
    let findings = session.explain(try await refusal(session)).findings
    #expect(findings.dropFirst() == (remedy.map { [$0] } ?? []))
  }

  @Test func `the lines of a body are fields of their own`() async throws {
    mock.on().respond(401, body: Data("oauth_problem=signature_invalid\nbase_string=GET".utf8))
    let error = try await refusal(.sample())
    #expect(error.message.hasSuffix("oauth_problem=signature_invalid"))
  }

  // MARK: The message of the error

  @Test(arguments: [
    (401, "", "oauth_problem=token_revoked", "oauth_problem=token_revoked"),
    (
      400, "", "oauth_problem=parameter_absent&oauth_parameters_absent=oauth_nonce%26x",
      "oauth_problem=parameter_absent, oauth_parameters_absent=oauth_nonce&x"
    ),
    (401, #"OAuth realm="a,b", oauth_problem="nonce_used""#, "", "oauth_problem=nonce_used"),
    (401, #"Basic realm="a \"b\"", OAuth oauth_problem=signature_invalid"#, "", "oauth_problem=signature_invalid"),
    (
      401, #"Bearer realm="x", error="invalid_token", Basic"#, "{}",
      #"challenge Bearer realm="x", error="invalid_token"; Basic"#
    ),
    (401, #"Digest realm="x", nonce="canary", opaque="canary""#, "", #"challenge Digest realm="x""#),
    (401, "", #"{"error": "nothing of OAuth"}"#, "the server answered 401"),
    (403, "OAuth realm=\"x\"", "oauth_problem=permission_denied", "oauth_problem=permission_denied"),
    (404, "", "oauth_problem=token_revoked", "the server answered 404"),
  ])
  func `the error tells the service's problem, or else its challenge`(
    status: Int, challenge: String, body: String, told: String
  ) async throws {
    mock.on().respond(status, headers: ["WWW-Authenticate": challenge], body: Data(body.utf8))
    let error = try await refusal(.sample())
    #expect(error.message.hasSuffix(told))
    #expect(!error.message.contains("canary"))
  }

  @Test func `a problem's advice is redacted and cut to one short line`() async throws {
    let advice = "password%3Dcanary%0Asecond+line+" + String(repeating: "x", count: 500)
    mock.on().respond(401, text: "oauth_problem=signature_invalid&oauth_problem_advice=\(advice)")
    let message = try await refusal(.sample()).message
    #expect(!message.contains("canary"))
    #expect(!message.contains("\n"))
    #expect(message.count < 300)
  }

  // MARK: Explanations

  @Test(arguments: [OAuth1ParameterLocation.authorizationHeader, .formBody, .query])
  func `a refused request is explained with the nonce and timestamp that were sent`(location: OAuth1ParameterLocation)
    async throws
  {
    mock.on().respond(401, text: "oauth_problem=signature_invalid")
    var options = OAuth1Options()
    options.location = location
    options.realm = "r \"s\""
    options.includesVersion = false
    let session = OAuth1Session.sample(options: options)
    let request = Request<Void>.post("p", body: .form(["x": "1", "y": "\u{e9}"]), query: ["q": "a b", "r": "+&="])
      .with(\.oauth1Parameters, ["oauth_session_handle": "handle-canary"])
    let error = try await refusal(session, of: request)
    let explanation = session.explain(error)
    let signature = try #require(explanation.signature)
    #expect(explanation.isSignatureReproduced == true)
    #expect(explanation.problem == "signature_invalid")
    #expect(explanation.findings.first == "The service answered 401: oauth_problem=signature_invalid.")
    #expect(explanation.findings.last?.hasPrefix("The request carries the signature that these secrets give.") == true)
    #expect(explanation.findings.count == 2)
    #expect(signature.parameterString.contains("oauth_timestamp=784111777"))
    #expect(signature.parameterString.hasSuffix("&q=a%20b&r=%2B%26%3D&x=1&y=%C3%A9"))
    #expect(signature.protocolParameters.contains { $0.name == "oauth_session_handle" && $0.value == "handle-canary" })
    #expect("\(explanation)".contains("Signature base string"))

    var verifier = OAuth1Verifier.sample(now: clock.date)
    let sent = try #require(mock.sent.first)
    #expect(verifier.verify(.init(sent)) == .accepted)
    #expect(signature.baseString == verifier.baseString(of: .init(sent)))
  }

  @Test func `a request without query or form is explained wherever its parameters are`() async throws {
    mock.on().respond(401)
    var options = OAuth1Options()
    for location in [OAuth1ParameterLocation.authorizationHeader, .formBody, .query] {
      options.location = location
      let session = OAuth1Session.sample(options: options)
      #expect(session.explain(try await refusal(session, of: .post("p"))).isSignatureReproduced == true)
    }
  }

  @Test func `an explanation of a request that succeeded needs no error`() async throws {
    mock.on().respond(200)
    let session = OAuth1Session.sample()
    try await client(session).send(.get("p"))
    let explanation = session.explain(try #require(mock.sent.first))
    #expect(explanation.isSignatureReproduced == true)
    #expect(explanation.findings.isEmpty)
    #expect("\(explanation)".hasPrefix("- Nothing is wrong at first sight.\n"))
  }

  @Test func `the descriptions of an explanation do not show a secret`() async throws {
    mock.on().respond(401, text: "oauth_problem=signature_invalid")
    for method in [OAuth1SignatureMethod.hmacSHA1, .plaintext] {
      let session = OAuth1Session.sample(method)
      let request = Request<Void>.get("p").with(\.oauth1Parameters, ["oauth_session_handle": "handle-canary"])
      let explanation = session.explain(try await refusal(session, of: request))
      #expect(explanation.isSignatureReproduced == true)
      var dumped = ""
      dump(explanation, to: &dumped)
      for text in ["\(explanation)", String(reflecting: explanation), "\([explanation])", dumped] {
        #expect(!text.contains("canary"))
      }
      #expect("\(explanation)".contains("a consumer secret of 9 characters and a token secret of 9 characters"))
    }
  }

  @Test(arguments: [
    ("cs-canary\n", "ts-canary", "The consumer secret begins or ends with a line break"),
    ("cs-canary", " ts-canary", "The token secret begins or ends with white space"),
    ("cs canary", "ts-canary", "The consumer secret contains white space"),
    ("cs-canary", "\"ts-canary\"", "The token secret is in quotes"),
    ("cs%2Fcanary", "ts-canary", "The consumer secret contains a percent-escape"),
    ("", "ts-canary", "The consumer secret is empty"), ("cs-canary", "", "The token's secret is empty"),
  ])
  func `an explanation points out a malformed secret without showing it`(
    consumer: String, token: String, finding: String
  )
    async throws
  {
    mock.on().respond(401)
    let session = OAuth1Session(
      consumer: OAuth1Consumer(key: "ck", secret: consumer),
      credentials: OAuth1Credentials(token: "tk", secret: token))
    let explanation = session.explain(try await refusal(session))
    #expect(explanation.findings.contains { $0.hasPrefix(finding) })
    #expect(explanation.findings.count == 2)
    #expect(!"\(explanation)".contains("canary"))
  }

  @Test func `white space in a key or token is pointed out`() async throws {
    mock.on().respond(401)
    let session = OAuth1Session(
      consumer: OAuth1Consumer(key: "ck ", secret: "s"), credentials: OAuth1Credentials(token: "tk\r\n", secret: "s"))
    let findings = session.explain(try await refusal(session)).findings
    #expect(findings.contains { $0.hasPrefix("The consumer key begins or ends with white space") })
    #expect(findings.contains { $0.hasPrefix("The token begins or ends with a line break") })
  }

  @Test func `a request that was changed after it was signed is recognised`() async throws {
    mock.on().respond(401)
    let session = OAuth1Session.sample()
    let late = ClosureBehavior("late", order: .last, modify: { $0.url = $0.url.appending(path: "more") })
    let explanation = session.explain(try await refusal(session, [late]))
    #expect(explanation.isSignatureReproduced == false)
    #expect(explanation.findings.contains { $0.contains("changed after it was signed") })
    #expect(explanation.signature?.baseStringURI == "https://example.com/p/more")
  }

  @Test func `a request of another user, consumer or method is recognised`() async throws {
    mock.on().respond(401)
    let session = OAuth1Session.sample()
    let error = try await refusal(session)
    session.signIn(OAuth1Credentials(token: "other", secret: "s"))
    #expect(session.explain(error).findings.contains { $0.contains("another token than that of the user") })
    session.signOut()
    let explanation = session.explain(error)
    #expect(explanation.findings.contains { $0.contains("has no user's token now") })
    #expect(explanation.signature != nil)
    #expect(explanation.isSignatureReproduced == false)

    let other = OAuth1Session(
      consumer: OAuth1Consumer(key: "other", secret: "s"), credentials: OAuth1Credentials(token: "tk", secret: "s"),
      signatureMethod: .hmacSHA256)
    let findings = other.explain(error).findings
    #expect(findings.contains { $0.contains("another consumer") })
    #expect(findings.contains { $0.contains("signed by HMAC-SHA1, this session signs by HMAC-SHA256") })
  }

  @Test(
    arguments: [
      ("Sun, 06 Nov 1994 08:48:38 GMT", nil), ("Sun, 06 Nov 1994 08:48:37 GMT", "60 s ahead of"),
      ("Sun, 06 Nov 1994 09:49:37 GMT", "3600 s behind"), ("yesterday", nil),
    ] as [(String, String?)])
  func `a timestamp far from the service's date is pointed out`(date: String, finding: String?) async throws {
    mock.on().respond(401, headers: ["Date": date], body: Data("oauth_problem=signature_invalid".utf8))
    let session = OAuth1Session.sample()
    let found = session.explain(try await refusal(session)).findings.first { $0.hasPrefix("The timestamp is") }
    #expect((found != nil) == (finding != nil))
    if let finding { #expect(found?.contains(finding) == true) }
  }

  @Test func `the explanation of a request that was not signed gives the reason`() async throws {
    mock.on().respond(401)
    let session = OAuth1Session.sample()
    let other = try #require(URL(string: "https://other.example/p"))
    func finding(_ session: OAuth1Session, _ request: Request<Void>) async throws -> String? {
      let explanation = session.explain(try await refusal(session, of: request))
      #expect(explanation.signature == nil)
      #expect(explanation.isSignatureReproduced == nil)
      return explanation.findings.last
    }
    #expect(try await finding(session, .get(url: other))?.contains("https://other.example is not one of") == true)
    let unwanted = try await finding(session, .get("p").with(\.authentication, .none))
    #expect(unwanted?.contains("option authentication") == true)
    let out = OAuth1Session.sample()
    out.signOut()
    #expect(try await finding(out, .get("p"))?.contains("no user is signed in") == true)
    let plain = session.explain(NetworkRequest(url: mock.baseURL, call: Call(baseOrigin: Origin(mock.baseURL))))
    #expect(plain.findings.last?.contains("not sent through an OAuth1Behavior") == true)
    #expect(session.explain(Failure("x")).findings.first?.contains("not a NetworkError") == true)
  }

  @Test func `a private key is not used for an explanation`() async throws {
    mock.on().respond(401)
    let journal = Journal()
    let session = OAuth1Session.sample(
      .rsaSHA1 {
        journal.note("signed")
        return $0.prefix(4)
      })
    let explanation = session.explain(try await refusal(session))
    #expect(explanation.isSignatureReproduced == nil)
    #expect(explanation.signature?.signature == Data("GET&".utf8).base64EncodedString())
    #expect(journal.entries == ["signed"])
  }

  @Test func `a refused sign-in has an explanation too`() async throws {
    mock.on().respond(401, text: "oauth_problem=signature_invalid")
    let session = OAuth1Session(consumer: OAuth1Consumer(key: "ck", secret: "cs"))
    let url = try #require(URL(string: "https://example.com/token"))
    let flow = OAuth1Flow(
      session: session, endpoints: OAuth1Flow.Endpoints(requestToken: url, authorize: url, accessToken: url),
      over: client(session))
    let error = try #require(await #expect(throws: NetworkError.self) { _ = try await flow.begin() })
    let explanation = session.explain(error)
    #expect(explanation.isSignatureReproduced == true)
    #expect(explanation.signature?.parameterString.contains("oauth_callback=oob") == true)
  }

  // MARK: Additional parameters

  @Test func `a request's additional parameters are signed and sent in the order of their names`() async throws {
    mock.on().respond(200)
    let request = Request<Void>.get("p").with(\.oauth1Parameters, ["oauth_z": "1", "oauth_session_handle": "a b"])
    try await client(.sample()).send(request)
    let sent = try #require(mock.sent.first)
    #expect(
      sent.headers["Authorization"]?.contains(#"oauth_session_handle="a%20b", oauth_z="1", oauth_signature="#) == true)
    var verifier = OAuth1Verifier.sample(now: clock.date)
    #expect(verifier.verify(.init(sent)) == .accepted)

    let error = try await refusal(.sample(), of: .get("p").with(\.oauth1Parameters, ["oauth_nonce": "1"]))
    #expect(error.code == .invalidRequest)
    #expect(mock.sent.count == 1)
  }

  @Test func `a redirect that echoes additional parameters in its query is signed again`() async throws {
    mock.on(.get, "old").respond { request in
      let url = request.url.absoluteString.replacingOccurrences(of: "/old", with: "/new")
      return NetworkResponse(request: request, statusCode: 302, headers: ["Location": url])
    }
    mock.on(.get, "new").respond(200)
    var options = OAuth1Options()
    options.location = .query
    let request = Request<Void>.get("old").with(\.oauth1Parameters, ["oauth_session_handle": "h"])
    try await client(.sample(options: options)).send(request)
    var verifier = OAuth1Verifier.sample(now: clock.date)
    #expect(mock.sent.map { verifier.verify(.init($0)) } == [.accepted, .accepted])
  }

  @Test func `a token is renewed with its session handle`() async throws {
    mock.on().respond(text: "oauth_token=new&oauth_token_secret=ns&oauth_session_handle=h2&oauth_expires_in=3600\n")
    let session = OAuth1Session.sample()
    let url = try #require(URL(string: "https://example.com/token"))
    let flow = OAuth1Flow(
      session: session, endpoints: OAuth1Flow.Endpoints(requestToken: url, authorize: url, accessToken: url),
      over: client(session))
    let access = try await flow.renew(OAuth1Credentials(token: "tk", secret: "ts-canary"), sessionHandle: "h/1")
    #expect(access["oauth_session_handle"] == "h2")
    #expect(access["oauth_expires_in"] == "3600")
    #expect(session.credentials == OAuth1Credentials(token: "new", secret: "ns"))
    let sent = try #require(mock.sent.first)
    #expect(OAuth1Verifier.Received(sent)["oauth_session_handle"] == "h%2F1")
    var verifier = OAuth1Verifier.sample(now: clock.date)
    #expect(verifier.verify(.init(sent)) == .accepted)
  }

  // MARK: Body hash of files

  private func withFile<Result>(_ contents: Data, _ body: (URL) async throws -> Result) async throws -> Result {
    let url = FileManager.default.temporaryDirectory.appending(path: "oauth1-\(UUID().uuidString)")
    try contents.write(to: url)
    defer { try? FileManager.default.removeItem(at: url) }
    return try await body(url)
  }

  private var hashing: OAuth1Options {
    var options = OAuth1Options()
    options.includesBodyHash = true
    return options
  }

  @Test(arguments: [0, 1, 64, 300_000])
  func `a body file's hash is that of its contents`(count: Int) async throws {
    mock.on().respond(401)
    let contents = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    let session = OAuth1Session.sample(.hmacSHA256, options: hashing)
    let error = try await withFile(contents) { file in
      try await refusal(session, of: .put("p", body: .body(.file(file, contentType: "image/png"))))
    }
    let hash = OAuth1Signature.bodyHash(of: contents, method: .hmacSHA256)
    let explanation = session.explain(error)
    #expect(explanation.signature?.protocolParameters.first { $0.name == "oauth_body_hash" }?.value == hash)
    // The file no longer exists, and the explanation does not need it.
    #expect(explanation.isSignatureReproduced == true)
  }

  @Test func `a body file is hashed again for every send`() async throws {
    mock.on().respond(503).times(1).respond(200)
    let hashes = try await withFile(Data("one".utf8)) { file in
      let twice = ClosureBehavior("twice", order: .retry) { request, next in
        _ = try await next(request)
        try Data("two".utf8).write(to: file)
        return try await next(request)
      }
      try await client(.sample(options: hashing), [twice])
        .send(.put("p", body: .body(.file(file, contentType: "text/plain"))))
      return mock.sent.map { OAuth1Verifier.Received($0)["oauth_body_hash"]?.removingPercentEncoding }
    }
    #expect(
      hashes == ["one", "two"].map { OAuth1Signature.bodyHash(of: Data($0.utf8), method: .hmacSHA1) })
  }

  @Test func `a body file has no hash if none is sent`() async throws {
    mock.on().respond(200)
    try await withFile(Data("x".utf8)) { file in
      let body = RequestContent.body(.file(file, contentType: "text/plain"))
      try await client(.sample()).send(.put("p", body: body))
      try await client(.sample(.plaintext, options: hashing)).send(.put("p", body: body))
    }
    #expect(mock.sent.map { $0.headers["Authorization"]?.contains("body_hash") } == [false, false])
  }

  @Test func `a body file that cannot be read or is a form is an error with its request`() async throws {
    let missing = URL(filePath: "/nowhere/to/be/found")
    let cases: [(String, NetworkError.Code)] = [
      ("text/plain", .bodyUnreadable), ("application/x-www-form-urlencoded", .invalidRequest),
    ]
    for (type, code) in cases {
      let body = RequestContent.body(.file(missing, contentType: type))
      let error = try await refusal(.sample(options: hashing), of: .put("p", body: body))
      #expect(error.code == code)
      #expect(error.request != nil)
    }
    let folder = RequestContent.body(.file(FileManager.default.temporaryDirectory, contentType: "text/plain"))
    #expect(try await refusal(.sample(options: hashing), of: .put("p", body: folder)).code == .bodyUnreadable)
    #expect(mock.sent.isEmpty)
  }

  @Test func `a body hash of a stream is refused, and the error names the remedy`() async throws {
    let stream = RequestContent.body(.stream(contentType: "text/plain") { ByteStream(chunks: []) })
    let error = try await refusal(.sample(options: hashing), of: .put("p", body: stream))
    #expect(error.code == .invalidRequest)
    #expect(error.message.contains("as data or a file"))
  }
}
