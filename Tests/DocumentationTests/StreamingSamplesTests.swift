import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

final class Counter: Sendable {
  let journal = Journal()
  func increment() { journal.note("+") }
  func decrement() { journal.note("-") }
}

struct CountingBehavior {
  let counter: Counter
}

extension CountingBehavior: RequestBehavior {
  func intercept(
    _ request: NetworkRequest, next: Next
  ) async throws -> NetworkResponse {
    counter.increment()
    do {
      let response = try await next(request)
      response.onCompletion { [counter] _ in counter.decrement() }
      return response
    } catch {
      counter.decrement()
      throw error
    }
  }
}

/// The samples of "Streaming", and of the doc comments about streams.
@Suite(.limited) struct StreamingSamplesTests {
  private final class File: Sendable {
    let journal = Journal()
    func write(_ bytes: Data) { journal.note(String(decoding: bytes, as: UTF8.self)) }
    var text: String { journal.entries.joined() }
  }

  private struct Log {
    func found(in chunk: Data) -> Bool { chunk.contains(0x21) }
  }

  private struct Decompressed: AsyncSequence, Sendable {
    typealias Element = Data
    let base: ByteStream

    init(_ base: ByteStream) { self.base = base }

    struct Iterator: AsyncIteratorProtocol {
      var base: ByteStream.Iterator

      mutating func next() async throws -> Data? { try await base.next().map { $0 + $0 } }
    }

    func makeAsyncIterator() -> Iterator { Iterator(base: base.makeAsyncIterator()) }
  }

  private let mock = MockTransport(baseURL: baseURL)
  private var client: NetworkClient { NetworkClient(baseURL: baseURL, transport: mock) }

  @Test func `a stream is read and tells how it ended`() async throws {
    mock.on(.get, "export").stream("one", "two", trailers: ["Digest": "x"])
    let file = File()
    do {
      let response = try await client.stream(.get("export"))
      for try await chunk in response.bytes { file.write(chunk) }
    }
    let response = try await client.stream(.get("export"))
    print(response.headers["Content-Length"] ?? "no length")
    for try await chunk in response.bytes { file.write(chunk) }
    #expect(file.text == "onetwoonetwo")
    let completion = try await response.completion
    print(completion.byteCount, completion.trailers?["Digest"] ?? "-")
    #expect(completion.byteCount == 6)
    try mock.verify()
  }

  @Test func `leaving the loop cancels the stream`() async throws {
    mock.on(.get, "log").stream("nothing", "here!", "more")
    let log = Log()
    let response = try await client.stream(.get("log"))
    for try await chunk in response.bytes {
      if log.found(in: chunk) { break }
    }
    #expect(try await response.completion.error is CancellationError)
    try mock.verify()
  }

  @Test func `a behavior holds something until the body has ended`() async throws {
    mock.on(.get, "export").stream("one")
    let counter = Counter()
    let response = try await client.with { $0.behaviors = [CountingBehavior(counter: counter)] }.stream(.get("export"))
    #expect(counter.journal.entries == ["+"])
    for try await _ in response.bytes {}
    #expect(counter.journal.entries == ["+", "-"])
    let next: (NetworkRequest) async throws -> NetworkResponse = { _ in response }
    let held = { (request: NetworkRequest) async throws in
      let response = try await next(request)
      response.onCompletion { _ in counter.decrement() }
      return response
    }
    _ = try await held(response.request)
    #expect(counter.journal.entries == ["+", "-", "-"])
  }

  @Test func `a behavior wraps the body`() async throws {
    mock.on(.get, "export").stream("one", trailers: ["Digest": "x"])
    let decompressing = ClosureBehavior("decompressing") { request, next in
      var response = try await next(request)
      guard case .stream(let stream) = response.body else { return response }
      response.body = .stream(stream.wrapped { Decompressed($0) })
      return response
    }
    let response = try await client.with { $0.behaviors = [decompressing] }.stream(.get("export"))
    #expect(try await response.buffered().text == "oneone")
    #expect(try await response.completion.trailers?["Digest"] == "x")
  }

  @Test func `the spool has a directory and a limit`() async throws {
    let server = try LoopbackServer { _ in .text("hello") }
    let configuration = RequestConfiguration(baseURL: server.baseURL)
    var settings = URLSessionTransport.Configuration()
    settings.spool.directory = URL(filePath: "/var/tmp")
    settings.spool.limit = 8 << 30
    let client = NetworkClient(
      configuration: configuration,
      transport: URLSessionTransport(configuration: settings))
    #expect(try await client.stream(.get("x")).buffered().text == "hello")
  }

  @Test func `mocks and servers stream what a test says`() async throws {
    let clock = ManualClock()
    var configuration = RequestConfiguration(baseURL: baseURL)
    configuration.clock = clock.requestClock
    let client = NetworkClient(configuration: configuration, transport: mock)
    mock.on(.get, "export").stream(
      "one", .wait(.seconds(5)), "two", trailers: ["X-Rows": "2"])
    mock.on(.get, "events").stream(
      "data: 1\n\n", .wait(.seconds(30)), .fail(.connectionLost))
    for (path, text) in [("export", "onetwo"), ("events", nil)] as [(RequestPath, String?)] {
      let response = try await client.stream(.get(path))
      let reading = Task { try await response.buffered().text }
      await clock.waitForSleepers(1)
      clock.advance(by: .seconds(30))
      if let text {
        #expect(try await reading.value == text)
      } else {
        await #expect(throws: NetworkError.self) { try await reading.value }
      }
    }
    let server = try LoopbackServer()
    server.enqueue(
      .generated(pieces: 1_024, of: 1_048_576) { index in
        Data(repeating: UInt8(index % 256), count: 1_048_576)
      })
    let response = try await NetworkClient(baseURL: server.baseURL).stream(.get("large"))
    for try await chunk in response.bytes {
      #expect(chunk.first == 0)
      break
    }
  }
}
