import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// The contents of a cassette's file after several saves.
@Suite(.limited) struct CassetteFileTests {
  private let bench = CassetteBench()

  private func mock(_ answer: @escaping @Sendable (NetworkRequest) -> String) -> MockTransport {
    MockTransport { NetworkResponse(request: $0, statusCode: 200, body: .data(Data(answer($0).utf8))) }
  }

  @Test func `a second save keeps the entries of the first`() async throws {
    let mock = mock { $0.url.lastPathComponent }
    let recording = try bench.cassette(.recordAll, over: mock)
    try await bench.client(recording).send(.get("a"))
    try recording.save()
    try await bench.client(recording).send(.get("b"))
    await recording.shutdown()
    let playing = bench.client(try bench.cassette(.replay))
    #expect(try await playing.send(Request<String>.get("a")) == "a")
    #expect(try await playing.send(Request<String>.get("b")) == "b")
  }

  @Test func `a request that is repeated after a save is recorded too`() async throws {
    let count = Locked(0)
    let mock = mock { _ in
      let number = count.withLock { count in
        count += 1
        return count
      }
      return "\(number)"
    }
    let recording = try bench.cassette(.recordMissing, over: mock)
    for _ in 0..<2 {
      try await bench.client(recording).send(.get("poll"))
      try recording.save()
    }
    await recording.shutdown()
    let playing = bench.client(try bench.cassette(.replay))
    for expected in ["1", "2"] { #expect(try await playing.send(Request<String>.get("poll")) == expected) }
  }

  @Test func `entries of another test with the same name in the process stay`() async throws {
    for path: RequestPath in ["a", "b"] {
      try await bench.record(over: mock { $0.url.lastPathComponent }) { try await $0.send(.get(path)) }
    }
    let playing = try bench.cassette(.replay)
    #expect(playing.unused.count == 2)
  }

  @Test func `entries that another process has appended meanwhile stay`() async throws {
    let mock = mock { $0.url.lastPathComponent }
    let recording = try bench.cassette(.recordAll, over: mock)
    try await bench.client(recording).send(.get("a"))
    try recording.save()
    let other = try bench.text().replacing("v1/a\"", with: "v1/z\"")
    try bench.write(other)
    try await bench.client(recording).send(.get("b"))
    await recording.shutdown()
    let playing = try bench.cassette(.replay)
    #expect(Set(playing.unused.map { $0.url.suffix(1) }) == ["a", "b", "z"])
  }

  #if os(Linux) || os(macOS)
    @Test func `processes that record one cassette at the same time keep each other's entries`() async throws {
      let probe = try #require(ChildProcess.fixture("TransportProbe"))
      let folder = bench.folder.path(percentEncoded: false)
      let names = ["a", "b", "c", "d"]
      let results = try await withThrowingTaskGroup(of: String.self) { group in
        for name in names {
          group.addTask {
            // The modes that record are refused where `CI` is set.
            try await ChildProcess(probe, ["cassette", folder, name, "12"], environment: ["CI": ""]).end().text
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(results == Array(repeating: "recorded\n", count: 4))
      let playing = try bench.cassette(.replay)
      var expected: Set<String> = []
      for name in names { for number in 0..<12 { expected.insert("https://api.example.com/\(name)/\(number)") } }
      #expect(playing.unused.count == 48)
      #expect(Set(playing.unused.map(\.url)) == expected)
    }

    @Test func `a process that is killed while it records leaves a whole file`() async throws {
      let probe = try #require(ChildProcess.fixture("TransportProbe"))
      let folder = bench.folder.path(percentEncoded: false)
      for round in 0..<3 {
        let child = try ChildProcess(probe, ["cassette", folder, "k\(round)", "1000"], environment: ["CI": ""])
        while (try? bench.text())?.contains("k\(round)/\(round)\"") != true { await Task.yield() }
        _ = await child.kill(afterLines: 0)
        let playing = try bench.cassette(.replay)
        #expect(playing.unused.count > round)
      }
    }
  #endif

  @Test func `an entry that no request asked for is removed when everything is recorded again`() async throws {
    try bench.write(
      #"""
      {"log": {"version": "1.2", "entries": [
        {"startedDateTime": "2026-11-23T01:14:56Z", "time": 5,
         "request": {"method": "GET", "url": "https://api.example.com/v1/old", "headers": []},
         "response": {"status": 204, "headers": [], "content": {"size": 0, "mimeType": "x-unknown"}}}]}}
      """#)
    try await bench.record(over: mock { _ in "x" }) { try await $0.send(.get("new")) }
    #expect(try bench.text().contains("v1/old") == false)
  }

  @Test func `a response that is still being read is saved by the next save, with its secrets`() async throws {
    let secret = "c4nary-told-late"
    let gate = TestGate()
    let mock = MockTransport { request in
      let (stream, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
      continuation.yield(Data("one \(secret)\n".utf8))
      Task {
        await gate.pass()
        continuation.yield(Data("two\n".utf8))
        continuation.finish()
      }
      return NetworkResponse(
        request: request, statusCode: 200, headers: ["Content-Type": "text/plain"], body: .stream(ByteStream(stream)))
    }
    let recording = try bench.cassette(.recordAll, over: mock)
    let response = try await bench.client(recording).stream(.get("feed"))
    var chunks = response.bytes.makeAsyncIterator()
    _ = try await chunks.next()
    try recording.save()
    #expect(throws: (any Error).self) { try bench.text() }
    response.request.call.addSecret(secret)
    gate.open()
    while try await chunks.next() != nil {}
    await recording.shutdown()
    let text = try bench.text()
    #expect(text.contains("two"))
    #expect(!text.contains("c4nary"))
  }

  @Test func `a send that was cancelled in the middle of its body is not recorded`() async throws {
    let gate = TestGate()
    let mock = MockTransport { request in
      let (stream, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
      continuation.yield(Data("{\"half\":".utf8))
      gate.arrive()
      continuation.onTermination = { _ in }
      return NetworkResponse(request: request, statusCode: 200, body: .stream(ByteStream(stream)))
    }
    let recording = try bench.cassette(.recordAll, over: mock)
    let client = bench.client(recording)
    let sending = Task { try await client.send(Request<String>.get("slow")) }
    await gate.waitForArrivals(1)
    sending.cancel()
    _ = try? await sending.value
    await recording.shutdown()
    let text = (try? bench.text()) ?? ""
    #expect(!text.contains("half"))
  }

  @Test func `reading a stream beyond its recorded part is an error that says so`() async throws {
    let mock = MockTransport()
    mock.on(.get).stream("one", "two", "three")
    try await bench.record(over: mock) { client in
      for try await chunk in try await client.stream(.get("feed")).bytes where chunk == Data("two".utf8) { break }
    }
    var seen = 0
    let client = bench.client(try bench.cassette(.replay))
    let error = await #expect(throws: NetworkError.self) {
      for try await _ in try await client.stream(.get("feed")).bytes { seen += 1 }
    }
    #expect(seen == 2)
    #expect(error?.message.contains("ends here, because its reader left the stream") == true)
  }

  @Test func `a field that is ignored does not change the file`() async throws {
    var texts: Set<String> = []
    for number in 0..<2 {
      let mock = MockTransport()
      mock.on(.get).respond(200, headers: ["X-Served-By": "cache-\(number)", "Content-Type": "text/plain"])
      try await bench.record(over: mock, ignoring: ["x-served-by"]) { try await $0.send(.get("x")) }
      texts.insert(try bench.text())
    }
    #expect(texts.count == 1)
  }

  @Test func `interim responses are played`() async throws {
    let mock = MockTransport { request in
      var response = NetworkResponse(request: request, statusCode: 200)
      response.interimResponses = [
        InterimResponse(statusCode: 103, headers: ["Link": "</style.css>; rel=preload", "X-API-Key": "c4nary-hint"])
      ]
      return response
    }
    try await bench.record(over: mock) { try await $0.send(.get("x")) }
    #expect(try bench.text().contains("c4nary") == false)
    let played = try await bench.client(try bench.cassette(.replay)).send(Request<NetworkResponse>.get("x"))
    #expect(played.interimResponses.map(\.statusCode) == [103])
    #expect(played.interimResponses.first?.headers["Link"] == "</style.css>; rel=preload")
  }

  @Test func `an error keeps the time from which a repeat may succeed`() async throws {
    let mock = MockTransport { request in
      var error = NetworkError(.rateLimited, "wait", request: request)
      error.availableAt = request.call.clock.date().addingTimeInterval(30)
      throw error
    }
    let clock = ManualClock()
    let recording = try bench.cassette(.recordAll, over: mock)
    _ = try? await bench.client(recording, clock: clock.requestClock).send(Request<String>.get("x"))
    await recording.shutdown()
    let later = ManualClock(date: Date(timeIntervalSince1970: 1_800_000_000))
    let client = bench.client(try bench.cassette(.replay), clock: later.requestClock)
    let error = await #expect(throws: NetworkError.self) { try await client.send(Request<String>.get("x")) }
    #expect(error?.availableAt == later.date.addingTimeInterval(30))
  }

  @Test(arguments: ["v1..v2", "..", "sub/tape", "100% é #1?"])
  func `the name of a cassette with large bodies may hold dots and other characters`(name: String) async throws {
    let body = Data((0..<20_000).map { UInt8($0 % 251) })
    let recording = try bench.cassette(
      .recordAll, name: name, over: MockTransport { NetworkResponse(request: $0, statusCode: 200, body: .data(body)) })
    _ = try await bench.client(recording).send(Request<Data>.get("file"))
    await recording.shutdown()
    let playing = try bench.cassette(.replay, name: name)
    #expect(try await bench.client(playing).send(Request<Data>.get("file")) == body)
  }
}
