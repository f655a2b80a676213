import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Recording from a real server, once and again.
@Suite(.limited) struct CassetteRecordingTests {
  private let bench = CassetteBench()

  @Test func `recording an unchanged server again does not change the file, also with concurrent calls`() async throws {
    let server = try LoopbackServer { request in
      .json(#"{"path": "\#(request.path)", "token": "secret-\#(request.path)-long"}"#)
        .header("Date", "Mon, 23 Nov 2026 01:14:55 GMT").header("X-Request-Id", UUID().uuidString)
    }
    var texts: Set<String> = []
    for _ in 0..<10 {
      let recording = try bench.cassette(.recordAll, over: URLSessionTransport())
      let client = bench.client(recording, at: server.baseURL)
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
      texts.insert(try bench.text())
    }
    server.stop()
    #expect(texts.count == 1)
  }

  @Test func `a test that ends with verify is recorded, and then played`() async throws {
    let mock = MockTransport(baseURL: bench.baseURL)
    mock.on(.get, "issues").respond(jsonText: "[1,2]")
    for mode in [CassetteMode.recordMissing, .replay, .recordMissing] {
      let cassette = try bench.cassette(mode, over: mock)
      #expect(try await bench.client(cassette).send(Request<[Int]>.get("issues")) == [1, 2])
      try cassette.verify()
    }
    #expect(mock.sent.count == 1)
  }

  @Test func `a request whose user signs out while its stream is read is not sent`() async throws {
    let mock = MockTransport(baseURL: bench.baseURL)
    let cassette = try bench.cassette(.recordAll, over: mock)
    let request = NetworkRequest(.put, url: bench.baseURL).signingOutWhileRead()
    await #expect(throws: UserHasLeft.self) { try await cassette.send(request) }
    #expect(mock.sent.isEmpty)
    await cassette.shutdown()
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
      let recording = try bench.cassette(.recordAll, over: URLSessionTransport())
      let client = bench.client(recording, at: server.baseURL)
      for number in 0..<5 { try await client.send(.get("item\(number)")) }
      await recording.shutdown()
      return try bench.text().split(separator: "\n")
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

  @Test func `in the mode for missing entries the existing ones are played`() async throws {
    let asked = Counter()
    let server = try LoopbackServer { request in .text("\(request.path) \(asked.next())") }
    for names in [["a"], ["a", "b"], ["a", "b"]] {
      let recording = try bench.cassette(.recordMissing, over: URLSessionTransport())
      let client = bench.client(recording, at: server.baseURL)
      for name in names { _ = try await client.send(Request<String>.get("\(name)")) }
      await recording.shutdown()
    }
    #expect(asked.count == 2)
    server.stop()
  }

  /// A server whose first response to a path below `slow` is cancelled by the caller.
  private func stalling(_ text: String, _ gate: TestGate) -> MockTransport {
    let sends = Counter()
    return MockTransport { request in
      if request.url.path().hasSuffix("slow"), sends.next() == 1 {
        gate.arrive()
        for await _ in AsyncStream<Never>.makeStream().stream {}
        throw CancellationError()
      }
      return NetworkResponse(request: request, statusCode: 200, body: .data(Data(text.utf8)))
    }
  }

  private func sendAndCancel(_ client: NetworkClient, _ gate: TestGate) async {
    let sending = Task { try await client.send(Request<String>.get("slow")) }
    await gate.waitForArrivals(1)
    sending.cancel()
    _ = try? await sending.value
  }

  /// Records `slow`, and then again a send of `slow` that is cancelled and one of a path.
  private func recordAgain(sending path: String) async throws {
    let old = MockTransport()
    old.on(.get).respond(text: "old")
    try await bench.record(over: old) { client in _ = try await client.send(Request<String>.get("slow")) }
    let gate = TestGate()
    try await bench.record(over: stalling("new", gate)) { client in
      await sendAndCancel(client, gate)
      _ = try await client.send(Request<String>.get("\(path)"))
    }
  }

  @Test func `a repeated send replaces its entry, although an earlier send was cancelled`() async throws {
    try await recordAgain(sending: "slow")
    let playing = try bench.cassette(.replay)
    #expect(try await bench.client(playing).send(Request<String>.get("slow")) == "new")
    try playing.verify()
  }

  @Test func `a recording that is saved twice has a send once, although one before it was cancelled`() async throws {
    let gate = TestGate()
    let recording = try bench.cassette(.recordAll, over: stalling("new", gate))
    let client = bench.client(recording)
    await sendAndCancel(client, gate)
    _ = try await client.send(Request<String>.get("slow"))
    try recording.save()
    _ = try await client.send(Request<String>.get("other"))
    await recording.shutdown()
    let playing = try bench.cassette(.replay)
    for path in ["slow", "other"] { _ = try await bench.client(playing).send(Request<String>.get("\(path)")) }
    try playing.verify()
  }

  @Test func `an entry whose only new send was cancelled stays`() async throws {
    try await recordAgain(sending: "other")
    let playing = try bench.cassette(.replay)
    #expect(try await bench.client(playing).send(Request<String>.get("slow")) == "old")
    #expect(try await bench.client(playing).send(Request<String>.get("other")) == "new")
    try playing.verify()
  }

  @Test func `the recording test gets the original bytes, and the file plays without real credentials`() async throws {
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
    let url = try await bench.tape(respond).record { try await use($0) }
    #expect(seen.values == [secret])
    let text = try bench.text()
    #expect(!text.contains("c4nary"))
    #expect(!text.contains("S3cret"))
    #expect(text.contains("Bearer REDACTED-"))
    let playing = try bench.cassette(.replay)
    try await use(bench.client(playing, at: url))
    try playing.verify()
    #expect(seen.values.last?.hasPrefix("REDACTED-") == true)
  }

  @Test func `a file that would hold a known secret is not written`() async throws {
    let server = try LoopbackServer { _ in .data(Data("\u{0}blob c4nary-S3cret-longer".utf8)) }
    let recording = try bench.cassette(.recordAll, over: URLSessionTransport())
    let fields: HeaderFields = ["X-API-Key": "c4nary-S3cret-longer", "X-Plain": "yes"]
    try await bench.client(recording, at: server.baseURL).send(.get("c4nary-S3cret-longer", headers: fields))
    let error = #expect(throws: CassetteError.self) { try recording.save() }
    #expect(error?.description.contains("would hold a secret") == true)
    #expect(error?.description.contains("c4nary") == false)
    #expect(throws: (any Error).self) { try self.bench.text() }
    await recording.shutdown()
    server.stop()
  }

  @Test func `if CI is set no request is recorded, and an unknown mode is refused`() {
    for environment in [
      ["CI": "true", "REQUEST_BEHAVIORS_CASSETTES": "missing"], ["REQUEST_BEHAVIORS_CASSETTES": "always"],
    ] {
      CassetteMode.$environment.withValue(environment) {
        #expect(throws: CassetteError.self) { try CassetteTransport("x", directory: "/nowhere") }
      }
    }
  }

  @Test func `a second transport that records the same file is refused with the file's name`() async throws {
    let first = try bench.cassette(.recordAll)
    let error = #expect(throws: CassetteError.self) { try self.bench.cassette(.recordAll) }
    #expect(error?.description.contains("record tape.har at the same time") == true)
    await first.shutdown()
    await (try bench.cassette(.recordAll)).shutdown()
  }

  @Test func `a missing file is refused with the command that records it`() throws {
    let error = #expect(throws: CassetteError.self) { try self.bench.cassette(.replay, name: "none") }
    #expect(error?.description.contains("there is no none.har; record it: REQUEST_BEHAVIORS_CASSETTES=missing") == true)
  }

  @Test(arguments: [("`issues (open)`()", "-issues--open--"), ("issues(state:)", "issues"), ("issues", "issues")])
  func `a file has the name of its test without the parameters`(function: String, name: String) {
    let error = #expect(throws: CassetteError.self) { try CassetteTransport(mode: .replay, function: function) }
    #expect(error?.description.hasPrefix("there is no CassetteRecordingTests.\(name).har; ") == true)
  }

  /// Has a cookie until it forgets its user.
  private final class CookieTransport: Transport {
    private let isSignedIn = Locked(true)

    func addsCredentials(to request: NetworkRequest) -> Bool { isSignedIn.withLock { $0 } }

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
      NetworkResponse(request: request, statusCode: 200)
    }

    func forgetUser() { isSignedIn.withLock { $0 = false } }
    func shutdown() async {}
  }

  @Test(arguments: [CassetteMode.live, .recordAll, .recordMissing])
  func `a recording transport reports the credentials of the transport below, and forgets them`(
    mode: CassetteMode
  ) async throws {
    let live = CookieTransport()
    let recording = try bench.cassette(mode, over: live)
    let request = NetworkRequest(url: bench.baseURL)
    #expect(recording.addsCredentials(to: request))
    await bench.client(recording).reset()
    #expect(!live.addsCredentials(to: request))
    #expect(!recording.addsCredentials(to: request))
  }

  @Test func `a playing transport does not add credentials`() async throws {
    try await bench.record(over: MockTransport { NetworkResponse(request: $0, statusCode: 200) }) { client in
      try await client.send(.get("x"))
    }
    let playing = try bench.cassette(.replay, over: CookieTransport())
    #expect(!playing.addsCredentials(to: NetworkRequest(url: bench.baseURL)))
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

private final class Collected: Sendable {
  private let texts = Locked<[String]>([])

  var values: [String] { texts.withLock { $0 } }

  func add(_ text: String) { texts.withLock { $0.append(text) } }
}
