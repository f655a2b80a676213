import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// The records of a client's calls.
@Suite(.limited) struct CallRecorderTests {
  private let clock = ManualClock()
  private let mock = MockTransport()
  private let recorder = CallRecorder()

  private func client(_ behaviors: any RequestBehavior...) -> NetworkClient {
    client(behaviors)
  }

  private func client(_ behaviors: [any RequestBehavior]) -> NetworkClient {
    var configuration = RequestConfiguration(baseURL: mock.baseURL, behaviors: [.recording(recorder)] + behaviors)
    configuration.clock = clock.requestClock
    return NetworkClient(configuration: configuration, transport: mock)
  }

  @Test func `a retry is two sends and a wait with its length and reason`() async throws {
    mock.on(.get, "x").respond(503).respond(text: "fine")
    let call = Task { try await client(.retry()).send(Request<String>.get("x")) }
    await clock.waitForSleepers(1)
    let underWay = try #require(recorder.recording.calls.first)
    #expect(underWay.outcome == .underWay)
    #expect(underWay.endedAt == nil)
    clock.advance(by: .seconds(5))
    #expect(try await call.value == "fine")
    let recorded = try #require(recorder.recording.calls.first)
    #expect(recorder.recording.calls.count == 1)
    #expect(recorded.outcome == .response(statusCode: 200))
    #expect(recorded.sends.map(\.outcome).first == .response(statusCode: 503, bytes: 0))
    #expect(recorded.sends.map(\.number) == [1, 2])
    #expect(recorded.endedAt == .seconds(5))
    let wait = try #require(recorded.decisions.first { $0.kind == .retry })
    #expect(wait.duration == .seconds(5))
    #expect(wait.message.contains("because of 503"))
  }

  @Test func `the recorded fields are those that the transport received and returned`() async throws {
    mock.on(.get, "x").respond(text: "fine", headers: ["ETag": "\"1\"", "X-Inner": "abcdefgh"])
    _ = try await client(.headers(["Accept-Language": "de"])).send(Request<String>.get("x"))
    let send = try #require(recorder.recording.calls.first?.sends.first)
    #expect(send.requestHeaders["Accept-Language"] == "de")
    #expect(send.responseHeaders["ETag"] == "\"1\"")
    #expect(send.responseHeaders["X-Inner"] == "REDACTED")
    #expect(send.responseBody == nil)
  }

  @Test func `each caller of a flight is recorded once, and the send belongs to the first`() async throws {
    let gate = Gate(isOpen: false)
    mock.on(.get, "x").respond(text: "fine")
    let client = client(.coalescing(), .gate(gate))
    let calls = (0..<3).map { _ in Task { try await client.send(Request<String>.get("x")) } }
    while recorder.recording.calls.count < 3 { await Task.yield() }
    while recorder.recording.calls.flatMap(\.decisions).count(where: { $0.kind == .coalescing }) < 2 {
      await Task.yield()
    }
    gate.open()
    for call in calls { #expect(try await call.value == "fine") }
    let recorded = recorder.recording.calls
    #expect(recorded.count == 3)
    #expect(recorded.map(\.sends.count).sorted() == [0, 0, 1])
    #expect(recorded.count { $0.source == .coalesced } == 2)
    #expect(recorded.allSatisfy { $0.purpose == .request })
    // The wait of the flight at the gate is recorded with the call that began it.
    #expect(recorded.first { $0.sends.count == 1 }?.decisions.contains { $0.message == "held" } == true)
  }

  @Test func `a token request is a call of its own, made for the one that waits`() async throws {
    mock.on(.post, "token").respond(text: "first-token")
    mock.on(.get, "me").respond(text: "ann")
    let session = TokenSession(
      source: .closure { client in AccessToken(try await client.send(Request<String>.post("token"))) })
    _ = try await client(.tokenAuth(session)).send(Request<String>.get("me"))
    let calls = recorder.recording.calls
    let me = try #require(calls.first { $0.endpoint == "me" })
    let token = try #require(calls.first { $0.endpoint == "token" })
    #expect(token.purpose == .prerequisite)
    #expect(token.parent == me.number)
    #expect(me.decisions.contains { $0.message == "waits for a token" })
    #expect(me.sends.first?.requestHeaders["Authorization"] == "REDACTED")
  }

  @Test func `a refused call has no send, and has the error's code`() async throws {
    let gate = Gate(isOpen: false, queueLimit: 0)
    await #expect(throws: NetworkError.self) { try await client(.gate(gate)).send(.get("x")) }
    let call = try #require(recorder.recording.calls.first)
    #expect(call.sends.isEmpty)
    guard case .failure(let code, _) = call.outcome else {
      Issue.record("the outcome is \(call.outcome)")
      return
    }
    #expect(code == "gateClosed")
  }

  @Test func `a call that cannot be built is kept as failed`() async throws {
    let client = NetworkClient(
      configuration: RequestConfiguration(behaviors: [.recording(recorder)]), transport: mock)
    await #expect(throws: NetworkError.self) { try await client.send(.get("no-base-url")) }
    #expect(recorder.recording.calls.first?.sends.isEmpty == true)
  }

  @Test func `a stream has its chunks with their times, also when it is not read to its end`() async throws {
    mock.on(.get, "feed").stream("one", .wait(.seconds(2)), "three", .wait(.seconds(4)), "rest")
    let client = client()
    let reading = Task {
      var read: [Data] = []
      for try await chunk in try await client.stream(.get("feed")).bytes {
        read.append(chunk)
        if read.count == 2 { break }
      }
      return read.count
    }
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(2))
    #expect(try await reading.value == 2)
    while recorder.recording.calls.first?.endedAt == nil { await Task.yield() }
    let call = try #require(recorder.recording.calls.first)
    let chunks = try #require(call.sends.first?.chunks)
    #expect(chunks.map(\.bytes) == [3, 5])
    #expect(chunks.map(\.at) == [.zero, .seconds(2)])
    #expect(call.sends.first?.outcome == .cancelled)
  }

  @Test func `with bodies the beginning is kept and redacted`() async throws {
    let recorder = CallRecorder(bodies: .upTo(40))
    mock.on(.post, "login").respond(jsonText: #"{"name": "ann", "password": "hunter2x"}"#)
    let client = NetworkClient(baseURL: mock.baseURL, behaviors: [.recording(recorder)], transport: mock)
    _ = try await client.send(
      Request<Data>.post("login", body: .form(["user": "ann", "password": "hunter2x"])))
    let send = try #require(recorder.recording.calls.first?.sends.first)
    #expect(send.requestBody == "user=ann&password=REDACTED")
    #expect(send.responseBody?.hasPrefix(#"{"name": "ann", "password": "REDACTED"}"#) == true)
    #expect(send.requestBytes == 26)
  }

  @Test func `beyond its limits the oldest calls are dropped whole and counted`() async throws {
    let recorder = CallRecorder(limits: RecordingLimits(calls: 3))
    mock.on(.get, "*").respond(text: "fine")
    let client = NetworkClient(baseURL: mock.baseURL, behaviors: [.recording(recorder)], transport: mock)
    for number in 1...5 { _ = try await client.send(Request<String>.get("\(number)")) }
    #expect(recorder.recording.calls.map(\.sends.count) == [1, 1, 1])
    #expect(recorder.recording.droppedCalls == 2)
    recorder.clear()
    #expect(recorder.recording.calls.isEmpty)
  }

  @Test func `its size stays within the limit however many calls there are`() async throws {
    let recorder = CallRecorder(limits: RecordingLimits(calls: .max, bytes: 100_000))
    let transport = ClosureTransport()
    let client = NetworkClient(transport, [.recording(recorder)])
    for number in 0..<2_000 { try await client.send(.get("\(number)")) }
    let kept = recorder.recording.calls.count
    #expect(kept > 20)
    #expect(kept < 100)
    #expect(recorder.recording.droppedCalls == 2_000 - kept)
  }

  @Test(arguments: ["error", "foreign error", "URL"])
  func `long texts of errors and long URLs count towards the size`(part: String) async throws {
    let recorder = CallRecorder(limits: RecordingLimits(calls: .max, bytes: 100_000))
    let text = String(repeating: "x", count: 5_000)
    let transport = ClosureTransport { request in
      if part == "error" { throw NetworkError(.cannotConnect, text, request: request) }
      if part == "foreign error" { throw Talkative(description: text) }
      return NetworkResponse(request: request, statusCode: 200)
    }
    let client = NetworkClient(transport, [.recording(recorder)])
    for _ in 0..<50 { try? await client.send(.get("x", query: ["q": part == "URL" ? text : nil])) }
    // Each is kept twice at least: by the call and by its send.
    #expect((1...10).contains(recorder.recording.calls.count))
  }

  private struct Talkative: Error, CustomStringConvertible { let description: String }

  @Test func `beyond a thousand chunks the size and the beginning of a body are right`() async throws {
    let recorder = CallRecorder(bodies: .upTo(4_000))
    let transport = ClosureTransport { request in
      let chunks = (0..<1_500).map { _ in Data("ab".utf8) }
      let (stream, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
      for chunk in chunks { continuation.yield(chunk) }
      continuation.finish(throwing: NetworkError(.connectionLost, "cut off", request: request))
      return NetworkResponse(
        request: request, statusCode: 200, headers: ["Content-Type": "text/plain"], body: .stream(ByteStream(stream)))
    }
    let client = NetworkClient(transport, [.recording(recorder)])
    let response = try await client.stream(.get("feed"))
    await #expect(throws: NetworkError.self) { for try await _ in response.bytes {} }
    let recording = recorder.recording
    let send = try #require(recording.calls.first?.sends.first)
    #expect(send.chunks.count == 1_000)
    #expect(send.chunks.reduce(0) { $0 + $1.bytes } == 3_000)
    #expect(send.responseBody == String(repeating: "ab", count: 1_500))
    #expect(String(decoding: recording.har(), as: UTF8.self).contains(#""size": 3000"#))
  }

  @Test func `calls that end after clear() are not kept`() async throws {
    mock.on(.get, "x").respond(text: "fine").delayed(by: .seconds(1))
    let call = Task { try await client().send(Request<String>.get("x")) }
    await clock.waitForSleepers(1)
    recorder.clear()
    clock.advance(by: .seconds(1))
    _ = try await call.value
    #expect(recorder.recording.calls.isEmpty)
  }

  @Test func `a recorder keeps neither a request nor a body alive`() async throws {
    let client = NetworkClient(baseURL: baseURL, behaviors: [.recording(recorder)], transport: Forgetful())
    weak var call: Call?
    do {
      let response = try await client.send(Request<NetworkResponse>.get("x"))
      call = response.request.call
    }
    #expect(call == nil)
    #expect(recorder.recording.calls.count == 1)
  }

  @Test func `ten thousand concurrent calls are not mixed up`() async throws {
    let recorder = CallRecorder(limits: RecordingLimits(calls: 20_000, bytes: .max))
    let transport = ClosureTransport { request in
      NetworkResponse(request: request, statusCode: 200, headers: ["ETag": request.url.lastPathComponent])
    }
    let client = NetworkClient(transport, [.recording(recorder)])
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<10_000 { group.addTask { try await client.send(.get("\(number)")) } }
      try await group.waitForAll()
    }
    let calls = recorder.recording.calls
    #expect(calls.count == 10_000)
    let matches = calls.count { call in
      call.sends.count == 1 && call.url.hasSuffix("/" + (call.sends.first?.responseHeaders["ETag"] ?? "-"))
    }
    #expect(matches == 10_000)
  }
}

/// A transport that does not keep requests.
private struct Forgetful: Transport {
  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    NetworkResponse(request: request, statusCode: 200)
  }

  func shutdown() async {}
}
