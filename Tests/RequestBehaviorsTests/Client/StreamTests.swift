import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsTesting
import TestSupport
import Testing

@Suite(.limited) struct StreamTests {
  private let source = ChunkSource()

  @Test func `stream returns when the head has arrived, and its bytes arrive as the server sends them`() async throws {
    let response = try await NetworkClient(source.transport(203, ["X": "1"])).stream(.get("export"))
    #expect(response.statusCode == 203)
    #expect(response.headers["X"] == "1")
    #expect(response.timings.lastByte == nil)
    var bytes = response.bytes.makeAsyncIterator()
    source.send("one")
    #expect(try await bytes.next() == Data("one".utf8))
    source.send("two")
    source.finish(trailers: ["X-Sum": "6"])
    #expect(try await bytes.next() == Data("two".utf8))
    #expect(try await bytes.next() == nil)
    let completion = try await response.completion
    #expect(completion.byteCount == 6)
    #expect(completion.trailers?["X-Sum"] == "6")
  }

  @Test func `every kind of body can be read as bytes, has a completion, and can be buffered`() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "StreamTests-\(UUID().uuidString)")
    try Data("file".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let request = NetworkRequest(url: baseURL)
    for (body, text) in [(ResponseBody.data(Data("data".utf8)), "data"), (.file(file), "file"), (.empty, "")] {
      let response = NetworkResponse(request: request, statusCode: 200, body: body)
      for _ in 1...2 { #expect(try await response.bytes.texts().joined() == text) }
      #expect(try await response.completion.error == nil)
      #expect(try await response.buffered().text == text)
    }
    source.send("stream")
    source.finish(trailers: ["X": "1"])
    let streamed = NetworkResponse(request: request, statusCode: 200, body: .stream(source.stream))
    let buffered = try await streamed.buffered()
    #expect(try buffered.text == "stream")
    #expect(buffered.trailers == ["X": "1"])
    #expect(buffered.timings.lastByte != nil)
  }

  @Test func `a body that is not in memory is read with a limit, and has no data before`() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "StreamTests-\(UUID().uuidString)")
    try Data("12345".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    source.send("12345")
    var request = NetworkRequest(url: baseURL)
    request.options.bodyLimit = 4
    for body in [ResponseBody.file(file), .stream(source.stream)] {
      let response = NetworkResponse(request: request, statusCode: 200, body: body)
      #expect(#expect(throws: NetworkError.self) { try response.data }?.code == .bodyNotBuffered)
      let error = await #expect(throws: NetworkError.self) { try await response.buffered() }
      #expect(error?.code == .bodyTooLarge)
    }
  }

  @Test func `a redirect to another origin keeps the response streamed`() async throws {
    let transport = ClosureTransport { [source] request in
      guard request.url.host == "cdn.example.com" else {
        return NetworkResponse(
          request: request, statusCode: 302, headers: ["Location": "https://cdn.example.com/x"],
          body: .stream(ByteStream(chunks: [])))
      }
      return NetworkResponse(request: request, statusCode: 200, body: .stream(source.stream))
    }
    _ = try await NetworkClient(transport).stream(.get("export"))
    #expect(transport.sent.map(\.options.delivery) == [.streamed, .streamed])
  }

  @Test(arguments: [(65_536, false), (65_537, true)])
  func `a status that is not accepted is an error with the beginning of the body, before any behavior sees it`(
    length: Int, isCut: Bool
  ) async throws {
    let seen = Box<[Int]>([])
    let watching = ClosureBehavior("watching", order: .last) { request, next in
      let response = try await next(request)
      let count = try response.data.count
      seen.update { $0.append(count) }
      return response
    }
    let problem = #"{"title":"gone"}"#
    source.send(problem)
    source.send(String(repeating: " ", count: length - problem.utf8.count))
    if !isCut { source.finish() }
    let client = NetworkClient(source.transport(404, ["Content-Type": "application/json"]), [watching])
    let error = try await #require(throws: NetworkError.self) { try await client.stream(.get("x")) }
    #expect(error.code == .unacceptableStatus)
    #expect(try error.decode([String: String].self) == ["title": "gone"])
    #expect(error.response?.isBodyCut == isCut)
    #expect(seen.value == [65_536])
    #expect(source.cancelCount == (isCut ? 1 : 0))
  }

  @Test func `a status that the request accepts is streamed`() async throws {
    let client = NetworkClient(source.transport(404))
    let response = try await client.stream(.get("x").with(\.acceptableStatuses, [404]))
    source.send("one")
    source.finish()
    #expect(try await response.bytes.texts() == ["one"])
  }

  @Test func `dropping the response cancels the transfer, whatever the client does with it`() async throws {
    let transport = source.transport()
    let limiter = ConcurrencyLimiter(1)
    let client = NetworkClient(
      transport,
      [
        .onCallEnd { _ in }, .logging(ClosureLogSink { _ in }, level: .debug), .deadline(.seconds(60)), .retry(),
        .caching(MemoryCacheStore()), .concurrencyLimit(limiter), .timing(LatencyStatistics()),
      ])
    _ = try await client.stream(.get("x"))
    // The timer of the deadline has to notice that it is not needed any more.
    await source.isCancelled()
    #expect(limiter.inUse(of: LimitKey.byOrigin(NetworkRequest(url: baseURL)) ?? "none") == 0)
  }

  @Test func `shutdown ends a stream, of a variant of the client too`() async throws {
    for isVariant in [false, true] {
      let source = ChunkSource()
      let client = NetworkClient(source.transport())
      let response = try await (isVariant ? client.with { $0.behaviors = [] } : client).stream(.get("x"))
      source.send("one")
      var bytes = response.bytes.makeAsyncIterator()
      #expect(try await bytes.next() != nil)
      await client.shutdown()
      let error = await #expect(throws: NetworkError.self) { try await bytes.next() }
      #expect(error?.code == .clientShutDown)
      #expect(source.cancelCount == 1)
    }
  }

  @Test func `a behavior that saves is refused on a streamed request, and passes in the configuration`() async throws {
    let saving = ClosureBehavior("saving", order: .persistence) { request, next in try await next(request) }
    source.finish()
    let error = try await #require(throws: NetworkError.self) {
      try await NetworkClient(source.transport()).stream(.get("x").with(saving))
    }
    #expect(error.code == .invalidBehavior)
    #expect(error.message.contains("saving"))
    _ = try await NetworkClient(source.transport(), [saving]).stream(.get("x"))
  }

  @Test func `streams of identical requests are not shared`() async throws {
    let transport = ClosureTransport { request in
      NetworkResponse(request: request, statusCode: 200, body: .stream(ByteStream(chunks: [Data("one".utf8)])))
    }
    let client = NetworkClient(transport, [.coalescing()])
    async let first = client.stream(.get("x"))
    async let second = client.stream(.get("x"))
    for response in try await [first, second] { #expect(try await response.bytes.texts() == ["one"]) }
    #expect(transport.sent.count == 2)
  }

  @Test func `a cache stores a stream that was read to its end, and its hit has bytes`() async throws {
    source.send("one")
    source.finish()
    let client = NetworkClient(source.transport(200, ["Cache-Control": "max-age=60"]), [.caching(MemoryCacheStore())])
    for expected in [ResponseSource.network, .cache] {
      let response = try await client.stream(.get("x"))
      #expect(response.source == expected)
      #expect(try await response.bytes.texts() == ["one"])
    }
  }

  @Test func `a transport without streams returns the bytes in memory`() async throws {
    let response = try await NetworkClient(ClosureTransport(200, "whole")).stream(.get("x"))
    #expect(try await response.bytes.texts() == ["whole"])
    #expect(try await response.completion.byteCount == 5)
  }
}
