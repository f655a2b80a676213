import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

// The samples of the article "Testing your client" and of the landing page of the testing module.
@Suite(.limited) struct TestingYourClientTests {
  struct User: Codable { var id: Int }
  struct Repo: Codable { var id: Int, name: String }
  struct NewRepo: Codable { var name: String }

  struct GitHub {
    let client: NetworkClient

    func create(_ name: String) async throws -> Repo {
      let repo = NewRepo(name: name)
      return try await client.send(.post("user/repos", body: .json(repo)))
    }
  }

  let baseURL = URL(string: "https://api.example.com/v3")!

  @Test func `landing page`() async throws {
    let mock = MockTransport(baseURL: baseURL)
    mock.on(.get, "users/*").respond(200, json: User(id: 1))

    let client = NetworkClient(baseURL: baseURL, transport: mock)
    let user: User = try await client.send(.get("users/1"))

    #expect(mock.sent[0].headers["Accept"] != nil)
    try mock.verify()
    #expect(user.id == 1)
  }

  @Test func creating() async throws {
    let mock = MockTransport(baseURL: baseURL)
    mock.on(.post, "user/repos")
      .respond(201, json: Repo(id: 1, name: "demo"))
    let client = NetworkClient(baseURL: baseURL, transport: mock)
    let github = GitHub(client: client)

    let repo = try await github.create("demo")

    #expect(repo.id == 1)
    #expect(try mock.sent[0].json(NewRepo.self).name == "demo")
    try mock.verify()
  }

  @Test func `narrowing down and scripting`() async throws {
    let mock = MockTransport(baseURL: baseURL)
    let user = User(id: 1)
    mock.on(.get, "users/*/repos", query: ["page": 2])
      .respond(json: [Repo]())
    mock.on(.put, "repos/**", where: { try $0.json(Repo.self).id == 7 })
      .respond(204)
    mock.on(.get, "me").respond(503).times(2).respond(200, json: user)
    mock.on(.get, "feed").fail(.connectionLost).respond(200, jsonText: "[]")
    let failure = NetworkError(.truncatedBody, "cut off")
    mock.on(.get, "export")
      .stream([Data("one,".utf8)], failingWith: failure)
    mock.on(.post, "echo").respond { request in
      let body = request.body?.data ?? Data()
      return NetworkResponse(
        request: request, statusCode: 200, body: .data(body))
    }
    let client = NetworkClient(baseURL: baseURL, transport: mock)
    let repos: [Repo] = try await client.send(.get("users/a/repos", query: ["page": 2]))
    #expect(repos.isEmpty)
    try await client.send(.put("repos/a/b", body: .json(Repo(id: 7, name: "b"))))
    for _ in 1...2 {
      await #expect(throws: NetworkError.self) { let _: User = try await client.send(.get("me")) }
    }
    let me: User = try await client.send(.get("me"))
    #expect(me.id == 1)
    await #expect(throws: NetworkError.self) { let _: [Repo] = try await client.send(.get("feed")) }
    let feed: [Repo] = try await client.send(.get("feed"))
    #expect(feed.isEmpty)
    let cut = await #expect(throws: NetworkError.self) { let _: String = try await client.send(.get("export")) }
    #expect(cut?.code == .truncatedBody)
    let echo: String = try await client.send(.post("echo", body: .text("hi")))
    #expect(echo == "hi")
    try mock.verify()
  }

  @Test func `moving time`() async throws {
    let mock = MockTransport(baseURL: baseURL)

    let clock = ManualClock()
    var configuration = RequestConfiguration(baseURL: baseURL)
    configuration.clock = clock.requestClock
    configuration.options.idleTimeout = .seconds(30)
    let client = NetworkClient(
      configuration: configuration, transport: mock)
    mock.on(.get, "slow").respond().delayed(by: .seconds(60))

    async let answer: Void = client.send(.get("slow"))
    await clock.waitForSleepers(1)  // the request is under way
    clock.advance(by: .seconds(30))  // and has now timed out

    do {
      try await answer
      Testing.Issue.record("it has not timed out")
    } catch let error as NetworkError {
      #expect(error.code == .timedOut)
    }
  }

  @Test func `skipping waits`() async throws {
    let mock = MockTransport(baseURL: baseURL)
    var configuration = RequestConfiguration(baseURL: baseURL)
    configuration.clock = .immediate
    mock.on(.get, "slow").respond().delayed(by: .seconds(59))
    try await NetworkClient(configuration: configuration, transport: mock).send(.get("slow"))
    try mock.verify()
  }

  @Test func tenant() async throws {
    let tenant = TenantBehavior(tenant: "a")
    #expect(await implementedHooks(of: tenant) == [.headers])

    let mock = MockTransport()
    mock.on().respond()
    let client = NetworkClient(
      baseURL: mock.baseURL, behaviors: [tenant], transport: mock)
    try await client.send(.get("users"))
    #expect(mock.sent[0].headers["X-Tenant"] == "a")
  }

  @Test func `a real connection`() async throws {
    let server = try LoopbackServer()
    server.enqueue(.text("0123456789").fault(.close, at: .body(after: 4)))
    let client = NetworkClient(baseURL: server.baseURL)

    let error = await #expect(throws: NetworkError.self) {
      let _: String = try await client.send(.get("file"))
    }
    #expect(error?.code == .truncatedBody)
  }

  @Test func `a custom transport`() async throws {
    // Any transport will do to show that the sample compiles and runs.
    typealias MyTransport = URLSessionTransport

    let fatal = "it ends the process on Linux"
    let report = await TransportConformance.run(
      excluding: [
        "trailers are read over": fatal,
        "a head that ends too early is an error": fatal,
        "a method in lower case arrives in lower case": "GET on Linux",
      ]
    ) { clock in
      MyTransport(clock: clock)
    }
    #expect(report.failures.isEmpty, "\(report)")
  }
}
