import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

struct Repo: Codable, Equatable, Sendable { var id: Int }
struct NewRepo: Codable, Equatable, Sendable { var name: String }

@Suite(.limited) struct MockTransportTests {
  let mock = MockTransport()

  func client(_ behaviors: [any RequestBehavior] = [], clock: RequestClock = .system) -> NetworkClient {
    var configuration = RequestConfiguration(baseURL: mock.baseURL, behaviors: behaviors)
    configuration.clock = clock
    return NetworkClient(configuration: configuration, transport: mock)
  }

  @Test func `a request whose user signs out while its stream is read is not sent`() async throws {
    let mock = MockTransport(baseURL: URL(string: "https://api.example.com")!)
    let request = NetworkRequest(.put, url: mock.baseURL).signingOutWhileRead()
    await #expect(throws: UserHasLeft.self) { try await mock.send(request) }
    #expect(mock.sent.isEmpty)
  }

  @Test func `a stub answers with JSON, and sent shows the request as behaviors left it`() async throws {
    mock.on(.post, "user/repos").respond(201, json: Repo(id: 1))
    let client = client([ClosureBehavior("key", headers: { _ in ["X-Key": "k"] })])
    let repo: Repo = try await client.send(.post("user/repos", body: .json(NewRepo(name: "demo"))))
    #expect(repo == Repo(id: 1))
    #expect(try mock.sent[0].json(NewRepo.self) == NewRepo(name: "demo"))
    #expect(mock.sent[0].headers["X-Key"] == "k")
    #expect(mock.sent[0].url.absoluteString == "https://example.com/user/repos")
    try mock.verify()
  }

  @Test func `the mock can respond with every status, with headers and body`() async throws {
    mock.on(.get, "a").respond(404, jsonText: #"{"id": 1}"#, headers: ["X-A": "1"])
    mock.on(.get, "b").respond(302, headers: ["Location": "/c"])
    mock.on(.get, "c").respond(text: "hi")
    let missing = try await mock.send(NetworkRequest(url: mock.baseURL.appending(path: "a")))
    #expect(missing.statusCode == 404)
    #expect(missing.source == .mock)
    #expect(missing.headers["x-a"] == "1")
    #expect(missing.headers["Content-Type"] == "application/json")
    #expect(try missing.text == #"{"id": 1}"#)
    let redirect = try await mock.send(NetworkRequest(url: mock.baseURL.appending(path: "b")))
    #expect(redirect.statusCode == 302)
    let text: String = try await client().send(.get("b"))
    #expect(text == "hi")
  }

  @Test func `responses are given in order, and the last one is repeated`() async throws {
    mock.on(.get, "a").respond(503).times(2).respond(500).respond(200)
    var statuses: [Int] = []
    for _ in 0..<5 { statuses.append(try await status("a")) }
    #expect(statuses == [503, 503, 500, 200, 200])
  }

  @Test func `a stub that is used up leaves requests to the next one that matches`() async throws {
    mock.on(.get, "a").respond(503).times(1)
    mock.on(.get, "*").respond(200)
    #expect(try await status("a") == 503)
    #expect(try await status("a") == 200)
    try mock.verify()
  }

  @Test func `an unmatched request fails with a message that gives each stub's reason`() async throws {
    mock.on(.post, "users").respond(201)
    mock.on(.get, "users/*", query: ["page": 2]).respond(200)
    mock.on(.get, "users/1", headers: ["Accept": "text/plain"]).respond(200)
    mock.on(.get, "users/1", where: { try $0.json(Repo.self).id == 1 })
    mock.on(.get, "users/1").respond(200).times(0)
    mock.on(.get, "users/1")
    mock.on(.get, "https://other.example/users/1").respond(200)
    let error = try await #require(throws: NetworkError.self) {
      let _: NetworkResponse = try await client().send(.get("users/1", query: ["page": 1, "token": "s3cret"]))
    }
    #expect(error.code == .unmatchedRequest)
    #expect(
      error.message == """
        no stub of the mock transport matches GET https://example.com/users/1?page=1&token=REDACTED:
          1. POST users: the method is GET
          2. GET users/*?page=2: the query has no page=2
          3. GET users/1 with Accept: there is no header Accept
          4. GET users/1 where …: its condition throws: the request was sent without a body
          5. GET users/1: it is used up, after 0 answers
          6. GET users/1: it has no response; tell it to respond(…), stream(…) or fail(…)
          7. GET https://other.example/users/1: the origin is https://example.com, not https://other.example
        add one with on(…), or change one of these
        """)
    #expect(error.request?.url.path() == "/users/1")
    #expect(mock.sent.count == 1)
  }

  @Test func `verify lists unused stubs, unused responses and unmatched requests`() async throws {
    mock.on(.get, "never").respond(200)
    mock.on(.get, "half").respond(503).respond(200)
    mock.on(.get, "twice").respond(200).times(2)
    mock.on(.get, "perhaps").respond(200).optional()
    mock.on(.get, "done").respond(200)
    for path in ["half", "twice", "done", "done"] { _ = try await status(path) }
    await #expect(throws: NetworkError.self) { try await status("none") }
    let error = try #require(throws: MockVerificationError.self) { try mock.verify() }
    #expect(
      error.description == """
        stubs that were not used as they say (mark those that need not be as optional()):
          GET never: never used
          GET half: answer 2 was given 0 times, not 1 time
          GET twice: answer 1 was given 1 time, not 2 times
        requests that no stub matched:
          GET https://example.com/none
        """)
  }

  @Test func `a failure is thrown with its code and the request, other errors as they are`() async throws {
    struct Broken: Error {}
    mock.on(.get, "a").fail(.timedOut).fail(Broken())
    let error = try await #require(throws: NetworkError.self) { try await mock.send(request("a")) }
    #expect(error.code == .timedOut)
    #expect(error.request?.url.path() == "/a")
    await #expect(throws: Broken.self) { try await mock.send(request("a")) }
  }

  @Test func `a closure responds, and the body of its stream is in memory`() async throws {
    mock.on(.post, "echo").respond { request in
      NetworkResponse(request: request, statusCode: 200, body: .data(request.body?.data ?? Data()))
    }
    let body = RequestBody.oneShot(ByteStream(chunks: [Data("a".utf8), Data("b".utf8)]), contentType: "text/plain")
    let response = try await mock.send(NetworkRequest(.post, url: request("echo").url, body: body))
    #expect(try response.text == "ab")
    #expect(response.source == .mock)
    #expect(try mock.sent[0].text == "ab")
    #expect(!body.isReplayable)
    let error = try await #require(throws: NetworkError.self) {
      try await mock.send(NetworkRequest(.post, url: request("echo").url, body: body))
    }
    #expect(error.code == .bodyConsumed)
  }

  func request(_ path: String) -> NetworkRequest { NetworkRequest(url: mock.baseURL.appending(path: path)) }

  func status(_ path: String) async throws -> Int { try await mock.send(request(path)).statusCode }

  @Test func `a closure responds to requests without a stub`() async throws {
    struct Refused: Error {}
    let mock = MockTransport { request in
      if request.method == .delete { throw Refused() }
      return NetworkResponse(request: request, statusCode: 299, body: .data(Data(try request.text.utf8)))
    }
    mock.on(.get).respond(204).times(1)
    #expect(try await mock.send(NetworkRequest(url: mock.baseURL)).statusCode == 204)
    let body = RequestBody.stream { ByteStream(chunks: [Data("he".utf8), Data("llo".utf8)]) }
    let response = try await mock.send(NetworkRequest(.post, url: mock.baseURL, body: body))
    #expect(try response.text == "hello")
    #expect(response.source == .mock)
    await #expect(throws: Refused.self) { try await mock.send(NetworkRequest(.delete, url: mock.baseURL)) }
    #expect(mock.sent.map(\.method) == [.get, .post, .delete])
    try mock.verify()
    #expect(
      try await MockTransport(answer: { NetworkResponse(request: $0, statusCode: 201) }).send(response.request)
        .statusCode == 201)
  }

  @Test(arguments: [2, 6] as [Int64])
  func `a stream whose length differs from the announced one is not sent`(length: Int64) async throws {
    mock.on().respond(200)
    let body = RequestBody.stream(length: length) { ByteStream(chunks: [Data("four".utf8)]) }
    let error = await #expect(throws: NetworkError.self) {
      try await mock.send(NetworkRequest(.post, url: mock.baseURL, body: body))
    }
    #expect(error?.code == .bodyUnreadable)
    #expect(mock.sent.isEmpty)
  }

  @Test func `a body that is not a regular file is not sent`() async throws {
    mock.on().respond(200)
    let remote = try #require(URL(string: "data:text/plain,hello"))
    let pipe = FileManager.default.temporaryDirectory.appending(path: "pipe-\(UUID().uuidString)")
    #expect(mkfifo(pipe.path(percentEncoded: false), 0o600) == 0)
    defer { try? FileManager.default.removeItem(at: pipe) }
    for file in [remote, pipe, FileManager.default.temporaryDirectory] {
      let error = await #expect(throws: NetworkError.self) {
        try await mock.send(NetworkRequest(.post, url: mock.baseURL, body: .file(file)))
      }
      #expect(error?.code == .bodyUnreadable)
    }
    #expect(mock.sent.isEmpty)
  }
}
