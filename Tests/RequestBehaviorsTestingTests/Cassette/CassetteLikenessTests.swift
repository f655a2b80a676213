import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

/// Requests with values that are credentials, look like ones, or are named like ones.
@Suite(.limited) struct CassetteLikenessTests {
  private let bench = CassetteBench()
  /// A server that returns the body of a request.
  private let echo = MockTransport { request in
    NetworkResponse(request: request, statusCode: 200, body: .data(request.body?.data ?? Data()))
  }

  /// A server that counts its requests.
  private var counting: MockTransport {
    let counter = Counter()
    return MockTransport { request in
      NetworkResponse(request: request, statusCode: 200, body: .data(Data("\(counter.next())".utf8)))
    }
  }

  @Test(arguments: [
    ("state", "open", "closed", "all"), ("code", "DE", "AT", "CH"), ("key", "ABC-1", "ABC-2", "ABC-3"),
  ])
  func `query items with the name of a sign-in item distinguish requests`(
    name: String, first: String, second: String, other: String
  ) async throws {
    let mock = MockTransport { request in
      NetworkResponse(
        request: request, statusCode: 200, body: .data(Data((request.url.query(percentEncoded: false) ?? "").utf8)))
    }
    try await bench.record(over: mock) { client in
      for value in [first, second] { try await client.send(.get("issues", query: [name: value])) }
    }
    let playing = try bench.cassette(.replay)
    let client = bench.client(playing)
    for value in [second, first] {
      #expect(try await client.send(Request<String>.get("issues", query: [name: value])) == "\(name)=\(value)")
    }
    try playing.verify()
    let error = await #expect(throws: NetworkError.self) {
      try await client.send(.get("issues", query: [name: other]))
    }
    #expect(error?.code == .unmatchedRequest)
  }

  @Test(arguments: ["state", "code", "key"])
  func `a placeholder of such an item matches any value`(name: String) async throws {
    try await bench.record(over: counting) { client in
      for value in ["4f3c2b1a09", "5e6d7c8b9a"] { try await client.send(.get("issues", query: [name: value])) }
    }
    let text = try bench.text()
    #expect(text.contains("issues?\(name)=REDACTED-1"))
    #expect(!text.contains("4f3c2b1a09"))
    let client = bench.client(try bench.cassette(.replay))
    for (value, number) in [("closed", "1"), ("open", "2")] {
      #expect(try await client.send(Request<String>.get("issues", query: [name: value])) == number)
    }
  }

  @Test func `the code and the state of a sign-in are hidden, also if they look like words`() async throws {
    @Sendable func finish(_ client: NetworkClient, code: String, state: String) async throws {
      try await client.send(.get("callback", query: ["code": code, "state": state]))
    }
    try await bench.record(over: echo) { try await finish($0, code: "canary", state: "canary") }
    #expect(try bench.text().contains("canary") == false)
    try await finish(bench.client(try bench.cassette(.replay)), code: "any", state: "other")
  }

  @Test func `a key of letters alone is hidden`() async throws {
    let key = "abcdefghijklmnopqrstuvwxyzcanary"
    try await bench.record(over: echo) { try await $0.send(.get("maps", query: ["key": key])) }
    #expect(try bench.text().contains("canary") == false)
    try await bench.client(try bench.cassette(.replay)).send(.get("maps", query: ["key": "mine"]))
  }

  @Test func `a credential of a test may be a word of its URLs and bodies`() async throws {
    @Sendable func ask(_ client: NetworkClient, _ token: String, title: String = "a test") async throws -> String {
      try await client.send(
        Request<String>.post(
          "repos/test-repo/issues", body: .json(["title": title]), headers: ["Authorization": "Bearer \(token)"]))
    }
    try await bench.record(over: echo) { _ = try await ask($0, "c4nary-token-1") }
    #expect(try bench.text().contains("c4nary") == false)
    let playing = try bench.cassette(.replay)
    let client = bench.client(playing)
    #expect(try await ask(client, "test").contains("a test"))
    try playing.verify()
    let error = await #expect(throws: NetworkError.self) { try await ask(client, "test", title: "another test") }
    #expect(error?.message.contains(#"body, /title: "another REDACTED" now, "a REDACTED" recorded"#) == true)
  }

  @Test(arguments: [#"{"n": 1,}"#, "no JSON", "12:", "[1 2]", "[tru]", #"{"a" "b"}"#, "<5 bytes that are not JSON>"])
  func `a request whose JSON is broken matches again`(body: String) async throws {
    let request = Request<Void>.post("items", body: .data(Data(body.utf8), contentType: "application/json"))
    try await bench.record(over: echo) { try await $0.send(request) }
    let playing = try bench.cassette(.replay)
    try await bench.client(playing).send(request)
    try playing.verify()
  }

  @Test(arguments: [HeaderFields(), ["Content-Encoding": "gzip"]])
  func `a request whose JSON is broken or compressed does not match one of the same length`(
    fields: HeaderFields
  ) async throws {
    func request(_ amount: Int) -> Request<Void> {
      let body = Data(#"{"amount": \#(amount), "to": "alice",}"#.utf8)
      return .post("items", body: .data(body, contentType: "application/json"), headers: fields)
    }
    try await bench.record(over: echo) { try await $0.send(request(10)) }
    let client = bench.client(try bench.cassette(.replay))
    let error = await #expect(throws: NetworkError.self) { try await client.send(request(90)) }
    #expect(error?.code == .unmatchedRequest)
    try await client.send(request(10))
  }

  @Test func `a response that is not quite JSON is played as it was, without its secrets`() async throws {
    let body = ")]}'\n{\"name\": \"Ada\", \"password\": \"c4nary-word\"}"
    let mock = MockTransport { request in
      NetworkResponse(
        request: request, statusCode: 200, headers: ["Content-Type": "application/json"], body: .data(Data(body.utf8)))
    }
    try await bench.record(over: mock) { try await $0.send(.get("me")) }
    #expect(try bench.text().contains("c4nary") == false)
    let played = try await bench.client(try bench.cassette(.replay)).send(Request<Data>.get("me"))
    #expect(String(decoding: played, as: UTF8.self) == body.replacing("c4nary-word", with: "REDACTED-1"))
  }

  @Test func `JSON behind a byte order mark is played as it was, without its secrets`() async throws {
    let body = "\u{FEFF}{\"name\": \"Ada\", \"password\": \"c4nary-word\"}"
    let mock = MockTransport { request in
      NetworkResponse(
        request: request, statusCode: 200, headers: ["Content-Type": "application/json"], body: .data(Data(body.utf8)))
    }
    try await bench.record(over: mock) { try await $0.send(.get("me")) }
    let file = try bench.text()
    #expect(!file.contains("c4nary"))
    let played = try await bench.client(try bench.cassette(.replay)).send(Request<Data>.get("me"))
    #expect(played == Data(body.replacing("c4nary-word", with: "REDACTED-1").utf8))
  }

  enum Before: CaseIterable { case path, query, json, form, text }

  @Test(arguments: Before.allCases)
  func `a value matches that only a later request shows to be a credential`(before: Before) async throws {
    @Sendable func change(_ client: NetworkClient, _ value: String) async throws -> String {
      switch before {
      case .path: try await client.send(.put("me/\(value)/new"))
      case .query: try await client.send(.put("me", query: ["new": value, "a": "b"]))
      case .json: try await client.send(.put("me", body: .json(["new": value, "a": "b"])))
      case .form: try await client.send(.put("me", body: .form(["new": value, "a": "b"])))
      case .text: try await client.send(.put("me", body: .text("it is \(value) now")))
      }
    }
    @Sendable func changeAndUse(_ client: NetworkClient, _ value: String) async throws -> [String] {
      let changed = try await change(client, value)
      return [changed, try await client.send(.get("me", headers: ["Authorization": "Bearer \(value)"]))]
    }
    try await bench.record(over: counting) { _ = try await changeAndUse($0, "c4nary-of-then") }
    let file = try bench.text()
    #expect(!file.contains("c4nary"))
    let playing = try bench.cassette(.replay)
    #expect(try await changeAndUse(bench.client(playing), "c4nary-of-now") == ["1", "2"])
    try playing.verify()
    let other = await #expect(throws: NetworkError.self) {
      try await bench.client(try bench.cassette(.replay)).send(.put("me", body: .json(["old": "x", "a": "b"])))
    }
    #expect(other?.code == .unmatchedRequest)
  }
}
