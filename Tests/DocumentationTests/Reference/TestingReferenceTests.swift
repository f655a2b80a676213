import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

/// The samples in the reference of RequestBehaviorsTesting.
@Suite(.limited) struct TestingReferenceTests {
  struct User: Codable, Sendable { var id: Int }
  struct Repo: Codable, Sendable { var id: Int, name: String }
  struct NewRepo: Codable, Sendable { var name: String }
  struct Token: Codable, Sendable {
    var value: String
    init(_ value: String) { self.value = value }
  }

  @Test func `the hooks of a behavior are listed`() async {
    let behavior = TenantBehavior(tenant: "a")
    #expect(await implementedHooks(of: behavior) == [.headers])
  }

  @Test func `a mock responds by stubs`() async throws {
    let draft = NewRepo(name: "demo")
    let mock = MockTransport(baseURL: baseURL)
    mock.on(.get, "users/*").respond(200, json: User(id: 1))
    mock.on(.post, "repos").respond(201, json: Repo(id: 7, name: "demo"))

    let client = NetworkClient(baseURL: baseURL, transport: mock)
    let user: User = try await client.send(.get("users/1"))
    try await client.send(.post("repos", body: .json(draft)))

    #expect(try mock.sent[1].json(NewRepo.self).name == "demo")
    try mock.verify()
    #expect(user.id == 1)
  }

  @Test func `a closure responds where no stub does`() async throws {
    let mock = MockTransport { request in
      NetworkResponse(request: request, statusCode: 404)
    }
    let client = NetworkClient(baseURL: baseURL, transport: mock)
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    #expect(error?.statusCode == 404)
  }

  @Test func `a stub is narrowed down and scripted`() async throws {
    let mock = MockTransport(baseURL: baseURL)
    let user = User(id: 1)
    // One segment, whatever it is.
    mock.on(.get, "users/*").respond(404)
    mock.on(.get, "feed", query: ["page": "2"]).fail(.timedOut)
    mock.on(.put, "repos/**", where: { try $0.json(Repo.self).id == 7 })
      .respond(204)
    mock.on(.post, "https://auth.example.com/token")
      .respond(200, json: Token("t"))
    mock.on(.get, "me").respond(503).times(2)
      .respond(200, json: user).delayed(by: .seconds(1))
    let client = NetworkClient(baseURL: baseURL, transport: mock)
    try await client.send(.put("repos/a/b", body: .json(Repo(id: 7, name: "b"))))
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("feed", query: ["page": 2])) }
    #expect(error?.code == .timedOut)
  }

  @Test func `a test moves the clock`() async throws {
    let mock = MockTransport(baseURL: baseURL)
    mock.on(.get, "me").respond(200, json: User(id: 1)).delayed(by: .seconds(50))
    var configuration = RequestConfiguration(baseURL: baseURL)
    let clock = ManualClock()
    configuration.clock = clock.requestClock
    let client = NetworkClient(
      configuration: configuration, transport: mock)
    async let user: User = client.send(.get("me"))
    await clock.waitForSleepers(1)  // the client waits for something
    clock.advance(by: .seconds(60))  // its time has come
    #expect(try await user.id == 1)
  }

  @Test func `a server responds from its queue`() async throws {
    let server = try LoopbackServer()
    server.enqueue(.status(503), .json(#"{"id": 1}"#))
    let client = NetworkClient(baseURL: server.baseURL)
    try? await client.send(.get("users/1"))
    let user: User = try await client.send(.get("users/1"))
    #expect(server.requests.map(\.path) == ["/users/1", "/users/1"])
    #expect(user.id == 1)
  }

  @Test func `a gate holds a response`() async throws {
    let server = try LoopbackServer()
    let client = NetworkClient(baseURL: server.baseURL)
    let gate = LoopbackGate()
    server.enqueue(.text("late").held(by: gate))
    async let text: String = client.send(.get("/"))
    await gate.waitForArrivals(1)  // the server holds the response
    gate.open()
    #expect(try await text == "late")
  }

  @Test func `a server delays, and has faults`() throws {
    let server = try LoopbackServer()
    server.enqueue(.text("hello").delayed(by: .milliseconds(20), at: .body))
    // A reset instead of a response.
    server.enqueue(.status(200).fault(.reset, at: .request))
    server.enqueue(.text("0123456789").fault(.stall, at: .body(after: 5)))
    // A pooled connection that is stale when it is used again.
    server.enqueue(.text("ok").fault(.close, at: .nextRequest))
    server.enqueue(.json(#"{"id": 1}"#).header("ETag", "\"a\""))
    server.enqueue(.status(503).header("Retry-After", "2"))
    server.enqueue(
      .chunked(["one", "two"]).fault(.close, at: .body(after: 4)))
    #expect(server.queuedResponseCount == 7)
  }
}
