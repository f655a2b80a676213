import Foundation
import RequestBehaviors
import TestSupport
import Testing

@Suite(.limited) struct RedirectsTests {
  /// A transport that redirects by a table of URL to status and location, and answers 200 elsewhere.
  private func redirecting(_ table: [String: (Int, String)]) -> ClosureTransport {
    ClosureTransport { request in
      guard let (status, location) = table[request.url.absoluteString] else {
        return NetworkResponse(request: request, statusCode: 200)
      }
      return NetworkResponse(request: request, statusCode: status, headers: ["Location": location])
    }
  }

  private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

  private func failure(_ transport: ClosureTransport, _ request: Request<Void>) async -> NetworkError? {
    await #expect(throws: NetworkError.self) { try await NetworkClient(transport).send(request) }
  }

  @Test(arguments: [
    (301, "POST", "GET"), (302, "POST", "GET"), (303, "POST", "GET"), (303, "PUT", "GET"), (303, "DELETE", "GET"),
    (301, "PUT", "PUT"), (302, "DELETE", "DELETE"), (307, "POST", "POST"), (308, "PATCH", "PATCH"),
    (301, "HEAD", "HEAD"), (303, "HEAD", "HEAD"), (302, "GET", "GET"),
  ])
  func `the method of the next request follows from the status`(status: Int, method: String, next: String) async throws
  {
    let transport = redirecting(["https://api.example.com/v1/a": (status, "/b")])
    let hasBody = !["GET", "HEAD"].contains(method)
    let request = Request<Void>(
      RequestMethod(rawValue: method), "a", headers: ["X-Keep": "1"], body: hasBody ? .text("body") : nil)
    try await NetworkClient(transport).send(request)
    let hop = try #require(transport.sent.last)
    #expect(transport.sent.count == 2)
    #expect(hop.url.absoluteString == "https://api.example.com/b")
    #expect(hop.method.rawValue == next)
    #expect(hop.body?.data == (hasBody && next != "GET" ? Data("body".utf8) : nil))
    #expect(hop.headers.contains("Content-Type") == (hop.body != nil))
    #expect(hop.headers["X-Keep"] == "1")
  }

  @Test(arguments: [
    ("/b", "https://api.example.com/b"), ("b", "https://api.example.com/v1/users/b"),
    ("../b", "https://api.example.com/v1/b"), ("?p=2", "https://api.example.com/v1/users/a?p=2"),
    ("//other.example/b", "https://other.example/b"), ("https://other.example", "https://other.example/"),
    ("b c", "https://api.example.com/v1/users/b%20c"), ("b%2Fc", "https://api.example.com/v1/users/b%2Fc"),
    (".", "https://api.example.com/v1/users/"), ("é", "https://api.example.com/v1/users/%C3%A9"),
    ("HTTPS://API.example.com:443/b", "https://api.example.com/b"),
  ])
  func `a location is resolved against the URL of the request`(location: String, expected: String) async throws {
    let transport = redirecting(["https://api.example.com/v1/users/a?x=1": (302, location)])
    try await NetworkClient(transport).send(.get("users/a", query: ["x": "1"]))
    #expect(transport.sent.last?.url.absoluteString == expected)
  }

  @Test(arguments: ["Digest", "Repr-Digest", "Last-Modified", "Content-Language", "Expect"])
  func `a GET in place of a POST has no field about the body that it lacks`(name: String) async throws {
    let transport = redirecting(["https://api.example.com/v1/a": (303, "/b")])
    try await NetworkClient(transport).send(.post("a", body: .text("x"), headers: HeaderFields([.init(name, "x")])))
    #expect(transport.sent.map { $0.headers.contains(name) } == [true, false])
  }

  @Test func `a fragment is carried over unless the location has its own`() async throws {
    let start = try url("https://h/a#part")
    let transport = redirecting(["https://h/a#part": (302, "/b"), "https://h/b#part": (302, "/c#own")])
    try await NetworkClient(transport).send(.get(url: start))
    #expect(transport.sent.map(\.url.absoluteString) == ["https://h/a#part", "https://h/b#part", "https://h/c#own"])
  }

  @Test(arguments: [200, 300, 304, 305, 399])
  func `other statuses and a redirect without location are the outcome`(status: Int) async throws {
    let transport = ClosureTransport(status, "", headers: ["Location": "/b"])
    let response: NetworkResponse = try await NetworkClient(transport)
      .send(.get("a").with(\.acceptableStatuses, .all))
    #expect(response.statusCode == status)
    #expect(transport.sent.count == 1)
    let bare = ClosureTransport(302)
    let error = await failure(bare, .get("a"))
    #expect(error?.statusCode == 302)
  }

  @Test func `to another origin go no secrets, no cookies and no options that are not portable`() async throws {
    enum Local: RequestOption { static let defaultValue = 0 }
    let transport = redirecting([
      "https://api.example.com/v1/a": (302, "https://other.example/b"),
      "https://other.example/b": (302, "https://api.example.com/c"),
    ])
    var request = Request<Void>.get(
      "a",
      headers: [
        "Authorization": "plain", "Cookie": "c=1", "X-Plain": "1", "Proxy-Authorization": "plain",
        "Origin": "https://api.example.com",
      ]
    ).with(header: "X-Key", "secret", sensitive: .baseURL).with(\.bodyLimit, 7)
    request.options[Local.self] = 1
    try await NetworkClient(transport).send(request)
    #expect(transport.sent.count == 3)
    for hop in transport.sent.dropFirst() {
      #expect(hop.headers["X-Plain"] == "1")
      for gone in ["Authorization", "Cookie", "X-Key", "Proxy-Authorization", "Origin"] {
        #expect(!hop.headers.contains(gone), "\(gone) to \(hop.url)")
      }
      #expect(hop.options.explicit(Local.self) == nil)
      #expect(hop.options.bodyLimit == 7)
    }
    #expect(transport.sent[0].headers["X-Key"] == "secret")
  }

  @Test func `a field that a behavior further in sets for an origin is set again on the return to it`() async throws {
    let transport = redirecting([
      "https://api.example.com/v1/a": (302, "https://other.example/b"),
      "https://other.example/b": (302, "https://api.example.com/c"),
    ])
    let auth = ClosureBehavior(
      "auth", order: .authentication,
      headers: { _ in HeaderFields([.init("Authorization", "Bearer t", sensitive: .baseURL)]) })
    try await NetworkClient(transport, [auth]).send(.get("a"))
    #expect(transport.sent.map { $0.headers["Authorization"] } == ["Bearer t", nil, "Bearer t"])
  }

  @Test func `a body goes to another origin only if the policy says so`() async throws {
    let transport = redirecting(["https://api.example.com/v1/a": (307, "https://other.example/b")])
    let error = await failure(transport, .post("a", body: .text("x")))
    #expect(error?.statusCode == 307)
    #expect(transport.sent.count == 1)
    let policy = RedirectPolicy(sendsBodyToOtherOrigins: true)
    try await NetworkClient(transport).send(.post("a", body: .text("x")).with(\.redirects, policy))
    #expect(transport.sent.last?.body?.data == Data("x".utf8))
    #expect(transport.sent.last?.url.host() == "other.example")
  }

  @Test func `a one-shot body that was sent is not sent again`() async throws {
    let transport = ClosureTransport { request in
      if case .oneShot(let stream)? = request.body?.content { _ = try await stream.take().collect(upTo: 10) }
      return NetworkResponse(request: request, statusCode: 307, headers: ["Location": "/b"])
    }
    let body = RequestBody.oneShot(ByteStream(chunks: [Data("x".utf8)]))
    let error = await failure(transport, .post("a", body: .body(body)))
    #expect(error?.statusCode == 307)
    #expect(transport.sent.count == 1)
  }

  @Test func `an unread one-shot body is sent to the redirect's target`() async throws {
    let arrived = Box("")
    let transport = ClosureTransport { request in
      guard request.url.path().hasSuffix("/b") else {
        return NetworkResponse(request: request, statusCode: 307, headers: ["Location": "b"])
      }
      guard case .oneShot(let stream)? = request.body?.content else { throw CancellationError() }
      arrived.value = String(decoding: try await stream.take().collect(upTo: 10), as: UTF8.self)
      return NetworkResponse(request: request, statusCode: 200)
    }
    try await NetworkClient(transport).send(.post("a", body: .oneShot(ByteStream(chunks: [Data("x".utf8)]))))
    #expect(arrived.value == "x")
  }

  @Test(arguments: [
    ("http://api.example.com/b", "from https to http"), ("ftp://h/b", "only http and https"),
    ("https://user:canary@h/b", "user name"), ("javascript:alert(1)", "only http and https"),
  ])
  func `a location that must not be followed is an error that names the rule`(location: String, rule: String) async {
    let error = await failure(redirecting(["https://api.example.com/v1/a": (302, location)]), .get("a"))
    #expect(error?.code == .redirectFailed)
    #expect(error?.message.contains(rule) == true, "\(error as Any)")
    #expect(error?.description.contains("canary") == false)
    #expect(error?.statusCode == 302)
  }

  @Test func `a loop is an error`() async {
    let transport = redirecting([
      "https://api.example.com/v1/a": (302, "b"), "https://api.example.com/v1/b": (302, "a"),
    ])
    let error = await failure(transport, .get("a"))
    #expect(error?.code == .redirectFailed)
    #expect(error?.message.contains("a loop") == true)
    #expect(transport.sent.count == 2)
  }

  @Test func `a redirect with two different locations is an error, and one location twice counts once`() async throws {
    func transport(_ second: String) -> ClosureTransport {
      ClosureTransport { request in
        guard request.url.path() == "/v1/a" else { return NetworkResponse(request: request, statusCode: 200) }
        var response = NetworkResponse(request: request, statusCode: 302, headers: ["Location": "b"])
        response.headers.append("Location", second)
        return response
      }
    }
    let error = await failure(transport("c"), .get("a"))
    #expect(error?.code == .redirectFailed)
    #expect(error?.message == "the 302 redirect was not followed: it has several locations")
    let same = transport("b")
    try await NetworkClient(same).send(.get("a"))
    #expect(same.sent.map { $0.url.path() } == ["/v1/a", "/v1/b"])
  }

  @Test func `a POST that is redirected to its own URL is followed by a GET, which does not count as a loop`()
    async throws
  {
    let transport = ClosureTransport { request in
      request.method == .post
        ? NetworkResponse(request: request, statusCode: 303, headers: ["Location": "a"])
        : NetworkResponse(request: request, statusCode: 200)
    }
    try await NetworkClient(transport).send(.post("a", body: .text("x")))
    #expect(transport.sent.map(\.method) == [.post, .get])
  }

  @Test func `more redirects than the limit are an error, fewer are followed and stand in the attempts`() async throws {
    let endless = ClosureTransport { request in
      let number = Int(request.url.lastPathComponent) ?? 0
      return NetworkResponse(request: request, statusCode: 302, headers: ["Location": "\(number + 1)"])
    }
    let error = await failure(endless, .get("0"))
    #expect(error?.message.contains("more than 10 redirects") == true)
    #expect(endless.sent.count == 11)
    let transport = redirecting(["https://api.example.com/v1/a": (302, "b")])
    let response: NetworkResponse = try await NetworkClient(transport).send(.get("a"))
    #expect(response.request.url.lastPathComponent == "b")
    #expect(response.attempts.map(\.url.lastPathComponent) == ["a", "b"])
  }

  @Test func `with the policy none or without the behavior a 3xx is the outcome`() async {
    let transport = redirecting(["https://api.example.com/v1/a": (302, "b")])
    #expect(await failure(transport, .get("a").with(\.redirects, .none))?.statusCode == 302)
    #expect(await failure(transport, .get("a").without(RedirectsBehavior.self))?.statusCode == 302)
    #expect(transport.sent.count == 2)
  }

  // MARK: What was sent

  /// Sends to a mirror what is for the API, inside of redirects.
  private func mirroring(_ prefix: String) -> ClosureBehavior {
    ClosureBehavior(
      "mirror", order: .rateLimit,
      modify: { request in
        let moved = request.url.absoluteString.replacing("https://api.example.com", with: prefix)
        request.url = try #require(URL(string: moved))
      })
  }

  @Test func `a location is resolved against the URL that was sent, not the one that a behavior replaced`() async throws
  {
    let transport = redirecting(["https://mirror.example/v1/a": (302, "b")])
    try await NetworkClient(transport, [mirroring("https://mirror.example")]).send(.get("a"))
    #expect(transport.sent.map(\.url.absoluteString) == ["https://mirror.example/v1/a", "https://mirror.example/v1/b"])
  }

  @Test func `a redirect is judged by the URL that was sent`() async throws {
    let same = redirecting(["https://mirror.example/v1/a": (307, "/b")])
    try await NetworkClient(same, [mirroring("https://mirror.example")]).send(.post("a", body: .text("x")))
    #expect(same.sent.last?.body?.data == Data("x".utf8), "the origin that was sent to is not left")
    let other = redirecting(["https://mirror.example/v1/a": (307, "https://third.example/b")])
    let error = await #expect(throws: NetworkError.self) {
      try await NetworkClient(other, [mirroring("https://mirror.example")]).send(.post("a", body: .text("x")))
    }
    #expect(error?.statusCode == 307)
    let insecure = redirecting(["http://mirror.example/v1/a": (302, "http://mirror.example/b")])
    try await NetworkClient(insecure, [mirroring("http://mirror.example")]).send(.get("a"))
    #expect(insecure.sent.count == 2, "nothing leads from https to http here")
  }

  @Test func `cookies and secrets are not sent if a behavior moves the request to another origin`() async throws {
    let transport = redirecting(["https://mirror.example/v1/a": (302, "b")])
    let request = Request<Void>.get("a", headers: ["Cookie": "c=1"]).with(header: "X-Key", "k", sensitive: .baseURL)
    try await NetworkClient(transport, [mirroring("https://mirror.example")]).send(request)
    #expect(transport.sent.count == 2)
    for sent in transport.sent { #expect(!sent.headers.contains("Cookie") && !sent.headers.contains("X-Key")) }
  }

  @Test func `a redirect back to the URL that was sent is a loop`() async throws {
    let transport = redirecting(["https://mirror.example/v1/a": (302, "https://mirror.example/v1/a")])
    let error = await #expect(throws: NetworkError.self) {
      try await NetworkClient(transport, [mirroring("https://mirror.example")]).send(.get("a"))
    }
    #expect(error?.message.contains("a loop") == true)
    #expect(transport.sent.count == 1)
  }

  // MARK: Traces of a redirect

  @Test func `the next request names its own endpoint, and the call's event hides its secrets`() async throws {
    let transport = redirecting(["https://api.example.com/v1/users/7": (302, "/v2/b?token=canary&page=2")])
    let user = 7
    let response: NetworkResponse = try await NetworkClient(transport).send(.get("users/\(user)"))
    #expect(transport.sent.map(\.endpoint) == ["users/{}", "/v2/b"])
    let events = response.request.call.events
    #expect(events.map(\.source) == ["RedirectsBehavior"])
    #expect(events.first?.message == "redirect to https://api.example.com/v2/b?token=REDACTED&page=2")
  }

  @Test func `the body of a redirect that is followed is cancelled, that of the outcome is not`() async throws {
    // A released stream is cancelled without a call of `cancel`.
    let (cancelled, kept) = (Box<[String]>([]), Box<[ByteStream]>([]))
    let transport = ClosureTransport { request in
      let name = request.url.lastPathComponent
      let stream = ByteStream(ByteStream(chunks: [Data("x".utf8)]), onCancel: { cancelled.update { $0.append(name) } })
      kept.update { $0.append(stream) }
      return NetworkResponse(
        request: request, statusCode: name == "c" ? 200 : 302, headers: ["Location": name == "a" ? "b" : "c"],
        body: .stream(stream))
    }
    let response: NetworkResponse = try await NetworkClient(transport).send(.get("a"))
    #expect(cancelled.value == ["a", "b"])
    #expect(try await response.buffered().text == "x")
  }

  @Test func `white space around a location is not part of it`() async throws {
    let transport = redirecting(["https://api.example.com/v1/a": (302, " \t/end \t")])
    try await NetworkClient(transport).send(.get("a"))
    #expect(transport.sent.last?.url.absoluteString == "https://api.example.com/end")
  }

  @Test func `a custom behavior can move a request like a redirect`() async throws {
    enum Local: RequestOption { static let defaultValue = 0 }
    let mirror = ClosureBehavior("mirror", order: .retry) { request, next in
      let response = try await next(request)
      guard response.statusCode == 503 else { return response }
      return try await next(try request.moved(to: "//mirror.example/v2/../v1/a?b"))
    }
    let transport = ClosureTransport(statuses: [503, 200])
    var request = Request<Void>.post("a", body: .text("x"), headers: ["Cookie": "c=1", "X-Plain": "1"])
    request.options[Local.self] = 1
    try await NetworkClient(transport, [mirror]).send(request)
    let moved = try #require(transport.sent.last)
    #expect(moved.url.absoluteString == "https://mirror.example/v1/a?b")
    #expect(moved.endpoint == "/v1/a")
    #expect(moved.method == .post)
    #expect(moved.body?.data == Data("x".utf8))
    #expect(moved.headers["X-Plain"] == "1")
    #expect(!moved.headers.contains("Cookie"))
    #expect(moved.options.explicit(Local.self) == nil)
    #expect(throws: NetworkError.self) { try moved.moved(to: "http://mirror.example/") }
  }

  @Test func `a custom behavior can poll for the outcome of a POST like a redirect`() async throws {
    let polling = ClosureBehavior("polling", order: .outside(.retry)) { request, next in
      let response = try await next(request)
      guard response.statusCode == 202 else { return response }
      return try await next(request.moved(to: "jobs/1").convertedToGet())
    }
    let transport = ClosureTransport(statuses: [202, 200])
    let request = Request<Void>.post("pay", body: .text("x"), headers: ["Content-Language": "en", "X-Plain": "1"])
    try await NetworkClient(transport, [polling, .retry()]).send(request.with(\.idempotencyKey, .generated))
    #expect(transport.sent.first?.headers.contains("Idempotency-Key") == true)
    let question = try #require(transport.sent.last)
    #expect(question.method == .get)
    #expect(question.body == nil)
    #expect(question.headers["X-Plain"] == "1")
    for name in ["Idempotency-Key", "Content-Type", "Content-Language"] {
      #expect(!question.headers.contains(name))
    }
  }
}
