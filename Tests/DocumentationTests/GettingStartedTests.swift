import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

@Suite(.limited) struct GettingStartedTests {
  let login = "octocat"
  let page: Int? = 2
  let id = 7

  @Test func `the client of the article has its behaviors, and a variant its settings`() throws {
    let client = NetworkClient(
      configuration: RequestConfiguration(
        baseURL: baseURL,
        behaviors: [.logging(), TenantBehavior(tenant: "north")]))
    let patient = client.with { $0.options.idleTimeout = .seconds(300) }
    #expect(try client.pipeline(for: Request<Void>.get("x")).entries.count == 3)
    #expect(patient.configuration.options.idleTimeout == .seconds(300))
  }

  @Test func `the requests of the article are decoded`() async throws {
    let mock = MockTransport(baseURL: baseURL)
    mock.on(.get, "users/octocat").respond(200, jsonText: #"{"name":"Mona"}"#, headers: ["ETag": "\"1\""])
    mock.on(.get, "issues").respond(200, jsonText: #"[{"id":1,"title":"a"}]"#)
    mock.on(.post, "issues").respond(201, jsonText: #"{"id":2,"title":"b"}"#)
    mock.on(.delete, "issues/7").respond(204)
    mock.on(.get, "search").respond(200, jsonText: #"{"data":{"items":[{"id":1,"title":"a"}]}}"#)
    let client = NetworkClient(baseURL: baseURL, transport: mock)
    let draft = Issue(id: 0, title: "b")
    do {
      let user: User = try await client.send(.get("users/\(login)"))
      let issues: [Issue] = try await client.send(
        .get("issues", query: ["state": "open", "page": page]))
      try await client.send(.delete("issues/\(id)"))
      let created: Issue = try await client.send(
        .post("issues", body: .json(draft)))
      #expect((user.name, issues.count, created.id) == ("Mona", 1, 2))
    }
    do {
      let quiet: Issue = try await client.send(
        .post(
          "issues", body: .json(draft), query: ["notify": "no"],
          headers: ["X-Trace": "on"]))
      #expect(quiet.id == 2)
      let sent = try #require(mock.sent.last)
      #expect(sent.url.query() == "notify=no")
      #expect(sent.headers["X-Trace"] == "on")
      try await client.send(Request<Void>.delete("issues/7").with(header: "X-Trace", "on"))
      #expect(mock.sent.last?.headers["X-Trace"] == "on")
    }
    do {
      let response = try await client.response(
        for: .get("users/\(login)").returning(User.self))
      print(response.value.name)
      print(response.http.headers["ETag"] ?? "no validator")
      #expect(response.http.headers["ETag"] == "\"1\"")
    }
    do {
      let found: User? = try await client.send(
        .get("users/\(login)").nilWhenNotFound().with(\.timeout, .seconds(5)))
      let items: [Issue] = try await client.send(
        .get("search").decoding(at: "data.items"))
      #expect((found?.name, items.count) == ("Mona", 1))
    }
    do {
      let link = baseURL.appending(path: "issues")
      let next: [Issue] = try await client.send(.get(url: link))
      #expect(next.count == 1)
    }
    #expect(mock.sent[1].url.query() == "state=open&page=2")
  }

  @Test(arguments: [
    ("https://h/v1", "users", "https://h/v1/users"), ("https://h/v1/", "users", "https://h/v1/users"),
    ("https://h/v1", "/users", "https://h/v1/users"), ("https://h/v1", "users/", "https://h/v1/users/"),
    ("https://h/v1", "", "https://h/v1"), ("https://h/v1", "../v2/users", "https://h/v2/users"),
    ("https://h/v1?key=1", "users?page=2", "https://h/v1/users?key=1&page=2"),
  ])
  func `the table of paths is right`(base: String, path: String, expected: String) async throws {
    let base = try #require(URL(string: base))
    let mock = MockTransport(baseURL: base)
    mock.on(.get, where: { _ in true }).respond(200)
    try await NetworkClient(baseURL: base, transport: mock).send(.get(RequestPath(encoded: path)))
    #expect(mock.sent.first?.url.absoluteString == expected)
  }

  @Test func `the errors of the article are caught`() async throws {
    let client = NetworkClient(baseURL: baseURL, transport: answering(#"{"title":"no such name"}"#, status: 422))
    do {
      let user: User = try await client.send(.get("users/\(login)"))
      print(user)
    } catch let error as NetworkError where error.statusCode == 422 {
      print(try error.decode(Problem.self).title)
    } catch let error as NetworkError where error.code == .intercepted {
      print("Sign in to the network first.")
    }
    let error = await #expect(throws: NetworkError.self) { let _: User = try await client.send(.get("users/x")) }
    #expect(try error?.decode(Problem.self).title == "no such name")
  }

  @Test func `the landing page's request is sent`() async throws {
    let server = try LoopbackServer { request in
      request.headers["Authorization"] == "Bearer t1" ? .json(#"{"name":"Mona"}"#) : .status(401)
    }
    let baseURL = server.baseURL
    let session = TokenSession(source: .closure { _ in AccessToken("t1") })
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.logging(), .tokenAuth(session)])
    let user: User = try await client.send(.get("users/\(login)"))
    #expect(user.name == "Mona")
  }

  @Test func `the pipeline can be printed`() throws {
    let client = NetworkClient(baseURL: baseURL, transport: answering("{}"))
    print(try client.pipeline(for: Request<User>.get("users/1")))
    #expect("\(try client.pipeline(for: Request<User>.get("users/1")))".contains("RedirectsBehavior"))
  }
}
