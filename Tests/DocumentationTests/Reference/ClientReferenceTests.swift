import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import Testing

private let stagingURL = URL(string: "https://staging.example.com")!

extension ServerEnvironment {
  static let staging = ServerEnvironment(
    baseURL: stagingURL, headers: ["X-Stage": "1"])
}

struct EchoTransport: Transport {
  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    try request.validate()
    let body = request.body?.data ?? Data()
    return NetworkResponse(
      request: request, statusCode: 200, body: .data(body))
  }

  func shutdown() async {}
}

/// The samples in the reference of clients, responses and transports.
@Suite(.limited) struct ClientReferenceTests {
  private let login = "octocat"
  private let mock = MockTransport(baseURL: baseURL)
  private var client: NetworkClient { NetworkClient(baseURL: baseURL, transport: mock) }

  @Test func `many requests are sent, some at a time`() async throws {
    mock.on(.get, "users/**").respond(jsonText: #"{"name": "x"}"#)
    let logins = ["a", "b", "c"]
    let names = Journal()
    func save(_ user: User) { names.note(user.name) }
    do {
      let requests = logins.map { Request<User>.get("users/\($0)") }
      for try await outcome in client.responses(to: requests, atMost: 16) {
        switch outcome.result {
        case .success(let response): save(response.value)
        case .failure(let error): print(logins[outcome.index], error)
        }
      }
    }
    do {
      let requests = logins.map { Request<User>.get("users/\($0)") }
      for try await outcome in client.responses(to: requests, atMost: 16) {
        save(try outcome.value)
      }
    }
    #expect(names.entries == Array(repeating: "x", count: 6))
  }

  @Test func `a client is made of a URL`() async throws {
    let server = try LoopbackServer()
    func use() async throws {
      let client = NetworkClient(
        baseURL: URL(string: "https://api.example.com/v1")!)
      let user: User = try await client.send(.get("users/\(login)"))
      _ = user
    }
    let client = NetworkClient(baseURL: server.baseURL)
    let patient = client.with { $0.options.idleTimeout = .seconds(300) }
    #expect(patient.configuration.options.idleTimeout == .seconds(300))
  }

  @Test func `the list is printed as shown`() throws {
    let client = NetworkClient(baseURL: baseURL, behaviors: [.nonceVerification(), .logging()], transport: mock)
    print(try client.pipeline(for: Request<User>.get("users/1")))
    // 1. LoggingBehavior            observation   configuration
    // 2. RedirectsBehavior          redirects     built in
    // 3. NonceVerificationBehavior  verification  configuration
    #expect(
      "\(try client.pipeline(for: Request<User>.get("users/1")))" == """
        1. LoggingBehavior            observation   configuration
        2. RedirectsBehavior          redirects     built in
        3. NonceVerificationBehavior  verification  configuration
        """)
  }

  @Test func `a configuration has a clock, a decoder and options`() {
    do {
      let manualClock = ManualClock()
      var configuration = RequestConfiguration(baseURL: baseURL)
      configuration.clock = manualClock.requestClock
      #expect(configuration.clock.now() == manualClock.requestClock.now())
    }
    do {
      let snakeCaseDecoder = JSONDecoder()
      var configuration = RequestConfiguration(
        baseURL: baseURL, behaviors: [.logging(), .acceptLanguage()])
      configuration.options.timeout = .seconds(30)
      configuration.decoder = snakeCaseDecoder
      #expect(configuration.behaviors.count == 2)
    }
  }

  @Test func `an environment is chosen for a request`() async throws {
    mock.on(.get, "https://staging.example.com/status").respond()
    try await client.send(.get("status").with(\.environment, .staging))
    #expect(mock.sent.first?.headers["X-Stage"] == "1")
  }

  @Test func `responses are values, whole or both`() async throws {
    mock.on().respond(jsonText: #"{"name": "Mona"}"#)
    do {
      let response = try await client.response(
        for: .get("users/\(login)").returning(User.self))
      print(response.value.name)
      print(response.http.headers["ETag"] ?? "no validator")
      #expect(response.value.name == "Mona")
    }
    let response: NetworkResponse = try await client.send(.get("status"))
    let counts = response.info[SavedRows.self]
    #expect(counts == nil)
    #expect(response.statusCode == 200)
  }

  @Test func `statuses and redirects are chosen`() async throws {
    mock.on(.get, "feed").respond(404)
    mock.on(.get, "archive").respond(302, headers: ["Location": "https://api.example.com/v1/feed"])
    try await client.send(
      .get("feed").with(\.acceptableStatuses, .success.union([404])))
    // The 302 itself is the response.
    let moved: NetworkResponse = try await client.send(
      .get("archive").with(\.redirects, .none)
        .with(\.acceptableStatuses, [302]))
    #expect(moved.statusCode == 302)
  }

  @Test func `an error is caught by its status`() async throws {
    mock.on().respond(422, jsonText: #"{"title": "taken"}"#)
    var shown: [String] = []
    func show(_ text: String) { shown.append(text) }
    do {
      let user: User = try await client.send(.get("users/\(login)"))
      show(user.name)
    } catch let error as NetworkError where error.statusCode == 422 {
      show(try error.decode(Problem.self).title)
    }
    #expect(shown == ["taken"])
  }

  @Test func `a transport echoes, another has its own limits`() async throws {
    let echo: String = try await NetworkClient(baseURL: baseURL, transport: EchoTransport())
      .send(.post("echo", body: .text("hi")))
    #expect(echo == "hi")

    let configuration = RequestConfiguration(baseURL: baseURL)
    let transport = URLSessionTransport(
      configuration: .init(maximumConnectionsPerHost: 8))
    let client = NetworkClient(
      configuration: configuration, transport: transport)
    await client.shutdown()
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    #expect(error?.code == .clientShutDown)
  }
}
