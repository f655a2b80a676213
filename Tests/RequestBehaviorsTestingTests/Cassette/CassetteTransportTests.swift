import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Playing what was recorded from a real server.
@Suite(.limited) struct CassetteTransportTests {
  private let bench = CassetteBench()

  @Test func `a recording plays without the server, in order, and every entry is used`() async throws {
    let counter = Counter()
    let url = try await bench.tape({ request in .text("\(request.method) \(counter.next())") }).record { client in
      for _ in 0..<3 { _ = try await client.send(Request<String>.get("x")) }
      _ = try await client.send(Request<String>.post("x", body: .json(["a": 1])))
    }
    let playing = try bench.cassette(.replay)
    let client = bench.client(playing, at: url)
    #expect(playing.unused.count == 4)
    for number in 1...3 { #expect(try await client.send(Request<String>.get("x")) == "GET \(number)") }
    #expect(throws: CassetteError.self) { try playing.verify() }
    #expect(try await client.send(Request<String>.post("x", body: .json(["a": 1]))) == "POST 4")
    try playing.verify()
    #expect(playing.unused.isEmpty)
  }

  @Test func `the error for a request without an entry names the nearest entry and the command that records it`()
    async throws
  {
    let url = try await bench.tape({ _ in .json("{}") }).record { client in
      try await client.send(.post("issues", body: .json(["title": "Crash on start"])))
    }
    let playing = try bench.cassette(.replay)
    let error = await #expect(throws: NetworkError.self) {
      try await self.bench.client(playing, at: url).send(.post("issues", body: .json(["title": "Crash"])))
    }
    #expect(error?.code == .unmatchedRequest)
    let message = error?.message ?? ""
    #expect(message.contains(#"body, /title: "Crash" now, "Crash on start" recorded"#))
    #expect(message.contains("entries for this method and path: 1 (unused)"))
    #expect(message.contains("REQUEST_BEHAVIORS_CASSETTES=missing swift test --filter CassetteBench"))
    #expect(throws: CassetteError.self) { try playing.verify() }
  }

  @Test(arguments: [
    ("p/a%2Fb", "p/a/b", "path: /p/a/b now, /p/a%2Fb recorded"),
    ("p/a%252Fb", "p/a%2Fb", "path: /p/a%2Fb now, /p/a%252Fb recorded"),
    ("p/%E4", "p/%FC", "path: /p/%FC now, /p/%E4 recorded"),
    ("q?s=C%2B%2b", "q?s=C++", #"query, s: "C++" now, "C%2B%2B" recorded"#),
    ("q?s=C%252B", "q?s=C%2B", #"query, s: "C%2B" now, "C%252B" recorded"#),
    ("q?s=%E4", "q?s=%FC", #"query, s: "%FC" now, "%E4" recorded"#),
  ])
  func `a character that must be encoded is another one without its encoding`(
    recorded: String, wrong: String, difference: String
  ) async throws {
    let base = "https://api.example.com/"
    try await bench.record(over: MockTransport { NetworkResponse(request: $0, statusCode: 200) }) { client in
      try await client.send(.get(url: try #require(URL(string: base + recorded))))
    }
    let playing = try bench.cassette(.replay)
    let error = await #expect(throws: NetworkError.self) {
      try await bench.client(playing).send(.get(url: try #require(URL(string: base + wrong))))
    }
    #expect(error?.message.contains(difference) == true)
    try await bench.client(playing).send(.get(url: try #require(URL(string: base + recorded))))
  }

  @Test(arguments: [("p/%c3%A4%3Bx", "p/%C3%A4;x"), ("q?s=a%3Ab%2B", "q?s=a:b%2b"), ("", "?")])
  func `other spellings of one URL are the same`(recorded: String, other: String) async throws {
    let base = "https://api.example.com/"
    try await bench.record(over: MockTransport { NetworkResponse(request: $0, statusCode: 200) }) { client in
      try await client.send(.get(url: try #require(URL(string: base + recorded))))
    }
    let playing = try bench.cassette(.replay)
    try await bench.client(playing).send(.get(url: try #require(URL(string: base + other))))
  }

  @Test(arguments: [\RequestOptions.timeout, \.idleTimeout])
  func `nothing that is recorded comes within no time`(
    _ option: any WritableKeyPath<RequestOptions, Duration?> & Sendable
  ) async throws {
    try await bench.record(over: MockTransport { NetworkResponse(request: $0, statusCode: 200) }) { client in
      try await client.send(.get("x"))
    }
    let client = bench.client(try bench.cassette(.replay), clock: ManualClock().requestClock)
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("x").with(option, .zero)) }
    #expect(error?.code == .timedOut)
  }

  @Test func `replaying does not connect`() async throws {
    let url = try await bench.tape({ _ in .text("x") }).record { try await $0.send(.get("x")) }
    let live = MockTransport { _ in throw NetworkError(.cannotConnect, "connected") }
    let playing = try bench.cassette(.replay, over: live)
    try await bench.client(playing, at: url).send(.get("x"))
    _ = try? await bench.client(playing, at: url).send(.get("y"))
    #expect(live.sent.isEmpty)
  }

  @Test func `a response field that repeats a request field is filled from the live request`() async throws {
    let url = try await bench.tape({ request in
      LoopbackResponse.text("x").header("X-API-Nonce", request.headers["X-API-Nonce"] ?? "")
    }).record { client in
      try await client.with { $0.behaviors.append(.nonceVerification()) }.send(.get("x"))
    }
    #expect(try bench.text().contains(#""_echo": "X-API-Nonce""#))
    let playing = try bench.cassette(.replay)
    try await bench.client(playing, at: url, [.nonceVerification()]).send(.get("x"))
  }

  @Test func `large and binary bodies are in files of their own`() async throws {
    let binary = Data((0..<200).map { UInt8($0) })
    let large = String(repeating: "a long line\n", count: 3_000)
    let respond: @Sendable (LoopbackRequest) -> LoopbackResponse = { request in
      request.path.hasSuffix("png") ? .data(binary).header("Content-Type", "image/png") : .text(large)
    }
    let url = try await bench.tape(respond).record { client in
      _ = try await client.send(Request<Data>.get("logo.png"))
      _ = try await client.send(Request<String>.get("log"))
    }
    let files = try FileManager.default.contentsOfDirectory(
      atPath: bench.folder.appending(path: "tape.bodies").path(percentEncoded: false))
    #expect(files.map { $0.suffix(4) }.sorted() == [".png", ".txt"])
    let playing = bench.client(try bench.cassette(.replay), at: url)
    #expect(try await playing.send(Request<Data>.get("logo.png")) == binary)
    #expect(try await playing.send(Request<String>.get("log")) == large)
  }

  @Test func `matching rules ignore changing values`() async throws {
    let url = try await bench.tape({ _ in .text("x") }).record { client in
      try await client.send(.post("x", body: .json(["sentAt": "1", "id": "2"]), query: ["cursor": "a", "page": "1"]))
    }
    let request = Request<Void>.post(
      "x", body: .json(["sentAt": "9", "id": "2"]), query: ["page": "1", "cursor": "b"])
    await #expect(throws: NetworkError.self) {
      try await self.bench.client(try self.bench.cassette(.replay), at: url).send(request)
    }
    let loose = CassetteMatching.standard.ignoringBody(at: "/sentAt").ignoringQuery("cursor").ignoringOrigin()
    let other = try #require(URL(string: "https://elsewhere.example"))
    try await bench.client(try bench.cassette(.replay, matching: loose), at: other).send(request)
    let polling = try bench.cassette(.replay, matching: loose.repeatingLast())
    for _ in 0..<3 { try await bench.client(polling, at: other).send(request) }
  }

  @Test func `the archive of a browser plays, and the use of an entry without a body is an error that says so`()
    async throws
  {
    let har = #"""
      {"log": {"version": "1.2", "creator": {"name": "x", "version": "1"}, "entries": [
        {"startedDateTime": "2026-11-23T01:14:55.293Z", "time": 5,
         "request": {"method": "GET", "url": "https://shop.example.com/a", "headers": [{"name": ":path", "value": "/"}]},
         "response": {"status": 200, "headers": [{"name": "content-type", "value": "text/plain"}],
           "content": {"size": 5, "mimeType": "text/plain", "text": "aGVsbG8=", "encoding": "base64"}}},
        {"startedDateTime": "2026-11-23T01:14:56Z", "time": 5,
         "request": {"method": "GET", "url": "https://shop.example.com/b", "headers": []},
         "response": {"status": 200, "headers": [], "content": {"size": 5, "mimeType": "text/plain"}}}]}}
      """#
    try FileManager.default.createDirectory(at: bench.folder, withIntermediateDirectories: true)
    try Data(har.utf8).write(to: bench.folder.appending(path: "browser.har"))
    let playing = try bench.cassette(.replay, name: "browser")
    let client = bench.client(playing, at: try #require(URL(string: "https://shop.example.com/")))
    #expect(abs(playing.recordedAt.timeIntervalSince1970 - 1_795_396_495.293) < 0.001)
    #expect(try await client.send(Request<String>.get("a")) == "hello")
    let error = await #expect(throws: NetworkError.self) { try await client.send(Request<String>.get("b")) }
    #expect(error?.message.contains("was recorded without its body") == true)
  }

  @Test func `a thousand requests at a time each get their own entry`() async throws {
    let mock = MockTransport { NetworkResponse(request: $0, statusCode: 200, body: .data(Data($0.url.path().utf8))) }
    let recording = try bench.cassette(.recordAll, over: mock)
    let client = bench.client(recording, at: mock.baseURL)
    for number in 0..<200 { try await client.send(.get("\(number)")) }
    await recording.shutdown()
    let playing = self.bench.client(try bench.cassette(.replay, matching: .standard.repeatingLast()), at: mock.baseURL)
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<1_000 {
        group.addTask { try await playing.send(Request<String>.get("\(number % 200)")).hasSuffix("/\(number % 200)") }
      }
      for try await isRight in group { #expect(isRight) }
    }
  }
}
