import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Edge cases of cassettes: near matches, and ends at a bad moment.
@Suite(.limited) struct CassetteEdgeTests {
  private let bench = CassetteBench()
  private var echo: MockTransport {
    MockTransport { request in
      NetworkResponse(request: request, statusCode: 200, body: .data(request.body?.data ?? Data("none".utf8)))
    }
  }

  private struct Item: Codable, Sendable {
    let id: Int
  }

  @Test func `identifiers that differ in their last digits are distinguished`() async throws {
    let numbers = (0..<8).map { 9_007_199_254_740_992 + $0 }
    try await bench.record(over: echo) { client in
      for number in numbers { try await client.send(.post("items", body: .json(Item(id: number)))) }
    }
    let client = bench.client(try bench.cassette(.replay))
    for number in numbers.reversed() {
      let item: Item = try await client.send(.post("items", body: .json(Item(id: number))))
      #expect(item.id == number)
    }
  }

  @Test func `equal numbers in different notations match`() async throws {
    try await bench.record(over: echo) { client in
      try await client.send(
        .post("x", body: .data(Data(#"{"n": 1.0, "m": 1e2}"#.utf8), contentType: "application/json")))
    }
    let client = bench.client(try bench.cassette(.replay))
    try await client.send(.post("x", body: .data(Data(#"{"m": 100.0, "n": 1}"#.utf8), contentType: "application/json")))
  }

  /// A server whose response announces its length.
  private var account: MockTransport {
    MockTransport { request in
      let body = Data(#"{"name":"Anna","apiKey":"c4nary-of-some-length"}"#.utf8)
      return NetworkResponse(
        request: request, statusCode: 200, headers: ["Content-Length": "\(body.count)", "Cache-Control": "max-age=60"],
        body: .data(body))
    }
  }

  @Test func `a response without its secret is played with its own length`() async throws {
    try await bench.record(over: account) { client in try await client.send(.get("account")) }
    let played = try await bench.client(try bench.cassette(.replay)).send(Request<NetworkResponse>.get("account"))
    let length = try played.data.count
    #expect(played.headers["Content-Length"] == "\(length)")
    #expect(try bench.text().contains(#""Content-Length", "value": "\#(length)""#))
  }

  @Test func `a response without its secret is cached as in the recording`() async throws {
    @Sendable func use(_ client: NetworkClient) async throws -> Bool {
      try await client.send(.get("account"))
      return try await client.send(Request<NetworkResponse>.get("account")).source == .cache
    }
    try await bench.record(over: account, [.caching(MemoryCacheStore())]) { client in
      let isCached = try await use(client)
      #expect(isCached)
    }
    let client = bench.client(try bench.cassette(.replay), [.caching(MemoryCacheStore())])
    let isCached = try await use(client)
    #expect(isCached)
  }

  @Test func `an edited body is played with its own length`() async throws {
    try await bench.record(over: account) { client in try await client.send(.get("account")) }
    try bench.write(try bench.text().replacing("Anna", with: "Annabella"))
    let played = try await bench.client(try bench.cassette(.replay)).send(Request<NetworkResponse>.get("account"))
    let length = try played.data.count
    #expect(try played.text.contains("Annabella"))
    #expect(played.headers["Content-Length"] == "\(length)")
  }

  @Test(arguments: [("ST-18-aA5Yuvrxzpv8Tau1cYQ7", false), ("1204", true)])
  func `a ticket of a sign-in is hidden, and the number of a ticket is not`(value: String, isShown: Bool) async throws {
    try await bench.record(over: echo) { client in
      try await client.send(.get("validate", query: ["ticket": .some(value)]))
    }
    #expect(try bench.text().contains(value) == isShown)
    try await bench.client(try bench.cassette(.replay)).send(.get("validate", query: ["ticket": .some(value)]))
  }

  @Test func `binary parts of forms are distinguished`() async throws {
    @Sendable func upload(_ client: NetworkClient, _ byte: UInt8) async throws -> String {
      let parts: [MultipartPart] = [
        .field("note", "an image"),
        .part("file", .data(Data([0xFF, byte, 0xFE]), contentType: "image/png"), filename: "a.png"),
      ]
      return try await client.send(Request<String>.post("upload", body: .multipart(parts)))
    }
    try await bench.record(over: counting()) { client in
      for byte in 0x80...0x85 as ClosedRange<UInt8> { _ = try await upload(client, byte) }
    }
    let client = bench.client(try bench.cassette(.replay))
    for byte in (0x80...0x85 as ClosedRange<UInt8>).reversed() {
      #expect(try await upload(client, byte) == "\(byte - 0x7F)")
    }
  }

  /// A server that counts its requests.
  private func counting() -> MockTransport {
    let count = Locked(0)
    return MockTransport { request in
      let number = count.withLock { count in
        count += 1
        return count
      }
      return NetworkResponse(request: request, statusCode: 200, body: .data(Data("\(number)".utf8)))
    }
  }

  private enum Kind: CaseIterable, Sendable {
    case ignoredTime, members, parts

    func request(_ number: Int) -> Request<String> {
      switch self {
      case .ignoredTime: return .post("poll", body: .json(["sentAt": number, "id": 7]))
      case .members:
        let members = (0..<6).map { "\"m\(($0 + number) % 6)\": 1" }.joined(separator: ", ")
        return .post("poll", body: .data(Data("{\(members)}".utf8), contentType: "application/json"))
      case .parts: return .post("poll", body: .multipart([.field("id", "7")]))
      }
    }
  }

  @Test(arguments: Kind.allCases)
  private func `requests that are the same to the rules keep their order`(kind: Kind) async throws {
    let matching = CassetteMatching.standard.ignoringBody(at: "/sentAt")
    try await bench.record(over: counting(), matching: matching) { client in
      for number in 1...6 { _ = try await client.send(kind.request(number)) }
    }
    let client = bench.client(try bench.cassette(.replay, matching: matching))
    for number in 1...6 { #expect(try await client.send(kind.request(number + 9)) == "\(number)") }
  }

  @Test func `a part that repeats a credential matches with another credential`() async throws {
    @Sendable func upload(_ client: NetworkClient, key: String) async throws {
      let parts: [MultipartPart] = [.field("note", "sent by \(key)")]
      try await client.send(.post("upload", body: .multipart(parts), headers: ["X-API-Key": key]))
    }
    try await bench.record(over: echo) { try await upload($0, key: "c4nary-key-1") }
    #expect(try bench.text().contains("c4nary") == false)
    try await upload(bench.client(try bench.cassette(.replay)), key: "another-key")
  }

  @Test func `a part that repeats a token of an earlier response matches when the file gives the token`() async throws {
    let mock = MockTransport { request in
      let body = request.url.path().hasSuffix("login") ? #"{"access_token": "c4nary-token-1"}"# : "{}"
      return NetworkResponse(
        request: request, statusCode: 200, headers: ["Content-Type": "application/json"], body: .data(Data(body.utf8)))
    }
    @Sendable func upload(_ client: NetworkClient) async throws {
      let token: String = try await client.send(.post("login").decoding(at: "access_token"))
      let parts: [MultipartPart] = [.field("note", "sent by \(token)")]
      try await client.send(
        .post("upload", body: .multipart(parts), headers: ["Authorization": "Bearer \(token)"]))
    }
    try await bench.record(over: mock) { try await upload($0) }
    let playing = try bench.cassette(.replay)
    try await upload(bench.client(playing))
    try playing.verify()
  }

  @Test func `a secret in the JSON of a part is not compared`() async throws {
    @Sendable func signIn(_ client: NetworkClient, pin: String, user: String = "ann") async throws {
      let parts: [MultipartPart] = [.part("account", .json(["user": user, "password": pin]))]
      try await client.send(.post("login", body: .multipart(parts)))
    }
    try await bench.record(over: echo) { try await signIn($0, pin: "1234") }
    let client = bench.client(try bench.cassette(.replay))
    await #expect(throws: NetworkError.self) { try await signIn(client, pin: "1234", user: "bob") }
    try await signIn(client, pin: "5678")
  }

  @Test func `the order of members does not count in the JSON of a part`() async throws {
    @Sendable func upload(_ client: NetworkClient, _ json: String) async throws {
      let content = RequestContent.data(Data(json.utf8), contentType: "application/json")
      try await client.send(.post("upload", body: .multipart([.part("item", content)])))
    }
    try await bench.record(over: echo) { try await upload($0, #"{"id": 1, "tags": {"a": 1, "b": 2}}"#) }
    let client = bench.client(try bench.cassette(.replay))
    await #expect(throws: NetworkError.self) { try await upload(client, #"{"id": 2, "tags": {"a": 1, "b": 2}}"#) }
    try await upload(client, #"{"tags": {"b": 2, "a": 1}, "id": 1}"#)
  }

  private struct Session: Codable, Sendable {
    let sessionID: UUID

    enum CodingKeys: String, CodingKey { case sessionID = "session_id" }
  }

  @Test func `credentials that are UUIDs match the values of the cassette, and are distinguished`() async throws {
    let count = Locked(0)
    let ids = [UUID(), UUID()]
    let mock = MockTransport { request in
      guard request.url.lastPathComponent == "sessions" else {
        return NetworkResponse(request: request, statusCode: 200, body: .data(request.body?.data ?? Data()))
      }
      let number = count.withLock { count in
        defer { count += 1 }
        return count
      }
      let body = Data(#"{"session_id": "\#(ids[number].uuidString)"}"#.utf8)
      return NetworkResponse(
        request: request, statusCode: 200, headers: ["Content-Type": "application/json"], body: .data(body))
    }
    @Sendable func use(_ client: NetworkClient) async throws -> Bool {
      let first: Session = try await client.send(.post("sessions"))
      let second: Session = try await client.send(.post("sessions"))
      // In another order than they were recorded in, so that they must be told apart.
      for session in [second, first] {
        let same: Session = try await client.send(.put("mark", body: .json(session)))
        guard same.sessionID == session.sessionID else { return false }
        try await client.send(.get("sessions/\(session.sessionID.uuidString)/items"))
      }
      return first.sessionID != second.sessionID
    }
    try await bench.record(over: mock) { client in
      let isRight = try await use(client)
      #expect(isRight)
    }
    let text = try bench.text()
    for id in ids { #expect(!text.contains(id.uuidString)) }
    let playing = try bench.cassette(.replay)
    #expect(try await use(bench.client(playing)))
    try playing.verify()
  }

  @Test func `UUIDs of zeros with a number are distinguished, and sent to a live server`()
    async throws
  {
    func get(_ client: NetworkClient, _ number: Int) async throws {
      try await client.send(.get("items/\("00000000-0000-0000-0000-00000000000\(number)")"))
    }
    try await bench.record(over: echo) { client in
      try await client.send(.get("list"))
      for number in 0..<3 { try await get(client, number) }
    }
    let playing = try bench.cassette(.replay)
    for number in [2, 0, 1] { try await get(bench.client(playing), number) }
    #expect(playing.unused.map(\.url) == ["https://api.example.com/v1/list"])
    try await bench.record(.recordMissing, over: echo) { client in
      try await client.send(.get("list"))
      try await get(client, 7)
    }
    #expect(try bench.text().contains("00000000-0000-0000-0000-000000000007"))
  }

  @Test func `the default port of the other scheme is not ignored`() async throws {
    try await bench.record(over: echo) { client in
      try await client.send(.get("http://api.example.com:443/x"))
      try await client.send(.get("https://api.example.com:443/y"))
    }
    let client = bench.client(try bench.cassette(.replay))
    await #expect(throws: NetworkError.self) { try await client.send(.get("http://api.example.com/x")) }
    try await client.send(.get("https://api.example.com/y"))
  }

  @Test func `a rule of the user may ask the cassette`() async throws {
    try await bench.record(over: echo) { try await $0.send(.post("x", body: .json(Item(id: 1)))) }
    let asked = Locked<CassetteTransport?>(nil)
    let matching = CassetteMatching.standard.body { request in
      _ = asked.withLock { $0 }?.unused
      return try request.json(Item.self).id
    }
    let playing = try bench.cassette(.replay, matching: matching)
    asked.withLock { $0 = playing }
    try await bench.client(playing).send(.post("x", body: .json(Item(id: 1))))
    let error = await #expect(throws: NetworkError.self) {
      try await bench.client(playing).send(.post("x", body: .json(Item(id: 2))))
    }
    #expect(error?.code == .unmatchedRequest)
    asked.withLock { $0 = nil }
    #expect(playing.unused.isEmpty)
  }

  /// Plays a response that takes 20 seconds, and shuts the cassette down while the time stands still.
  private func errorOfShutdown(during response: (MockStub) -> MockStub) async throws -> NetworkError {
    let clock = ManualClock()
    let mock = MockTransport(baseURL: bench.baseURL)
    _ = response(mock.on(.get, "slow"))
    let recording = try bench.cassette(.recordAll, over: mock)
    let live = bench.client(recording, clock: clock.requestClock)
    _ = try await clock.run { try await live.send(Request<String>.get("slow")) }
    await recording.shutdown()
    let playing = try bench.cassette(.replay, pace: .recorded)
    let request = NetworkRequest(url: bench.baseURL.appending(path: "slow"), call: Call(clock: clock.requestClock))
    let sending = Task { try await playing.send(request) }
    await clock.waitForSleepers(1)
    await playing.shutdown()
    return try #require(await #expect(throws: NetworkError.self) { try await sending.value })
  }

  @Test func `a shutdown ends the wait for a response's head`() async throws {
    let error = try await errorOfShutdown { $0.respond(200, text: "late").delayed(by: .seconds(20)) }
    #expect(error.code == .clientShutDown)
  }

  @Test func `a shutdown ends the wait for the body of a buffered response`() async throws {
    let error = try await errorOfShutdown { $0.stream("a", .wait(.seconds(20)), "b") }
    #expect(error.code == .clientShutDown)
  }

  @Test(arguments: [false, true])
  func `a shutdown and a timeout end a request whose body stalls`(endsByTimeout: Bool) async throws {
    try await bench.record(over: echo) { try await $0.send(.get("x")) }
    let playing = try bench.cassette(.replay)
    let error = try await errorOfStalledBody(
      over: playing, to: bench.baseURL, ManualClock(), endsByTimeout: endsByTimeout)
    #expect(error.code == (endsByTimeout ? .timedOut : .clientShutDown))
  }

  @Test func `a body that can be sent once is recorded, and matches again`() async throws {
    @Sendable func upload(_ client: NetworkClient) async throws -> String {
      let stream = ByteStream(chunks: [Data("first ".utf8), Data("second".utf8)])
      return try await client.send(Request<String>.post("up", body: .oneShot(stream, contentType: "text/plain")))
    }
    try await bench.record(over: echo) { client in
      let whole = try await upload(client)
      #expect(whole == "first second")
    }
    #expect(try await upload(bench.client(try bench.cassette(.replay))) == "first second")
  }

  @Test func `each retry takes an entry`() async throws {
    let mock = MockTransport(baseURL: bench.baseURL)
    mock.on(.get, "x").respond(503).respond(200, text: "second")
    let recording = try bench.cassette(.recordAll, over: mock)
    let live = bench.client(recording, [.retry()], clock: .immediate)
    _ = try await live.send(Request<String>.get("x"))
    await recording.shutdown()
    let playing = try bench.cassette(.replay)
    let client = bench.client(playing, [.retry()], clock: .immediate)
    #expect(try await client.send(Request<String>.get("x")) == "second")
    try playing.verify()
  }

  @Test func `the loss of a reused connection is played as such, so that a retry decides as before`() async throws {
    let mock = MockTransport(baseURL: bench.baseURL)
    var lost = NetworkError(.connectionLost, "the server closed the connection")
    lost.progress = NetworkError.Progress(.sent, reusedConnection: true)
    mock.on(.get, "x").fail(lost).respond(503).respond(200, text: "third")
    let once = RetryPolicy(maximumRetries: 1)
    let recording = try bench.cassette(.recordAll, over: mock)
    let live = bench.client(recording, [.retry(once)], clock: .immediate)
    #expect(try await live.send(Request<String>.get("x")) == "third")
    await recording.shutdown()
    let playing = try bench.cassette(.replay)
    let client = bench.client(playing, [.retry(once)], clock: .immediate)
    #expect(try await client.send(Request<String>.get("x")) == "third")
    try playing.verify()
  }

  @Test func `no file remains beside the cassette or in the temporary folder`() async throws {
    let temporary = FileManager.default.temporaryDirectory.path(percentEncoded: false)
    func locks() throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: temporary).count { $0.hasPrefix("cassette-") }
    }
    let before = try locks()
    try await bench.record(over: echo) { try await $0.send(.get("x")) }
    #expect(try locks() == before)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: bench.folder.path(percentEncoded: false)) == ["tape.har"])
  }
}
