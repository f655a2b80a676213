import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Files that are cut off, merged or edited, and bodies that are no text.
@Suite(.limited) struct CassetteDamageTests {
  private let bench = CassetteBench()

  private static func file(extras: String = "{}") -> String {
    #"""
    {"log": {"version": "1.2", "entries": [
      {"startedDateTime": "2026-11-23T01:14:56Z", "time": 5,
       "request": {"method": "GET", "url": "https://api.example.com/v1/x", "headers": []},
       "response": {"status": 200, "headers": [],
         "content": {"size": 5, "mimeType": "text/plain", "text": "hello"}},
       "_requestBehaviors": \#(extras)}]}}
    """#
  }

  private var play: Request<String> { .get("x") }

  @Test func `a file that is cut off anywhere is refused with its name and the place`() throws {
    let whole = Self.file()
    let last = whole.lastIndex(of: "}") ?? whole.endIndex
    for length in 0..<whole.distance(from: whole.startIndex, to: last) {
      try bench.write(String(whole.prefix(length)))
      let error = #expect(throws: CassetteError.self) { try self.bench.cassette(.replay) }
      #expect(error?.description.hasPrefix("tape.har cannot be read: byte ") == true)
    }
  }

  @Test(arguments: [CassetteMode.replay, .recordMissing, .recordAll])
  func `a file with a merge conflict is refused with a message, and is not changed`(mode: CassetteMode) throws {
    let conflict = Self.file().replacing("{\"startedDateTime\"", with: "<<<<<<< HEAD\n=======\n{\"startedDateTime\"")
    try bench.write(conflict)
    let error = #expect(throws: CassetteError.self) { try self.bench.cassette(mode) }
    let text = "tape.har cannot be read: a merge left its marks in it; restore it, or remove it and record it again"
    #expect(error?.description == text)
    #expect(try bench.text() == conflict)
  }

  @Test(arguments: [("text/plain", "longer than what is kept"), ("image/png", "\u{1}"), ("text/plain", "short")])
  func `of an archive of a recorder, only the entries with their whole bodies are played`(type: String, body: String)
    async throws
  {
    let mock = MockTransport { request in
      NetworkResponse(
        request: request, statusCode: 200, headers: ["Content-Type": type, "Cache-Control": "max-age=60"],
        body: .data(Data(body.utf8)))
    }
    let recorder = CallRecorder(bodies: .upTo(10))
    let client = bench.client(mock, [.recording(recorder), .caching(MemoryCacheStore())])
    // The second response is a hit, of which the archive has no body.
    for _ in 1...2 { try await client.send(.get("x")) }
    try bench.write(String(decoding: recorder.recording.har(), as: UTF8.self))
    let playing = bench.client(try bench.cassette(.replay))
    for isHit in [false, true] {
      if !isHit, body == "short" {
        #expect(try await playing.send(play) == body)
      } else {
        let error = await #expect(throws: NetworkError.self) { try await playing.send(play) }
        #expect(error?.message.contains("CallRecorder") == true)
      }
    }
  }

  @Test func `a file that breaks while it is recorded is not replaced`() async throws {
    let mock = MockTransport { NetworkResponse(request: $0, statusCode: 200) }
    let recording = try bench.cassette(.recordMissing, over: mock)
    try await bench.client(recording).send(.get("new"))
    try bench.write("{")
    #expect(throws: CassetteError.self) { try recording.save() }
    #expect(try bench.text() == "{")
    try bench.write(Self.file())
    await recording.shutdown()
    #expect(try bench.cassette(.replay).unused.map(\.url.last) == ["x", "w"])
  }

  @Test(arguments: [
    #"[[1]]"#, #"["soon"]"#, #"[[1, 2], [2, 999999999999999], [3, 4]]"#, #"[[1e300, 5]]"#, #"[[-1e300, -7]]"#, "7",
    #"[[1, 2]]"#,
  ])
  func `a body is whole whatever the table of its chunks holds`(table: String) async throws {
    try bench.write(Self.file(extras: #"{"chunks": \#(table)}"#))
    let client = bench.client(try bench.cassette(.replay))
    #expect(try await client.send(play) == "hello")
  }

  @Test(arguments: ["[[]]", "[7]", "[[1, 2, 3]]", "7"])
  func `an entry is recorded again whatever the table of its chunks contains`(table: String) async throws {
    func record(_ text: String) async throws {
      let mock = MockTransport { NetworkResponse(request: $0, statusCode: 200, body: .data(Data(text.utf8))) }
      try await bench.record(over: mock) { client in _ = try await client.send(play) }
    }
    try await record("hello")
    let recorded = try bench.text()
    let damaged = recorded.replacing(/"chunks": \[\s*\[[^\]]*\]\s*\]/, with: #""chunks": \#(table)"#)
    #expect(damaged != recorded)
    try bench.write(damaged)
    try await record("other")
    #expect(try await bench.client(try bench.cassette(.replay)).send(play) == "other")
  }

  @Test(arguments: [1e300, .infinity, .nan, -1, 0])
  func `any pace is accepted`(factor: Double) async throws {
    try bench.write(Self.file(extras: #"{"head": 1, "chunks": [[1, 2], [1e300, 3]]}"#))
    let client = bench.client(try bench.cassette(.replay, pace: .scaled(factor)), clock: .immediate)
    #expect(try await client.send(play) == "hello")
  }

  @Test func `a pace that takes for ever ends with the request's timeout`() async throws {
    try bench.write(Self.file(extras: #"{"head": 1, "chunks": [[1, 5]]}"#))
    let client = bench.client(try bench.cassette(.replay, pace: .scaled(1e-300)), clock: .immediate)
    let error = await #expect(throws: NetworkError.self) { try await client.send(play) }
    #expect(error?.code == .timedOut)
  }

  @Test(arguments: ["/etc/hostname", "../tape.har", "tape.bodies/../tape.har", "", "."])
  func `a body file outside the cassette's folder is not read`(path: String) async throws {
    let file = Self.file().replacing(#""text": "hello""#, with: #""_file": "\#(path)""#)
    try bench.write(file)
    let client = bench.client(try bench.cassette(.replay))
    let error = await #expect(throws: NetworkError.self) { try await client.send(play) }
    #expect(error?.message.contains("beside the cassette") == true)
  }

  @Test func `an entry that cannot be played is reported although the code under test goes on`() async throws {
    try bench.write(Self.file().replacing(#""text": "hello""#, with: #""_file": "tape.bodies/1""#))
    let playing = try bench.cassette(.replay)
    _ = try? await bench.client(playing).send(play)
    let error = #expect(throws: CassetteError.self) { try playing.verify() }
    #expect(error?.description.contains("tape.bodies/1") == true)
  }

  @Test func `a hidden field of an older file matches no value that is compared`() async throws {
    let request =
      #""method": "POST", "url": "https://api.example.com/v1/x", "headers": "#
      + #"[{"name": "X-Tenant", "value": "REDACTED-3"}], "postData": {"mimeType": "application/json", "#
      + #""text": "{\"password\":\"REDACTED-1\"}"}"#
    let get = #""method": "GET", "url": "https://api.example.com/v1/x", "headers": []"#
    try bench.write(Self.file().replacing(get, with: request))
    let client = bench.client(try bench.cassette(.replay, matching: .standard.comparing("X-Tenant")))
    let error = await #expect(throws: NetworkError.self) {
      try await client.send(.post("x", body: .json(["password": "c4nary"]), headers: ["X-Tenant": "b"]))
    }
    #expect(error?.code == .unmatchedRequest)
  }

  @Test(arguments: [
    ("text/plain; charset=iso-8859-1", [0xE9, 0x74, 0xE9]), ("text/plain", [0xFF, 0xFE, 0x68, 0x00]),
    ("application/json", [0x5B, 0x22, 0xC3, 0x28, 0x22, 0x5D]), ("text/event-stream", [0x64, 0x61, 0x80, 0x0A]),
    ("image/png", [0x89, 0x50, 0x00]),
  ])
  func `bytes that are not UTF-8 are played unchanged, and matched`(type: String, bytes: [UInt8]) async throws {
    let body = Data(bytes)
    let mock = MockTransport { request in
      NetworkResponse(
        request: request, statusCode: 200, headers: ["Content-Type": type],
        body: .data(request.body?.data ?? Data()))
    }
    let requests = [body, body + body].map { Request<Data>.post("x", body: .data($0, contentType: type)) }
    try await bench.record(over: mock) { client in for request in requests { _ = try await client.send(request) } }
    let playing = try bench.cassette(.replay)
    let client = bench.client(playing)
    #expect(try await client.send(requests[1]) == body + body)
    #expect(try await client.send(requests[0]) == body)
    try playing.verify()
  }
}
