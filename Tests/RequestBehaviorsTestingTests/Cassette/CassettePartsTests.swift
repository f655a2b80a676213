import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// A cassette beside the other parts of a client: downloads, uploads, hedging, retries, redirects and sign-outs.
@Suite(.limited) struct CassettePartsTests {
  private let bench = CassetteBench()
  private let large = Data(String(repeating: "a line of a file\n", count: 4_000).utf8)

  private func folder() throws -> URL {
    let folder = bench.folder.appending(path: "files", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  @Test func `a download that breaks off and resumes is played as recorded`() async throws {
    let file = try folder().appending(path: "export.txt")
    let large = large
    let mock = MockTransport { request in
      let isRest = request.headers.contains("Range")
      let cut: (any Error)? = isRest ? nil : NetworkError(.connectionLost, "cut off", request: request)
      let (stream, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
      continuation.yield(isRest ? large.dropFirst(30_000) : large.prefix(30_000))
      continuation.finish(throwing: cut)
      let range = "bytes 30000-\(large.count - 1)/\(large.count)"
      return NetworkResponse(
        request: request, statusCode: isRest ? 206 : 200,
        headers: isRest ? ["ETag": "\"1\"", "Content-Range": range] : ["ETag": "\"1\""],
        body: .stream(ByteStream(stream)))
    }
    let recording = try bench.cassette(.recordAll, over: mock)
    let live = bench.client(recording, [.retry()], clock: .immediate)
    try await live.download(.get("export"), to: file)
    await recording.shutdown()
    #expect(try Data(contentsOf: file) == large)
    try FileManager.default.removeItem(at: file)

    let playing = try bench.cassette(.replay)
    let client = bench.client(playing, [.retry()], clock: .immediate)
    let response = try await client.download(.get("export"), to: file)
    #expect(response.attempts.count == 2)
    #expect(try Data(contentsOf: file) == large)
    try playing.verify()
  }

  @Test func `an upload from a file matches by its content`() async throws {
    let file = try folder().appending(path: "import.txt")
    try large.write(to: file)
    let request = Request<String>.post("import", body: .file(file, contentType: "text/plain"))
    let mock = MockTransport { request in
      NetworkResponse(request: request, statusCode: 200, body: .data(Data("\(request.body?.length ?? -1)".utf8)))
    }
    try await bench.record(over: mock) { client in
      let length = try await client.send(request)
      #expect(length == "68000")
    }
    let client = bench.client(try bench.cassette(.replay, matching: .standard.repeatingLast()))
    #expect(try await client.send(request) == "68000")
    try Data("another file".utf8).write(to: file)
    let changed = Request<String>.post("import", body: .file(file, contentType: "text/plain"))
    let error = await #expect(throws: NetworkError.self) { try await client.send(changed) }
    #expect(error?.message.contains("body: \"another file\" now, ") == true)
  }

  @Test func `of the two sends of a hedged call the successful one is played`() async throws {
    let count = Locked(0)
    let mock = MockTransport { request in
      let number = count.withLock { count in
        count += 1
        return count
      }
      // The first one is slower than the second, which the hedging begins.
      if number == 1 { try await request.call.clock.sleep(for: .seconds(60)) }
      return NetworkResponse(request: request, statusCode: 200, body: .data(Data("send \(number)".utf8)))
    }
    let hedging = HedgingBehavior.hedging(after: .seconds(1), budget: .unlimited)
    let clock = ManualClock()
    let recording = try bench.cassette(.recordAll, over: mock)
    let live = bench.client(recording, [hedging], clock: clock.requestClock)
    let first = try await clock.run { try await live.send(Request<String>.get("x")) }
    await recording.shutdown()
    #expect(first == "send 2")
    for pace in [ReplayPace.immediate, .recorded] {
      let playing = try bench.cassette(.replay, pace: pace)
      let clock = ManualClock(date: playing.recordedAt)
      let client = bench.client(playing, [hedging], clock: clock.requestClock)
      let played = try await clock.run { try await client.send(Request<String>.get("x")) }
      #expect(played == "send 2")
      try playing.verify()
    }
  }

  @Test func `a redirect to another origin is played without the credential, as it was sent`() async throws {
    let mock = MockTransport { request in
      if request.url.host() == "api.example.com" {
        return NetworkResponse(
          request: request, statusCode: 307, headers: ["Location": "https://files.example.net/x?sig=c4nary-signature"])
      }
      let hasKey = request.headers.contains("X-API-Key")
      return NetworkResponse(request: request, statusCode: 200, body: .data(Data(hasKey ? "leaked".utf8 : "kept".utf8)))
    }
    let key = APIKeyBehavior.apiKey("X-API-Key", "c4nary-key")
    try await bench.record(over: mock, [key]) { client in
      let text = try await client.send(Request<String>.get("x"))
      #expect(text == "kept")
    }
    let text = try bench.text()
    #expect(!text.contains("c4nary"))
    let playing = try bench.cassette(.replay)
    #expect(try await bench.client(playing, [key]).send(Request<String>.get("x")) == "kept")
    try playing.verify()
  }

  @Test func `a stream that no reader reads is an entry with its head`() async throws {
    let mock = MockTransport()
    mock.on(.get).stream("one", "two")
    let recording = try bench.cassette(.recordAll, over: mock)
    do { _ = try await bench.client(recording).stream(.get("feed")) }
    while !FileManager.default.fileExists(atPath: bench.folder.appending(path: "tape.har").path()) {
      try recording.save()
      await Task.yield()
    }
    await recording.shutdown()
    let playing = try bench.cassette(.replay)
    let response = try await bench.client(playing).stream(.get("feed"))
    #expect(response.statusCode == 200)
    try playing.verify()
  }
}
