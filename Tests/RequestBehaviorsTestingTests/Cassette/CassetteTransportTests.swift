import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Recording from a real server once, and playing it without one.
@Suite(.limited) final class CassetteTransportTests {
  private let folder = URL.temporaryDirectory.appending(path: "cassettes-\(UUID().uuidString)")

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func cassette(
    _ mode: CassetteMode, name: String = "tape", matching: CassetteMatching = .standard,
    pace: ReplayPace = .immediate, over live: (any Transport)? = nil
  ) throws -> CassetteTransport {
    // The modes that record are refused where `CI` is set.
    try CassetteMode.$environment.withValue([:]) {
      try CassetteTransport(
        name, mode: mode, over: live ?? URLSessionTransport(), matching: matching, pace: pace,
        directory: folder.path(percentEncoded: false))
    }
  }

  private func text(_ name: String = "tape") throws -> String {
    String(decoding: try Data(contentsOf: folder.appending(path: "\(name).har")), as: UTF8.self)
  }

  private func client(
    _ transport: any Transport, _ baseURL: URL = URL(filePath: "/"), _ behaviors: [any RequestBehavior] = []
  ) -> NetworkClient {
    NetworkClient(baseURL: baseURL, behaviors: behaviors, transport: transport)
  }

  /// A server that is recorded.
  private struct Tape {
    let test: CassetteTransportTests
    let respond: @Sendable (LoopbackRequest) -> LoopbackResponse

    /// Records what a closure asks of the server, and returns the server's address, at which none listens afterwards.
    func record(_ use: (NetworkClient) async throws -> Void) async throws -> URL {
      let server = try LoopbackServer(handler: respond)
      let recording = try test.cassette(.recordAll)
      try await use(test.client(recording, server.baseURL))
      try recording.save()
      await recording.shutdown()
      server.stop()
      return server.baseURL
    }
  }

  private func tape(_ respond: @escaping @Sendable (LoopbackRequest) -> LoopbackResponse) -> Tape {
    Tape(test: self, respond: respond)
  }

  @Test func `what was recorded plays without the server, in order, and all of it is used`() async throws {
    let counter = Counter()
    let url = try await tape({ request in .text("\(request.method) \(counter.next())") }).record { client in
      for _ in 0..<3 { _ = try await client.send(Request<String>.get("x")) }
      _ = try await client.send(Request<String>.post("x", body: .json(["a": 1])))
    }
    let playing = try cassette(.replay)
    let client = client(playing, url)
    #expect(playing.unused.count == 4)
    for number in 1...3 { #expect(try await client.send(Request<String>.get("x")) == "GET \(number)") }
    #expect(throws: CassetteError.self) { try playing.verify() }
    #expect(try await client.send(Request<String>.post("x", body: .json(["a": 1]))) == "POST 4")
    try playing.verify()
    #expect(playing.unused.isEmpty)
  }

  @Test func `a request without an entry fails with the nearest one and the command that records it`() async throws {
    let url = try await tape({ _ in .json("{}") }).record { client in
      try await client.send(.post("issues", body: .json(["title": "Crash on start"])))
    }
    let playing = try cassette(.replay)
    let error = await #expect(throws: NetworkError.self) {
      try await self.client(playing, url).send(.post("issues", body: .json(["title": "Crash"])))
    }
    #expect(error?.code == .unmatchedRequest)
    let message = error?.message ?? ""
    #expect(message.contains(#"body, /title: "Crash" now, "Crash on start" recorded"#))
    #expect(message.contains("entries for this method and path: 1 (unused)"))
    #expect(message.contains("REQUEST_BEHAVIORS_CASSETTES=missing swift test --filter CassetteTransportTests"))
    #expect(throws: CassetteError.self) { try playing.verify() }
  }

  @Test func `replaying never connects`() async throws {
    let url = try await tape({ _ in .text("x") }).record { try await $0.send(.get("x")) }
    let live = MockTransport { _ in throw NetworkError(.cannotConnect, "connected") }
    let playing = try cassette(.replay, over: live)
    try await client(playing, url).send(.get("x"))
    _ = try? await client(playing, url).send(.get("y"))
    #expect(live.sent.isEmpty)
  }

  @Test func `recording an unchanged server again changes no byte, also with concurrent calls`() async throws {
    let server = try LoopbackServer { request in
      .json(#"{"path": "\#(request.path)", "token": "secret-\#(request.path)-long"}"#)
        .header("Date", "Mon, 23 Nov 2026 01:14:55 GMT").header("X-Request-Id", UUID().uuidString)
    }
    var texts: Set<String> = []
    for _ in 0..<10 {
      let recording = try cassette(.recordAll)
      let client = client(recording, server.baseURL)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<8 {
          // Two of each place, and others that differ in their bodies alone.
          group.addTask { try await client.send(.get("item\(number / 2)")) }
          group.addTask { try await client.send(.post("item", body: .json(["number": number]))) }
        }
        try await group.waitForAll()
      }
      try recording.save()
      await recording.shutdown()
      texts.insert(try text())
    }
    server.stop()
    #expect(texts.count == 1)
  }

  @Test func `one changed value changes at most three lines`() async throws {
    let value = Counter()
    let server = try LoopbackServer { request in
      let date = "Mon, 23 Nov 2026 01:14:5\(value.count) GMT"
      let changed = value.count == 0 ? "0" : #""a longer value""#
      return (request.path.hasSuffix("3") ? LoopbackResponse.json(#"{"value": \#(changed)}"#) : .json("{}"))
        .header("Date", date).header("X-Request-Id", UUID().uuidString)
    }
    func run() async throws -> [Substring] {
      let recording = try cassette(.recordAll)
      let client = client(recording, server.baseURL)
      for number in 0..<5 { try await client.send(.get("item\(number)")) }
      await recording.shutdown()
      return try text().split(separator: "\n")
    }
    let before = try await run()
    _ = value.next()
    let after = try await run()
    server.stop()
    let changed = zip(before, after).filter { $0 != $1 }
    #expect(before.count == after.count)
    #expect(changed.count <= 3)
    let isNew = changed.contains { $1.contains("a longer value") }
    #expect(isNew)
  }

  @Test func `in the mode for missing entries the others are played`() async throws {
    let asked = Counter()
    let server = try LoopbackServer { request in .text("\(request.path) \(asked.next())") }
    for names in [["a"], ["a", "b"], ["a", "b"]] {
      let recording = try cassette(.recordMissing)
      let client = client(recording, server.baseURL)
      for name in names { _ = try await client.send(Request<String>.get("\(name)")) }
      await recording.shutdown()
    }
    #expect(asked.count == 2)
    server.stop()
  }

  @Test func `the test that records gets the true bytes, and the file plays with credentials of no one`() async throws {
    let secret = "c4nary-S3cret-longer"
    let respond: @Sendable (LoopbackRequest) -> LoopbackResponse = { request in
      request.path.hasSuffix("token")
        ? .json(#"{"access_token": "\#(secret)", "expires_in": 600, "pin": 1234, "scope": null}"#)
        : .json(#"{"said": "\#(request.headers["Authorization"] ?? "")", "nested": "{\"token\": \"\#(secret)\"}"}"#)
    }
    let seen = Collected()
    func use(_ client: NetworkClient) async throws {
      let token: Token = try await client.send(.post("token", body: .form(["client_secret": secret + "2"])))
      seen.add(token.accessToken)
      #expect(token.expiresIn == 600)
      let fields: HeaderFields = ["Authorization": "Bearer \(token.accessToken)"]
      _ = try await client.send(Request<String>.get("me", query: ["api_key": secret + "3"], headers: fields))
    }
    let url = try await tape(respond).record { try await use($0) }
    #expect(seen.values == [secret])
    let text = try text()
    #expect(!text.contains("c4nary"))
    #expect(!text.contains("S3cret"))
    #expect(text.contains("Bearer REDACTED-"))
    let playing = try cassette(.replay)
    try await use(client(playing, url))
    try playing.verify()
    #expect(seen.values.last?.hasPrefix("REDACTED-") == true)
  }

  @Test func `a file that would hold a known secret is not written`() async throws {
    let server = try LoopbackServer { _ in .data(Data("\u{0}blob c4nary-S3cret-longer".utf8)) }
    let recording = try cassette(.recordAll)
    let fields: HeaderFields = ["X-API-Key": "c4nary-S3cret-longer", "X-Plain": "yes"]
    try await client(recording, server.baseURL).send(.get("c4nary-S3cret-longer", headers: fields))
    let error = #expect(throws: CassetteError.self) { try recording.save() }
    #expect(error?.description.contains("would hold a secret") == true)
    #expect(error?.description.contains("c4nary") == false)
    #expect(throws: (any Error).self) { try self.text() }
    await recording.shutdown()
    server.stop()
  }

  @Test func `where CI is set nothing is recorded, and an unknown mode is refused`() {
    for environment in [
      ["CI": "true", "REQUEST_BEHAVIORS_CASSETTES": "missing"], ["REQUEST_BEHAVIORS_CASSETTES": "always"],
    ] {
      CassetteMode.$environment.withValue(environment) {
        #expect(throws: CassetteError.self) { try CassetteTransport("x", directory: "/nowhere") }
      }
    }
  }

  @Test func `a field that repeats one of the request is filled from the live request`() async throws {
    let url = try await tape({ request in
      LoopbackResponse.text("x").header("X-API-Nonce", request.headers["X-API-Nonce"] ?? "")
    }).record { client in
      try await client.with { $0.behaviors.append(.nonceVerification()) }.send(.get("x"))
    }
    #expect(try text().contains(#""_echo": "X-API-Nonce""#))
    let playing = try cassette(.replay)
    try await client(playing, url, [.nonceVerification()]).send(.get("x"))
  }

  @Test func `a stream keeps its chunks, its trailers and, in virtual time, its times`() async throws {
    let clock = ManualClock()
    let mock = MockTransport()
    mock.on(.get, "feed").stream(
      "data: 1\n\n", .wait(.seconds(5)), "data: 2\n\n", .wait(.seconds(20)), "data: 3\n\n",
      headers: ["Content-Type": "text/event-stream"], trailers: ["X-Rows": "3"])
    func read(_ transport: any Transport, _ clock: ManualClock) async throws -> [String] {
      var configuration = RequestConfiguration(baseURL: mock.baseURL)
      configuration.clock = clock.requestClock
      let client = NetworkClient(configuration: configuration, transport: transport)
      let response = try await client.stream(.get("feed"))
      var seen: [String] = []
      for try await chunk in response.bytes {
        seen.append("\(clock.now) \(String(decoding: chunk, as: UTF8.self))")
      }
      return seen + [try await response.completion.trailers?["X-Rows"] ?? "no trailers"]
    }
    let recording = try cassette(.recordAll, over: mock)
    async let live = read(recording, clock)
    await clock.run(for: .seconds(60))
    let lines = try await live
    await recording.shutdown()
    let second = ManualClock()
    let playing = try cassette(.replay, pace: .recorded)
    async let played = read(playing, second)
    await second.run(for: .seconds(60))
    #expect(try await played == lines)
    #expect(lines.count == 4)
    let immediate = ManualClock()
    #expect(try await read(try cassette(.replay), immediate).count == 4)
    #expect(immediate.now == .zero)
  }

  @Test func `a stall that was recorded hits the idle timeout in virtual time`() async throws {
    let clock = ManualClock()
    let mock = MockTransport()
    mock.on(.get, "feed").stream("one", .wait(.seconds(90)), "two")
    var configuration = RequestConfiguration(baseURL: mock.baseURL)
    configuration.clock = clock.requestClock
    let recording = try cassette(.recordAll, over: mock)
    let patient = NetworkClient(configuration: configuration, transport: recording)
    async let whole = patient.send(Request<String>.get("feed").with(\.idleTimeout, .seconds(600)))
    await clock.run(for: .seconds(100))
    #expect(try await whole == "onetwo")
    await recording.shutdown()
    let client = NetworkClient(
      configuration: configuration, transport: try cassette(.replay, pace: .recorded))
    let call = Task { try await client.send(Request<String>.get("feed")) }
    await clock.run(for: .seconds(100))
    let error = await #expect(throws: NetworkError.self) { try await call.value }
    #expect(error?.code == .timedOut)
  }

  @Test func `a thousand chunks of an hour are read at their times`() async throws {
    let clock = ManualClock()
    let mock = MockTransport()
    let steps = (0..<1_000).flatMap { [MockStreamStep.wait(.milliseconds(3_600)), .text("event \($0)\n")] }
    mock.on(.get, "feed").stream(steps: steps)
    var configuration = RequestConfiguration(baseURL: mock.baseURL)
    configuration.clock = clock.requestClock
    let recording = try cassette(.recordAll, over: mock)
    let live = NetworkClient(configuration: configuration, transport: recording)
    let whole = try await clock.run { try await live.send(Request<String>.get("feed")) }
    #expect(whole.count > 8_000)
    await recording.shutdown()
    let playing = NetworkClient(configuration: configuration, transport: try cassette(.replay, pace: .recorded))
    let start = clock.now
    let times = try await clock.run {
      var times: [Duration] = []
      for try await _ in try await playing.stream(.get("feed")).bytes { times.append(clock.now - start) }
      return times
    }
    let late = times.enumerated().count { $1 != .milliseconds(3_600 * ($0 + 1)) }
    #expect(times.count == 1_000)
    #expect(late == 0)
  }

  @Test func `an error is played with its code and progress, so that a retry decides as it did`() async throws {
    let url = try await tape({ _ in LoopbackResponse.text("12345678").fault(.close, at: .body(after: 3)) }).record {
      client in
      _ = try? await client.send(Request<String>.get("x"))
    }
    let error = await #expect(throws: NetworkError.self) {
      try await self.client(try self.cassette(.replay), url).send(Request<String>.get("x"))
    }
    #expect([.connectionLost, .truncatedBody].contains(error?.code))
  }

  @Test func `large and binary bodies are in files of their own`() async throws {
    let binary = Data((0..<200).map { UInt8($0) })
    let large = String(repeating: "a long line\n", count: 3_000)
    let respond: @Sendable (LoopbackRequest) -> LoopbackResponse = { request in
      request.path.hasSuffix("png") ? .data(binary).header("Content-Type", "image/png") : .text(large)
    }
    let url = try await tape(respond).record { client in
      _ = try await client.send(Request<Data>.get("logo.png"))
      _ = try await client.send(Request<String>.get("log"))
    }
    let files = try FileManager.default.contentsOfDirectory(
      atPath: folder.appending(path: "tape.bodies").path(percentEncoded: false))
    #expect(files.map { $0.suffix(4) }.sorted() == [".png", ".txt"])
    let playing = client(try cassette(.replay), url)
    #expect(try await playing.send(Request<Data>.get("logo.png")) == binary)
    #expect(try await playing.send(Request<String>.get("log")) == large)
  }

  @Test func `rules of matching leave out what changes`() async throws {
    let url = try await tape({ _ in .text("x") }).record { client in
      try await client.send(.post("x", body: .json(["sentAt": "1", "id": "2"]), query: ["cursor": "a", "page": "1"]))
    }
    let request = Request<Void>.post(
      "x", body: .json(["sentAt": "9", "id": "2"]), query: ["page": "1", "cursor": "b"])
    await #expect(throws: NetworkError.self) { try await self.client(try self.cassette(.replay), url).send(request) }
    let loose = CassetteMatching.standard.ignoringBody(at: "/sentAt").ignoringQuery("cursor").ignoringOrigin()
    let other = try #require(URL(string: "https://elsewhere.example"))
    try await client(try cassette(.replay, matching: loose), other).send(request)
    let polling = try cassette(.replay, matching: loose.repeatingLast())
    for _ in 0..<3 { try await client(polling, other).send(request) }
  }

  @Test func `the archive of a browser plays, and an entry without its body says so when it is used`() async throws {
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
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(har.utf8).write(to: folder.appending(path: "browser.har"))
    let playing = try cassette(.replay, name: "browser")
    let client = client(playing, try #require(URL(string: "https://shop.example.com/")))
    #expect(abs(playing.recordedAt.timeIntervalSince1970 - 1_795_396_495.293) < 0.001)
    #expect(try await client.send(Request<String>.get("a")) == "hello")
    let error = await #expect(throws: NetworkError.self) { try await client.send(Request<String>.get("b")) }
    #expect(error?.message.contains("was recorded without its body") == true)
  }

  @Test func `two transports that record one file are refused by name`() async throws {
    let first = try cassette(.recordAll)
    let error = #expect(throws: CassetteError.self) { try self.cassette(.recordAll) }
    #expect(error?.description.contains("record tape.har at the same time") == true)
    await first.shutdown()
    await (try cassette(.recordAll)).shutdown()
  }

  @Test func `a missing file is refused with the command that records it`() throws {
    let error = #expect(throws: CassetteError.self) { try self.cassette(.replay, name: "none") }
    #expect(error?.description.contains("there is no none.har; record it: REQUEST_BEHAVIORS_CASSETTES=missing") == true)
  }

  @Test func `a thousand requests at a time each get their own entry`() async throws {
    let mock = MockTransport { NetworkResponse(request: $0, statusCode: 200, body: .data(Data($0.url.path().utf8))) }
    let recording = try cassette(.recordAll, over: mock)
    let client = client(recording, mock.baseURL)
    for number in 0..<200 { try await client.send(.get("\(number)")) }
    await recording.shutdown()
    let playing = self.client(try cassette(.replay, matching: .standard.repeatingLast()), mock.baseURL)
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<1_000 {
        group.addTask { try await playing.send(Request<String>.get("\(number % 200)")).hasSuffix("/\(number % 200)") }
      }
      for try await isRight in group { #expect(isRight) }
    }
  }
}

private struct Token: Decodable {
  let accessToken: String
  let expiresIn: Int
  let pin: Int

  enum CodingKeys: String, CodingKey {
    case accessToken = "access_token"
    case expiresIn = "expires_in"
    case pin
  }
}

private final class Counter: Sendable {
  private let value = Locked(0)

  var count: Int { value.withLock { $0 } }

  func next() -> Int {
    value.withLock { value in
      value += 1
      return value
    }
  }
}

private final class Collected: Sendable {
  private let texts = Locked<[String]>([])

  var values: [String] { texts.withLock { $0 } }

  func add(_ text: String) { texts.withLock { $0.append(text) } }
}
