import Foundation
import RequestBehaviors
import TestSupport
import Testing

/// Credentials go only to the origins they are for.
@Suite(.limited) struct SecretsTests {
  private let transport = ClosureTransport(401)
  private let auth = ClosureBehavior(
    "auth", order: .authentication,
    headers: { _ in HeaderFields([.init("Authorization", "Bearer canary", sensitive: .baseURL)]) })

  @Test func `a secret of the base URL's origin is removed on the way to another host`() async throws {
    let client = NetworkClient(transport, [auth])
    await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    let other = try #require(URL(string: "https://other.example/x"))
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get(url: other)) }
    #expect(transport.sent.map { $0.headers["Authorization"] } == ["Bearer canary", nil])
    #expect(error?.message.contains("Authorization kept from https://other.example") == true)
  }

  @Test func `another port or scheme of the host is another origin`() async throws {
    let client = NetworkClient(transport, [auth])
    for text in ["https://api.example.com:8443/x", "http://api.example.com/x"] {
      _ = try? await client.send(Request<Void>.get(url: try #require(URL(string: text))))
    }
    #expect(transport.sent.count == 2)
    #expect(transport.sent.allSatisfy { !$0.headers.contains("Authorization") })
  }

  @Test func `an environment on another origin gets no credentials, and the error for its 401 says so`() async throws {
    let staging = ServerEnvironment(baseURL: try #require(URL(string: "https://staging.example.com")))
    let error = await #expect(throws: NetworkError.self) {
      try await NetworkClient(transport, [auth]).send(.get("x").with(\.environment, staging))
    }
    #expect(!transport.sent[0].headers.contains("Authorization"))
    #expect(error?.message.contains("credentials are bound to other origins") == true)
  }

  @Test func `a listed origin gets the secret`() async throws {
    let partner = try #require(Origin("https://partner.example"))
    let key = ClosureBehavior(
      "key", headers: { _ in HeaderFields([.init("X-Key", "canary", sensitive: .only([partner]))]) })
    let client = NetworkClient(transport, [key])
    _ = try? await client.send(Request<Void>.get("x"))
    _ = try? await client.send(Request<Void>.get(url: try #require(URL(string: "https://partner.example/x"))))
    #expect(transport.sent.map { $0.headers["X-Key"] } == [nil, "canary"])
  }

  @Test func `an environment's secret goes to its own origin only`() async throws {
    var headers = HeaderFields()
    headers.set("X-Key", "canary", sensitive: .baseURL)
    let staging = ServerEnvironment(baseURL: try #require(URL(string: "https://staging.example.com")), headers: headers)
    _ = try? await NetworkClient(transport).send(Request<Void>.get("x").with(\.environment, staging))
    #expect(transport.sent[0].headers["X-Key"] == "canary")
  }

  @Test func `descriptions of errors, requests and responses do not show a secret`() async throws {
    let transport = ClosureTransport(500, #"{"access_token":"canary"}"#, headers: ["Content-Type": "application/json"])
    let request = Request<Int>.get("x", query: ["api_key": "canary"]).with(
      header: "X-Key", "canary", sensitive: .baseURL)
    let error = await #expect(throws: NetworkError.self) {
      _ = try await NetworkClient(transport, [auth]).send(request)
    }
    var dumped = ""
    dump(error, to: &dumped)
    let shown = [
      "\(error as Any)", error?.debugDescription, error?.errorDescription, error?.localizedDescription, dumped,
      error?.request?.description, error?.response?.description, error?.attempts.description,
      error?.request?.headers.description,
    ]
    for text in shown { #expect(text?.contains("canary") == false, "\(text ?? "")") }
  }
}

/// A description of a call does not contain a secret that the call knows, whatever part quotes it.
@Suite(.limited) struct QuotedSecretsTests {
  /// An error of another library that repeats what it was given.
  private struct Talkative: Error, CustomStringConvertible { let description: String }

  /// Every text that is made of an error.
  private func texts(_ error: any Error) -> [String] {
    var dumped = ""
    dump(error, to: &dumped)
    var texts = ["\(error)", String(reflecting: error), error.localizedDescription, dumped, "\([error])"]
    if let error = error as? NetworkError {
      texts += [error.debugDescription, error.errorDescription ?? "", "\(error.attempts)"]
      if let request = error.request { texts += ["\(request)", String(reflecting: request)] }
      if let response = error.response { texts += ["\(response)", String(reflecting: response)] }
    }
    return texts
  }

  private func error(
    quoting text: String, _ behaviors: [any RequestBehavior] = [], _ request: Request<Void> = .get("x")
  ) async throws -> NetworkError {
    let transport = ClosureTransport { request in
      throw NetworkError(
        .cannotConnect, "no route for \(text)", request: request, underlyingError: Talkative(description: "at \(text)!")
      )
    }
    return try #require(
      await #expect(throws: NetworkError.self) { try await NetworkClient(transport, behaviors).send(request) })
  }

  private func expectHidden(_ secret: String, in error: NetworkError, sourceLocation: SourceLocation = #_sourceLocation)
  {
    for text in texts(error) {
      #expect(!text.contains(secret), "\(text)", sourceLocation: sourceLocation)
    }
    #expect("\(error)".contains("REDACTED"), sourceLocation: sourceLocation)
  }

  private func header(_ name: String, _ value: String) -> ClosureBehavior {
    ClosureBehavior(
      "header", order: .authentication, headers: { _ in HeaderFields([.init(name, value, sensitive: .baseURL)]) })
  }

  @Test func `a token that an underlying error quotes is hidden, with and without its scheme`() async throws {
    for quoted in ["Bearer abc-canary", "abc-canary", "%61bc-canary"] {
      let error = try await error(quoting: quoted, [header("Authorization", "Bearer abc-canary")])
      expectHidden("canary", in: error)
    }
  }

  @Test func `a value of two words that begins with no scheme is hidden whole`() async throws {
    let error = try await error(quoting: "canary horse", [header("X-Key", "canary horse")])
    expectHidden("canary", in: error)
    expectHidden("horse", in: error)
  }

  @Test func `only the tokens in the parameters of a scheme and in cookies are hidden`() async throws {
    let fields = [
      ("Authorization", #"OAuth realm="r", oauth_token="abc%2Fcanary", oauth_version="1.0""#),
      ("Cookie", "a=b; theme=abc/canary"), ("Cookie", "theme=x; sid=abc/canary"),
    ]
    for (name, value) in fields {
      expectHidden("canary", in: try await error(quoting: "abc/canary", [header(name, value)]))
    }
  }

  @Test func `the password of basic authentication is hidden, alone and in base64`() async throws {
    for quoted in ["Basic bWU6Y2FuYXJ5Cg==", "bWU6Y2FuYXJ5", "me:canary", "canary"] {
      let error = try await error(quoting: quoted, [.basicAuth(user: "me", password: "canary")])
      expectHidden("canary", in: error)
      expectHidden("Y2FuYXJ5", in: error)
    }
  }

  @Test func `a key that the user set unmarked, in a field, the query or a form, is hidden`() async throws {
    let requests: [Request<Void>] = [
      .get("x").with(header: "X-Api-Key", "abc-canary"), .get("x").with(header: "X-Shop", "abc-canary"),
      .get("x").with(header: "Cookie", "a=b; sid=abc-canary; c=d"), .get("x", query: ["api_key": "abc-canary"]),
      .post("x", body: .form(["password": "abc-canary"])),
    ]
    for request in requests { expectHidden("canary", in: try await error(quoting: "abc-canary", [], request)) }
  }

  @Test func `a token of an earlier send of the call is hidden`() async throws {
    let tokens = Box(["first-canary", "second-canary"])
    let rotating = ClosureBehavior("rotating", order: .authentication) { request, next in
      var request = request
      request.headers.set("Authorization", "Bearer \(tokens.update { $0.removeFirst() })", sensitive: .baseURL)
      return try await next(request)
    }
    let twice = ClosureBehavior("twice", order: .retry) { request, next in
      _ = try? await next(request)
      return try await next(request)
    }
    let error = try await error(quoting: "first-canary and second-canary", [twice, rotating])
    #expect(error.attempts.count == 2)
    expectHidden("canary", in: error)
  }

  @Test func `a secret that was withheld from another origin is still hidden`() async throws {
    let other = try #require(URL(string: "https://other.example/x"))
    let error = try await error(quoting: "abc-canary", [header("X-Key", "abc-canary")], .get(url: other))
    expectHidden("canary", in: error)
  }

  @Test func `a secret that a behavior adds to the call is hidden, also in the path`() async throws {
    let bot = ClosureBehavior(
      "bot",
      modify: { request in
        request.url.append(path: "abc-canary")
        request.call.addSecret("abc-canary")
      })
    expectHidden("canary", in: try await error(quoting: "abc-canary", [bot]))
  }

  @Test func `a secret of a request that was never sent is hidden in the log`() async throws {
    let lines = Box<[String]>([])
    let sink = ClosureLogSink { record in lines.update { $0 += [record.line, record.json] } }
    let refusing = ClosureBehavior(
      "refusing", order: .signing,
      modify: { request in
        let value = request.headers["Authorization"]?.dropFirst(7) ?? ""
        throw Talkative(description: "cannot sign \(value)")
      })
    let client = NetworkClient(
      ClosureTransport(), [.logging(sink), header("Authorization", "Bearer abc-canary"), refusing])
    await #expect(throws: Talkative.self) { try await client.send(.get("x")) }
    #expect(lines.value.count == 2)
    for line in lines.value { #expect(line.contains("cannot sign REDACTED"), "\(line)") }
  }

  @Test func `a key that a behavior adds to the query or the body is hidden if an error of a transport quotes it`()
    async throws
  {
    let lines = Box<[String]>([])
    let sink = ClosureLogSink { record in lines.update { $0 += [record.line, record.json] } }
    let adding = ClosureBehavior(
      "adding",
      modify: { request in
        request.url.append(queryItems: [URLQueryItem(name: "api_key", value: "abc-canary")])
        request.body = .data(Data(#"{"password":"def-canary"}"#.utf8), contentType: "application/json")
      })
    let failing = ClosureTransport { _ in throw Talkative(description: "neither abc-canary nor def-canary") }
    _ = try? await NetworkClient(failing, [.logging(sink), adding]).send(Request<Void>.post("x"))
    #expect(lines.value.contains { $0.contains("neither REDACTED nor REDACTED") })
    for line in lines.value { #expect(!line.contains("canary"), "\(line)") }
  }

  @Test func `an error of a behavior that names no request hides the secrets of its call`() async throws {
    let refusing = ClosureBehavior(
      "refusing", order: .signing,
      modify: { _ in
        throw NetworkError(
          .invalidRequest, "cannot sign abc-canary", underlyingError: Talkative(description: "at abc-canary"))
      })
    let client = NetworkClient(ClosureTransport(), [header("X-Key", "abc-canary"), refusing])
    let error = try #require(await #expect(throws: NetworkError.self) { try await client.send(.get("x")) })
    expectHidden("canary", in: error)
    #expect(error.request?.url.lastPathComponent == "x")
  }

  @Test func `a password that the server echoes is hidden, whether it was sent in a form or as JSON`() async throws {
    struct Login: Encodable {
      struct User: Encodable { let newPassword = "hunter-canary" }
      let user = User()
      let pin = 777_888
    }
    let echo = ClosureTransport { request in
      NetworkResponse(
        request: request, statusCode: 422, headers: ["Content-Type": "application/problem+json"],
        body: .data(Data(#"{"title":"hunter-canary and 777888 are too easy"}"#.utf8)))
    }
    for body in [RequestContent.json(Login()), .form(["password": "hunter-canary", "pin": "777888"])] {
      let request = Request<NetworkResponse>.post("users", body: body)
      let error = try #require(
        await #expect(throws: NetworkError.self) { try await NetworkClient(echo).send(request) })
      #expect("\(error)".contains("REDACTED and REDACTED are too easy"))
      expectHidden("canary", in: error)
    }
  }

  @Test(arguments: ["application/x-amz-json-1.1", "application/x-ndjson"])
  func `a password that the server echoes is hidden if it was sent as JSON of another type`(type: String) async throws {
    let echo = ClosureTransport { request in
      NetworkResponse(
        request: request, statusCode: 422, headers: ["Content-Type": "application/problem+json"],
        body: .data(Data(#"{"title":"hunter-canary is too easy"}"#.utf8)))
    }
    let body = RequestContent.data(Data(#"{"password":"hunter-canary"}"#.utf8), contentType: type)
    let request = Request<NetworkResponse>.post("users", body: body)
    let error = try #require(await #expect(throws: NetworkError.self) { try await NetworkClient(echo).send(request) })
    #expect("\(error)".contains("REDACTED is too easy"))
    expectHidden("canary", in: error)
  }

  @Test(arguments: ["in memory", "beside a stream"])
  func `a password that the server echoes is hidden if it was sent in a multipart form`(form: String) async throws {
    let echo = ClosureTransport { request in
      NetworkResponse(
        request: request, statusCode: 422, headers: ["Content-Type": "application/problem+json"],
        body: .data(Data(#"{"title":"hunter-canary and json-canary are too easy"}"#.utf8)))
    }
    var parts: [MultipartPart] = [
      .field("name", "me"), .field("new_password", "hunter-canary"),
      .part("more", .multipart([.part("user", .json(["password": "json-canary"]))])),
    ]
    if form == "beside a stream" { parts.append(.part("photo", .stream { ByteStream(chunks: []) })) }
    let request = Request<NetworkResponse>.post("users", body: .multipart(parts))
    let error = try #require(await #expect(throws: NetworkError.self) { try await NetworkClient(echo).send(request) })
    #expect("\(error)".contains("REDACTED and REDACTED are too easy"))
    expectHidden("canary", in: error)
  }

  @Test func `the report of a call hides its secrets`() async throws {
    let texts = Box<[String]>([])
    let failing = ClosureTransport { _ in throw Talkative(description: "the key abc-canary is bad") }
    var configuration = RequestConfiguration(baseURL: baseURL, behaviors: [header("X-Key", "abc-canary")])
    configuration.behaviors.append(
      .onCallEnd { report in texts.update { $0 += ["\(report)"] + report.call.attempts.map(\.description) } })
    let client = NetworkClient(configuration: configuration, transport: failing)
    await #expect(throws: Talkative.self) { try await client.send(.get("x")) }
    #expect(texts.value.count == 2)
    for text in texts.value { #expect(text.hasSuffix("the key REDACTED is bad"), "\(text)") }
  }

  @Test func `the path of an attempt hides a secret that was added to the call`() async throws {
    let bot = ClosureBehavior(
      "bot",
      modify: { request in
        request.call.addSecret("abc-canary")
        request.url.append(path: "abc-canary")
      })
    let response = try await NetworkClient(ClosureTransport(), [bot]).send(Request<NetworkResponse>.get("x"))
    #expect(
      response.request.call.attempts.map(\.description) == ["#1 GET https://api.example.com/v1/x/REDACTED: 200"])
    #expect("\(response)" == "200 for GET https://api.example.com/v1/x/REDACTED")
  }

  @Test func `a redirect is recorded without the values of its query`() async throws {
    let redirecting = ClosureTransport { request in
      guard request.attemptNumber == 1 else { return NetworkResponse(request: request, statusCode: 204) }
      return NetworkResponse(request: request, statusCode: 302, headers: ["Location": "/v1/y?token=canary"])
    }
    let response = try await NetworkClient(redirecting).send(Request<NetworkResponse>.get("x"))
    #expect(
      response.request.call.events.map(\.message) == ["redirect to https://api.example.com/v1/y?token=REDACTED"])
  }

  @Test func `a secret is hidden in the excerpt and in the message of a decoder`() async throws {
    struct Strict: Decodable {
      init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode([String: String].self)["echo"] ?? ""
        throw DecodingError.dataCorrupted(
          .init(codingPath: [], debugDescription: "bad echo \(text) password=hunter2"))
      }
    }
    struct Careless: Decodable {
      init(from decoder: any Decoder) throws { throw Talkative(description: "abc-canary password=hunter2") }
    }
    let transport = ClosureTransport(
      200, #"{"echo":"abc-c\u0061nary"}"#, headers: ["Content-Type": "application/json"])
    let client = NetworkClient(transport, [header("X-Key", "abc-canary")])
    let strict = try #require(
      await #expect(throws: NetworkError.self) { _ = try await client.send(Request<Strict>.get("x")) })
    #expect(strict.message.contains("bad echo REDACTED password=REDACTED"))
    #expect(strict.message.contains(#"{"echo":"REDACTED"}"#))
    let careless = try #require(
      await #expect(throws: NetworkError.self) { _ = try await client.send(Request<Careless>.get("x")) })
    for error in [strict, careless] {
      expectHidden("canary", in: error)
      expectHidden("c\\u0061nary", in: error)
      expectHidden("hunter2", in: error)
    }
  }

  @Test func `an encoder's message is redacted, and the value that it could not encode is not shown`() async throws {
    struct Login: Encodable {
      let word = "abc-canary"
      func encode(to encoder: any Encoder) throws {
        throw EncodingError.invalidValue(
          self, .init(codingPath: [], debugDescription: "bad login password=hunter2"))
      }
    }
    struct Careless: Encodable {
      func encode(to encoder: any Encoder) throws { throw Talkative(description: "password=hunter2") }
    }
    let requests: [Request<Void>] = [.post("x", body: .json(Login())), .post("x", body: .json(Careless()))]
    for request in requests {
      let error = try #require(
        await #expect(throws: NetworkError.self) { try await NetworkClient(ClosureTransport()).send(request) })
      #expect(error.code == .encodingFailed)
      expectHidden("canary", in: error)
      expectHidden("hunter2", in: error)
    }
  }

  @Test func `a secret that the server repeats is in no description of its response`() async throws {
    let transport = ClosureTransport(500, headers: ["ETag": "\"abc-canary\"", "Set-Cookie": "sid=def-canary"])
    let client = NetworkClient(transport, [header("X-Key", "abc-canary")])
    let error = try #require(await #expect(throws: NetworkError.self) { try await client.send(.get("x")) })
    for text in texts(error) { #expect(!text.contains("canary"), "\(text)") }
  }

  @Test func `a printed command hides the secrets of the call`() {
    let call = Call()
    call.addSecret("abc-canary")
    let url = baseURL.appending(path: "bot/abc-canary")
    let body = RequestBody.data(Data("note=abc-canary".utf8), contentType: "text/plain")
    let request = NetworkRequest(.post, url: url, headers: ["User-Agent": "abc-canary"], body: body, call: call)
    #expect(!request.curlCommand().contains("canary"))
    #expect(request.curlCommand(redactor: nil).contains("canary"))
    #expect(!"\(request)".contains("canary"))
  }
}
