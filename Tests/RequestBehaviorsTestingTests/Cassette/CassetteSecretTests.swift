import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// The secrets that a cassette hides, and the playing of the rest.
@Suite(.limited) struct CassetteSecretTests {
  private let bench = CassetteBench()

  @Test func `the attributes of a cookie do not count as secrets`() async throws {
    let mock = MockTransport()
    mock.on(.get).respond(
      200,
      headers: [
        "Set-Cookie": "sid=c4nary-cookie; Domain=example.com; Path=/v1/users; Max-Age=31536000",
        "Content-Type": "application/json",
      ], body: Data(#"{"expires_in": 31536000, "at": "https://api.example.com/v1/users"}"#.utf8))
    try await bench.record(over: mock) { try await $0.send(.get("users")) }
    let text = try bench.text()
    #expect(!text.contains("c4nary"))
    #expect(text.contains("https://api.example.com/v1/users"))
    #expect(text.contains(#"\"expires_in\": 31536000"#))
    try await bench.client(try bench.cassette(.replay)).send(.get("users"))
  }

  @Test(arguments: ["request", "cookie", "event"])
  func `a secret of a response under way is hidden in what was recorded before`(place: String) async throws {
    let events = AsyncThrowingStream<Data, any Error>.makeStream()
    let mock = MockTransport { request in
      guard request.url.lastPathComponent == "feed" else {
        return NetworkResponse(request: request, statusCode: 200, body: .data(Data("the value is c4nary-long".utf8)))
      }
      let json = #"{"access_token": "c4nary-long"}"#
      events.continuation.yield(Data((place == "event" ? json : "{}").utf8))
      return NetworkResponse(
        request: request, statusCode: 200,
        headers: [
          "Set-Cookie": place == "cookie" ? "sid=c4nary-long" : "other=1", "Content-Type": "application/json",
        ], body: .stream(ByteStream(events.stream)))
    }
    let cassette = try bench.cassette(.recordAll, over: mock)
    let client = bench.client(cassette)
    try await client.send(.get("sign-in"))
    let fields: HeaderFields = place == "request" ? ["Authorization": "Bearer c4nary-long"] : [:]
    var feed = try await client.stream(.get("feed", headers: fields)).bytes.makeAsyncIterator()
    _ = try await feed.next()
    try cassette.verify()
    #expect(try bench.text().contains("c4nary") == false)
    events.continuation.finish()
    await cassette.shutdown()
  }

  @Test(arguments: [
    "id_token_hint=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c4nary", "payload=%7B%22token%22%3A%22c4nary-long%22%7D",
    "return_to=https%3A%2F%2Fexample.com%2F%3Faccess_token%3Dc4nary-long",
  ])
  func `a secret within a value of a form or a query is hidden`(pair: String) async throws {
    let type = "application/x-www-form-urlencoded"
    let url = bench.baseURL.appending(path: "out").absoluteString + "?\(pair)"
    let asQuery = try Request<Void>.get(url: #require(URL(string: url)))
    let asForm = Request<Void>.post("out", body: .data(Data("a=1&\(pair)".utf8), contentType: type))
    try await bench.record(over: MockTransport { NetworkResponse(request: $0, statusCode: 204) }) { client in
      try await client.send(asQuery)
      try await client.send(asForm)
    }
    #expect(try bench.text().contains("c4nary") == false)
    let playing = try bench.cassette(.replay)
    try await bench.client(playing).send(asQuery)
    try await bench.client(playing).send(asForm)
    try playing.verify()
  }

  @Test func `a place in broken JSON that a pointer hides is hidden`() throws {
    let rules = PlayableRedaction(Redactor(sensitivePointers: ["/name"]), numbered: false)
    let shown = try #require(rules.body(Data(#"{"a": 1, , "name": "c4nary"}"#.utf8), "application/json"))
    #expect(!String(decoding: shown, as: UTF8.self).contains("c4nary"))
  }

  @Test func `a secret of a request that is played is hidden in what is recorded`() async throws {
    let signed = Request<Void>.get("a", headers: ["Authorization": "Bearer c4nary-long"])
    try await bench.record(over: MockTransport { NetworkResponse(request: $0, statusCode: 200) }) { client in
      try await client.send(signed)
    }
    let mock = MockTransport { request in
      NetworkResponse(request: request, statusCode: 200, body: .data(Data("the value is c4nary-long".utf8)))
    }
    try await bench.record(.recordMissing, over: mock) { client in
      try await client.send(signed)
      try await client.send(.get("b"))
    }
    #expect(mock.sent.count == 1)
    #expect(try bench.text().contains("c4nary") == false)
  }

  @Test func `a secret in the message of a failure is hidden`() async throws {
    let mock = MockTransport { _ in throw NetworkError(.connectionLost, "the proxy refused c4nary-long") }
    try await bench.record(over: mock) { client in
      _ = try? await client.send(Request<Void>.get("a", headers: ["Authorization": "Bearer c4nary-long"]))
    }
    #expect(try bench.text().contains("the proxy refused REDACTED"))
  }

  @Test(arguments: ["application/x-amz-json-1.1", nil, "application/jwt"])
  func `tokens are hidden in bodies of any type`(type: String?) async throws {
    let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c4naryc4naryc4naryc4naryc4naryc4nary"
    let body = type == "application/jwt" ? jwt : #"{"AccessToken": "c4nary-1", "RefreshToken": "c4nary-2", "n": 1}"#
    let mock = MockTransport()
    mock.on().respond(200, headers: type.map { ["Content-Type": $0] } ?? [:], body: Data(body.utf8))
    try await bench.record(over: mock) { try await $0.send(.post("token")) }
    #expect(try bench.text().contains("c4nary") == false)
    let files = try FileManager.default.subpathsOfDirectory(atPath: bench.folder.path(percentEncoded: false))
    #expect(files == ["tape.har"])
    let played = try await bench.client(try bench.cassette(.replay)).send(Request<String>.post("token"))
    #expect(played.contains("REDACTED"))
  }

  @Test(arguments: [
    ("application/json", #"{"name": "José", "password": "c4nary-word"}"#),
    ("application/x-www-form-urlencoded", "name=José&password=c4nary-word"),
    ("text/event-stream", "data: {\"name\": \"José\", \"password\": \"c4nary-word\"}\n\n"),
    ("text/plain; charset=iso-8859-1", "José, password=c4nary-word"), (nil, "José, password=c4nary-word"),
  ])
  func `secrets are hidden in text that is not UTF-8, and its other bytes stay`(
    type: String?, body: String
  ) async throws {
    func request(_ body: String) throws -> Request<Data> {
      let data = try #require(body.data(using: .isoLatin1))
      return .post("x", body: .data(data, contentType: type ?? "application/octet-stream"))
    }
    let mock = MockTransport { request in
      NetworkResponse(
        request: request, statusCode: 200, headers: type.map { ["Content-Type": $0] } ?? [:],
        body: .data(request.body?.data ?? Data()))
    }
    try await bench.record(over: mock) { client in _ = try await client.send(try request(body)) }
    for path in try FileManager.default.subpathsOfDirectory(atPath: bench.folder.path(percentEncoded: false)) {
      guard let data = try? Data(contentsOf: bench.folder.appending(path: path)) else { continue }
      #expect(data.firstRange(of: Data("c4nary".utf8)) == nil, "\(path)")
    }
    let client = bench.client(try bench.cassette(.replay))
    let changed = try request(body.replacing("José", with: "Josè"))
    let error = await #expect(throws: NetworkError.self) { try await client.send(changed) }
    #expect(error?.code == .unmatchedRequest)
    let played = try await client.send(try request(body.replacing("c4nary", with: "another")))
    let text = try #require(String(data: played, encoding: .isoLatin1))
    #expect(text.replacing(/REDACTED(-1)?/, with: "c4nary-word") == body)
  }

  @Test func `JSON Web Tokens are hidden in a path, in queries and in fields, and cursors are not`() async throws {
    let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c4naryc4naryc4nary"
    let cursor = "eyJpZCI6MTAwLCJkaXJlY3Rpb24iOiJuZXh0In0"
    let mock = MockTransport { request in
      NetworkResponse(
        request: request, statusCode: 200,
        headers: [
          "Location": "/verify/\(token)", "Link": "</x?t=\(token)>; rel=next; for=\"\(token)\"",
          "X-Result": "v1:\(token)", "X-Cursor": cursor, "X-Escaped": "https%3A%2F%2Fh%2F%3Ft%3D\(token)",
        ])
    }
    @Sendable func use(_ client: NetworkClient, _ token: String) async throws -> NetworkResponse {
      let next = "https://h/?t=\(token)"
      return try await client.send(
        .get("verify/\(token)/x", query: ["t": .some(token), "next": .some(next), "cursor": .some(cursor)]))
    }
    try await bench.record(over: mock) { client in _ = try await use(client, token) }
    let text = try bench.text()
    #expect(!text.contains("c4nary"))
    #expect(text.contains("cursor=\(cursor)"))
    let playing = try bench.cassette(.replay)
    let played = try await use(bench.client(playing), token.replacing("c4nary", with: "another"))
    #expect(played.headers["X-Result"] == "v1:REDACTED-1")
    #expect(played.headers["X-Cursor"] == cursor)
    try playing.verify()
  }

  /// The fields whose values are URLs, or have one in them, and the value that the file has.
  @Test(arguments: [
    ("https://h.example/x?access_token=c4nary&page=2", "https://h.example/x?access_token=REDACTED-1&page=2"),
    ("/x?page=2&access_token=c4nary", "/x?page=2&access_token=REDACTED-1"),
    ("0;url=https://h.example/x?access_token=c4nary", "0;url=https://h.example/x?access_token=REDACTED-1"),
    ("0; url=/x?access_token=c4nary;", "0; url=/x?access_token=REDACTED-1;"),
    ("/x?then=https://h.example/&access_token=c4nary", "/x?then=https://h.example/&access_token=REDACTED-1"),
    ("a=\"https://me:c4nary@h.example/x\", b=1", "a=\"https://h.example/x\", b=1"),
    ("Bearer realm=\"https://h.example/x?page=1\", scope=\"a b\"", nil), ("W/\"a?b=c\"", nil), ("what? a=b://", nil),
    ("?", nil), ("://;,", nil), ("see https://h.example/a?b=c#part", nil),
    ("https://h.example/a?b=\u{e9}|#\u{e9}", nil),
    ("https://h.example/x?a=b#access_token=c4nary", "https://h.example/x?a=b"),
  ])
  func `the secret items of a URL in any field of a response are hidden`(value: String, shown: String?) async throws {
    let mock = MockTransport { NetworkResponse(request: $0, statusCode: 200, headers: ["X-Next": value]) }
    try await bench.record(over: mock) { try await $0.send(.get("x")) }
    #expect(!(try bench.text().contains("c4nary")))
    let response = try await bench.client(try bench.cassette(.replay)).send(Request<NetworkResponse>.get("x"))
    #expect(response.headers["X-Next"] == shown ?? value)
  }

  @Test func `a JSON Web Token that is the name of a member is hidden, and the body matches again`() async throws {
    let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c4naryc4naryc4nary"
    @Sendable func use(_ client: NetworkClient, _ token: String) async throws -> String {
      try await client.send(.post("x", body: .json([token: ["a": 1]])))
    }
    let mock = MockTransport { request in
      NetworkResponse(
        request: request, statusCode: 200, headers: ["Content-Type": "application/json"],
        body: .data(request.body?.data ?? Data()))
    }
    try await bench.record(over: mock) { client in _ = try await use(client, token) }
    #expect(!(try bench.text().contains("c4nary")))
    let playing = try bench.cassette(.replay)
    let played = try await use(bench.client(playing), token.replacing("c4nary", with: "another"))
    #expect(played == #"{"REDACTED-1":{"a":1}}"#)
    try playing.verify()
  }

  private struct Page: Codable {
    var items: [Int]
    var next: String?
  }

  @Test(arguments: [
    "items?page=2&size=10", "https://api.example.com/v1/items?page=2&size=10&token=c4nary",
    "https://api.example.com/v1/items?cursor=eyJpZCI6MTAwLCJkaXJlY3Rpb24iOiJuZXh0In0%3D",
    "items/eyJpZCI6MTAwLCJkaXJlY3Rpb24iOiJuZXh0In0?page=2",
    "/v1/items?t=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c4naryc4naryc4nary",
  ])
  func `a page that a body links to is played`(next: String) async throws {
    try await checkPages(next, .url { $0.next.flatMap { URL(string: $0) } })
  }

  @Test(arguments: ["2", "eyJpZCI6MTAwLCJkaXJlY3Rpb24iOiJuZXh0In0=", "https://h.example/?a=1&b=c"])
  func `a page whose cursor a body names is played`(cursor: String) async throws {
    try await checkPages(cursor, .cursor("after") { $0.next })
  }

  private struct TokenPage: Codable {
    var items: [Int]
    var nextPageToken: String?
  }

  @Test func `pages whose cursors have the name of a secret are played in their order`() async throws {
    let tokens = ["c4nary-1", "c4nary-2", nil]
    let mock = MockTransport { request in
      let given = URLComponents(url: request.url, resolvingAgainstBaseURL: true)?.queryItems?.first?.value
      let number = given.flatMap { tokens.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
      let page = TokenPage(items: [number], nextPageToken: tokens[number])
      return NetworkResponse(
        request: request, statusCode: 200, headers: ["Content-Type": "application/json"],
        body: .data(try JSONEncoder().encode(page)))
    }
    @Sendable func read(_ client: NetworkClient) async throws -> [Int] {
      let request = Request<TokenPage>.get("items")
      var items: [Int] = []
      for try await page in client.pages(request, following: .cursor("pageToken") { $0.nextPageToken }) {
        items += page.value.items
      }
      return items
    }
    try await bench.record(over: mock) { _ = try await read($0) }
    #expect(!(try bench.text().contains("c4nary")))
    let playing = try bench.cassette(.replay)
    #expect(try await read(bench.client(playing)) == [0, 1, 2])
    try playing.verify()
  }

  private func checkPages(_ next: String, _ rule: NextPage<Page>) async throws {
    let mock = MockTransport { request in
      let page = request.url.query() == nil ? Page(items: [1], next: next) : Page(items: [2], next: nil)
      return NetworkResponse(
        request: request, statusCode: 200, headers: ["Content-Type": "application/json"],
        body: .data(try JSONEncoder().encode(page)))
    }
    @Sendable func read(_ client: NetworkClient) async throws -> [Int] {
      var items: [Int] = []
      for try await page in client.pages(Request<Page>.get("items"), following: rule) { items += page.value.items }
      return items
    }
    try await bench.record(over: mock) { _ = try await read($0) }
    #expect(!(try bench.text().contains("c4nary")))
    let playing = try bench.cassette(.replay)
    #expect(try await read(bench.client(playing)) == [1, 2])
    try playing.verify()
  }

  @Test func `the parts of a form are not written, and the form matches again`() async throws {
    @Sendable func signIn(_ client: NetworkClient) async throws {
      let parts: [MultipartPart] = [.field("password", "c4nary-word"), .field("user", "ann")]
      try await client.send(.post("login", body: .multipart(parts)))
    }
    func record() async throws -> String {
      let mock = MockTransport { NetworkResponse(request: $0, statusCode: 200) }
      try await bench.record(over: mock) { try await signIn($0) }
      return try bench.text()
    }
    let text = try await record()
    #expect(!text.contains("c4nary"))
    // From the hash of the whole form, a short password could be guessed.
    #expect(!text.contains("_sha256"))
    let playing = try bench.cassette(.replay)
    try await signIn(bench.client(playing))
    try playing.verify()
    // The boundary is another one each time.
    #expect(try await record() == text)
  }

  @Test(arguments: [("application/rtf", #"{\rtf1 hello}"#), ("application/toml", "[section]\nname = 1\n")])
  func `a body that only begins like JSON is played as it was`(type: String, body: String) async throws {
    let mock = MockTransport()
    mock.on().respond(200, headers: ["Content-Type": type], body: Data(body.utf8))
    try await bench.record(over: mock) { try await $0.send(.get("file")) }
    #expect(try await bench.client(try bench.cassette(.replay)).send(Request<String>.get("file")) == body)
  }

  @Test func `a secret that a call learns after a save is hidden by the next save`() async throws {
    let mock = MockTransport()
    mock.on().respond(200, jsonText: #"{"note": "c4nary-late"}"#)
    let recording = try bench.cassette(.recordMissing, over: mock)
    let response = try await bench.client(recording).send(Request<NetworkResponse>.get("note"))
    try recording.save()
    response.request.call.addSecret("c4nary-late")
    await recording.shutdown()
    #expect(try bench.text().contains("c4nary") == false)
    let playing = try bench.cassette(.replay)
    try await bench.client(playing).send(.get("note"))
    try playing.verify()
  }

  @Test func `a secret of a changing field that a call learns after a save is hidden by the next save`() async throws {
    let mock = MockTransport()
    mock.on().respond(200, headers: ["X-Request-Id": "c4nary-late"])
    let recording = try bench.cassette(.recordMissing, over: mock)
    let response = try await bench.client(recording).send(Request<NetworkResponse>.get("note"))
    try recording.save()
    #expect(try bench.text().contains("c4nary"))
    response.request.call.addSecret("c4nary-late")
    await recording.shutdown()
    #expect(try bench.text().contains("c4nary") == false)
  }

  @Test func `a server's text with the largest number of a placeholder does no harm to the next save`() async throws {
    func server(_ text: String) -> MockTransport {
      let mock = MockTransport()
      mock.on().respond(200, text: text)
      return mock
    }
    try await bench.record(over: server("REDACTED-\(Int.max)")) { try await $0.send(.get("a")) }
    try await bench.record(.recordMissing, over: server("second")) { client in
      try await client.send(.get("b", headers: ["Authorization": "Bearer c4nary"]))
    }
    #expect(try bench.text().contains("c4nary") == false)
    #expect(try bench.text().contains("second"))
  }

  @Test func `a recorded entry that is like a loaded one is not written again by each save`() async throws {
    @Sendable func same(_ request: NetworkRequest) -> NetworkResponse {
      NetworkResponse(request: request, statusCode: 200)
    }
    let clock = ManualClock().requestClock
    let first = try bench.cassette(.recordAll, over: MockTransport { same($0) })
    try await bench.client(first, clock: clock).send(.get("a"))
    await first.shutdown()
    let recording = try bench.cassette(.recordMissing, over: MockTransport { same($0) })
    let client = bench.client(recording, clock: clock)
    for path in ["a", "a", "b", "c"] {
      try await client.send(.get("\(path)"))
      try recording.save()
    }
    await recording.shutdown()
    let entries = try bench.cassette(.replay).unused.map(\.description)
    #expect(entries.map { $0.split(separator: "/v1/").last } == ["a, 200)", "a, 200)", "b, 200)", "c, 200)"])
  }

  @Test func `a placeholder is not sent to a live server`() async throws {
    let token = MockTransport()
    token.on(.post, "https://api.example.com/v1/token").respond(200, jsonText: #"{"access_token": "c4nary-token"}"#)
    try await bench.record(over: token) { _ = try await $0.send(Request<Token>.post("token")) }
    let before = try bench.text()
    let live = MockTransport { NetworkResponse(request: $0, statusCode: 401) }
    let recording = try bench.cassette(.recordMissing, over: live)
    let client = bench.client(recording)
    let session = try await client.send(Request<Token>.post("token"))
    let error = await #expect(throws: NetworkError.self) {
      try await client.send(.get("me", headers: ["Authorization": "Bearer \(session.accessToken)"]))
    }
    #expect(error?.message.contains("REQUEST_BEHAVIORS_CASSETTES=all") == true)
    #expect(live.sent.isEmpty)
    await recording.shutdown()
    #expect(try bench.text() == before)
  }

  @Test func `a value that the cassette gave matches under another name and in a path`() async throws {
    let mock = MockTransport { request in
      let body = request.method == .post ? #"{"session_id": "9f8e7d6c5b"}"# : "[]"
      return NetworkResponse(
        request: request, statusCode: 200, headers: ["Content-Type": "application/json"], body: .data(Data(body.utf8)))
    }
    @Sendable func use(_ client: NetworkClient) async throws {
      let session: Session = try await client.send(.post("sessions"))
      try await client.send(.get("sessions/\(session.sessionID)/items"))
      try await client.send(.put("mark", body: .json(["id": session.sessionID])))
    }
    try await bench.record(over: mock) { try await use($0) }
    #expect(try bench.text().contains("9f8e7d6c5b") == false)
    let playing = try bench.cassette(.replay)
    try await use(bench.client(playing))
    try playing.verify()
  }

  @Test func `a secret of an earlier request is hidden in later requests and responses`() async throws {
    let mock = MockTransport { NetworkResponse(request: $0, statusCode: 200) }
    @Sendable func use(_ client: NetworkClient) async throws {
      try await client.send(.post("login", body: .form(["password": "d3mo-pass"])))
      try await client.send(.get("hint/\("d3mo-pass")"))
    }
    try await bench.record(over: mock) { try await use($0) }
    #expect(try bench.text().contains("d3mo-pass") == false)
    let playing = try bench.cassette(.replay)
    try await use(bench.client(playing))
    try playing.verify()
  }

  @Test func `a compared field distinguishes requests, even if logs hide it`() async throws {
    let mock = MockTransport { request in
      NetworkResponse(
        request: request, statusCode: 200, body: .data(Data((request.headers["X-Tenant-Id"] ?? "").utf8)))
    }
    func ask(_ client: NetworkClient, _ tenant: String) async throws -> String {
      try await client.send(.get("data", headers: ["X-Tenant-Id": tenant]))
    }
    let matching = CassetteMatching.standard.comparing("X-Tenant-Id")
    try await bench.record(over: mock, matching: matching) { client in
      for tenant in ["red", "blue"] { _ = try await ask(client, tenant) }
    }
    let client = bench.client(try bench.cassette(.replay, matching: matching))
    for tenant in ["blue", "red"] { #expect(try await ask(client, tenant) == tenant) }
  }

  @Test func `a rule of the user compares one value of each body`() async throws {
    let mock = MockTransport { request in
      NetworkResponse(request: request, statusCode: 200, body: .data(Data(try request.json(Query.self).name.utf8)))
    }
    func ask(_ client: NetworkClient, _ name: String, at time: Int) async throws -> String {
      try await client.send(.post("graph", body: .json(Query(name: name, time: time))))
    }
    try await bench.record(over: mock) { client in
      for name in ["users", "teams"] { _ = try await ask(client, name, at: 1) }
    }
    let matching = CassetteMatching.standard.body { try $0.json(Query.self).name }
    let client = bench.client(try bench.cassette(.replay, matching: matching))
    for name in ["teams", "users"] { #expect(try await ask(client, name, at: 2) == name) }
    let error = await #expect(throws: NetworkError.self) { try await ask(client, "roles", at: 2) }
    #expect(error?.message.contains("body: roles now, ") == true)
  }

  private struct Query: Codable, Sendable {
    let name: String
    let time: Int
  }

  private struct Token: Decodable {
    let accessToken: String

    enum CodingKeys: String, CodingKey { case accessToken = "access_token" }
  }

  private struct Session: Decodable {
    let sessionID: String

    enum CodingKeys: String, CodingKey { case sessionID = "session_id" }
  }
}
