import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

@Suite(.limited(to: .seconds(120))) final class TransportUploadTests: Sendable {
  private let directory: URL
  private let transport: URLSessionTransport
  private let server: LoopbackServer
  private let clock = ManualClock()

  init() throws {
    directory = FileManager.default.temporaryDirectory.appending(path: "uploads-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
    transport = URLSessionTransport(
      clock: clock.requestClock, spool: BodySpool(memoryLimit: 1_000, directory: directory))
    server = try LoopbackServer { .text("\($0.body.count)") }
  }

  deinit { try? FileManager.default.removeItem(at: directory) }

  /// The files that are in the directory of the spool.
  private var files: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: directory.path(percentEncoded: false)) }
  }

  private static func stream(_ chunks: Int, of bytes: Int, then error: (any Error)? = nil) -> ByteStream {
    ByteStream(
      AsyncThrowingStream<Data, any Error> { continuation in
        for _ in 0..<chunks { continuation.yield(Data(repeating: UInt8(ascii: "x"), count: bytes)) }
        continuation.finish(throwing: error)
      })
  }

  #if canImport(FoundationNetworking)
    @Test func `bytes that are added to a file during the send are not read as another request`() async throws {
      let file = directory.appending(path: "log")
      try Data(repeating: 1, count: 8 << 20).write(to: file)
      let handle = try FileHandle(forWritingTo: file)
      try handle.seekToEnd()
      let hasGrown = Box(false)
      let client = NetworkClient(baseURL: server.baseURL)
      let progress = TransferProgress()
      let writer = Task {
        for await state in progress.states where state.sent > 0 {
          try handle.write(contentsOf: Data("GET /evil HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
          hasGrown.value = true
          break
        }
      }
      let result = await Task {
        try await client.send(Request<String>.put("x", body: .file(file)).with(\.progress, progress))
      }
      .result
      try await writer.value
      switch result {
      case .success(let count): #expect(count == "\(8 << 20)")
      case .failure(let error): #expect((error as? NetworkError)?.code == .bodyUnreadable)
      }
      #expect(hasGrown.value)
      #expect(try await client.send(Request<String>.put("next", body: .text("hi"))) == "2")
      #expect(!server.requests.contains { $0.path == "/evil" })
    }

    @Test func `a file that becomes shorter while it is sent fails the send within a second`() async throws {
      let file = directory.appending(path: "log")
      try Data(count: 32 << 20).write(to: file)
      let gate = LoopbackGate()
      server.enqueue(.text("").held(by: gate, at: .accept))
      let progress = TransferProgress()
      var options = RequestOptions()
      options.progress = progress
      let call = Call(clock: clock.requestClock, options: options)
      let request = NetworkRequest(.put, url: server.baseURL, body: .file(file), options: options, call: call)
      let sent = Task { try await transport.send(request) }
      for await state in progress.states where state.sent > 0 { break }
      try FileHandle(forWritingTo: file).truncate(atOffset: 1_000)
      // One is for the idle timeout.
      await clock.waitForSleepers(2)
      clock.advance(by: .seconds(1))
      let error = try await #require(throws: NetworkError.self) { try await sent.value }
      #expect(error.code == .bodyUnreadable)
      #expect(error.message.contains("shorter than its \(32 << 20) bytes"))
      gate.open()
    }
  #endif

  @Test func `a small file is sent with its contents at the time of reading`() async throws {
    let file = directory.appending(path: "small")
    try Data("12345".utf8).write(to: file)
    _ = try await transport.send(server.request(.put, body: .file(file)))
    #expect(server.requests.last?.body == Data("12345".utf8))
    #expect(server.requests.last?.headers["Content-Length"] == "5")
    #expect(server.requests.last?.headers["Connection"] != "close")
  }

  @Test(arguments: [0, 1, 100_000])
  func `a file arrives with its length`(count: Int) async throws {
    let file = directory.appending(path: "body")
    try Data(repeating: 1, count: count).write(to: file)
    let response = try await transport.send(server.request(.put, body: .file(file, contentType: "text/x")))
    #expect(try response.text == "\(count)")
    let request = try #require(server.requests.first)
    #expect(request.headers["Content-Length"] == "\(count)")
    #expect(request.headers["Transfer-Encoding"] == nil)
    #expect(request.headers["Content-Type"] == "text/x")
    #expect(try files == ["body"])
  }

  @Test func `an unreadable file is refused`() async throws {
    let web = try #require(URL(string: "http://127.0.0.1/body"))
    for url in [directory.appending(path: "none"), directory, URL(fileURLWithPath: "/dev/zero"), web] {
      let error = try await transport.failure(of: server.request(.post, body: .file(url)))
      #expect(error.code == .bodyUnreadable)
      #expect(!error.mayHaveArrived)
    }
    #expect(server.connectionCount == 0)
  }

  @Test(arguments: [(0, 0), (3, 100), (1, 1_000), (11, 100), (40, 4_096), (1, 300_000)])
  func `a stream arrives whole, with its length`(chunks: Int, bytes: Int) async throws {
    let count = chunks * bytes
    let body = RequestBody.stream(length: Int64(count)) { Self.stream(chunks, of: bytes) }
    for _ in 0..<2 {
      #expect(try await transport.send(server.request(.post, body: body)).text == "\(count)")
    }
    #expect(server.requests.allSatisfy { $0.headers["Content-Length"] == "\(count)" })
    #expect(server.requests.allSatisfy { $0.body.allSatisfy { $0 == UInt8(ascii: "x") } })
    try await noFileIsLeft()
  }

  @Test func `a file that holds a stream is readable by its owner only, and removed after the send`() async throws {
    let gate = LoopbackGate()
    let server = try LoopbackServer { _ in .status(200).held(by: gate) }
    async let response = transport.send(server.request(.post, body: .oneShot(Self.stream(2, of: 1_000))))
    await gate.waitForArrivals(1)
    let file = try #require(try files.first)
    let path = directory.appending(path: file).path(percentEncoded: false)
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    gate.open()
    #expect(try await response.statusCode == 200)
    try await noFileIsLeft()
  }

  @Test(arguments: [1, 5])
  func `a stream that fails fails the send, and leaves no file`(chunks: Int) async throws {
    struct Broken: Error {}
    let body = RequestBody.stream { Self.stream(chunks, of: 600, then: Broken()) }
    let error = try await transport.failure(of: server.request(.post, body: body))
    #expect(error.code == .bodyUnreadable)
    #expect(error.underlyingError is Broken)
    #expect(error.request?.method == .post)
    #expect(server.connectionCount == 0)
    try await noFileIsLeft()
  }

  @Test func `a request whose user signs out while its stream is read is not sent`() async throws {
    let request = server.request(.post).signingOutWhileRead()
    await #expect(throws: UserHasLeft.self) { try await transport.send(request) }
    #expect(server.connectionCount == 0)
  }

  @Test(arguments: [Int64(10), 1_000_000])
  func `a stream whose length differs from the announced one is refused`(length: Int64) async throws {
    let body = RequestBody.stream(length: length) { Self.stream(5, of: 600) }
    let error = try await transport.failure(of: server.request(.post, body: body))
    #expect(error.code == .bodyUnreadable)
    #expect(!error.mayHaveArrived)
    let isLonger = length < 3_000
    #expect(
      error.message
        == (isLonger
          ? "the body stream has more than the \(length) bytes that it was said to have"
          : "the body stream has 3000 bytes where it was said to have \(length)"))
    try await noFileIsLeft()
  }

  @Test(arguments: [100, 5_000])
  func `a stream is read once for a call, and later sends get the same bytes`(bytes: Int) async throws {
    server.enqueue(.status(503))
    server.enqueue(.status(503))
    let made = Box(0)
    let body = RequestContent.stream(length: Int64(bytes)) {
      made.update { $0 += 1 }
      return Self.stream(1, of: bytes)
    }
    let retry = RetryBehavior(.standard, budget: .unlimited, random: { 0 }, makeKey: { "key" })
    var configuration = RequestConfiguration(baseURL: server.baseURL, behaviors: [retry])
    configuration.clock = LeapingClock().requestClock
    let client = NetworkClient(configuration: configuration, transport: transport)
    let response: NetworkResponse = try await client.send(.put("x", body: body))
    #expect(response.attempts.count == 3)
    #expect(server.requests.map(\.body.count) == [bytes, bytes, bytes])
    #expect(made.value == 1)
    // The response, and with it the call, is still there.
    try await noFileIsLeft()
    try await client.send(.put("x", body: body))
    #expect(made.value == 2)
    withExtendedLifetime(response) {}
  }

  @Test(arguments: [true, false])
  func `a long body arrives whole after a 503, a redirect and a refused token`(isFile: Bool) async throws {
    let (count, file) = (1 << 20, directory.appending(path: "long"))
    try Data(count: count).write(to: file)
    let body: RequestContent =
      isFile ? .file(file) : .stream(length: Int64(count)) { Self.stream(16, of: count / 16) }
    for response in [.status(503), .redirect(to: "/b", status: 307), .status(401)] as [LoopbackResponse] {
      server.enqueue(response)
    }
    let tokens = Box(0)
    let session = TokenSession(
      source: .closure { _ in
        tokens.update { $0 += 1 }
        return AccessToken("t\(tokens.value)")
      })
    let retry = RetryBehavior(.standard, budget: .unlimited, random: { 0 }, makeKey: { "key" })
    let client = NetworkClient(baseURL: server.baseURL, behaviors: [retry, .tokenAuth(session)], transport: transport)
    #expect(try await client.send(Request<String>.put("a", body: body)) == "\(count)")
    #expect(server.requests.map(\.body.count) == Array(repeating: count, count: 4))
    #expect(server.requests.map { $0.headers["Authorization"] } == ["t1", "t1", "t1", "t2"].map { "Bearer \($0)" })
  }

  @Test(arguments: [Int64?.none, 6_000])
  func `a stream that is longer than the spool's limit fails the send`(length: Int64?) async throws {
    let transport = URLSessionTransport(
      clock: clock.requestClock, spool: BodySpool(memoryLimit: 1_000, limit: 5_000, directory: directory))
    let body = RequestBody.stream(length: length) { Self.stream(6, of: 1_000) }
    let error = try await transport.failure(of: server.request(.post, body: body))
    #expect(error.code == .bodyUnreadable)
    #expect(error.message.contains("longer than the 5000 bytes"))
    #expect(server.connectionCount == 0)
    try await noFileIsLeft()
    let whole = RequestBody.stream { Self.stream(5, of: 1_000) }
    #expect(try await transport.send(server.request(.post, body: whole)).text == "5000")
  }

  @Test func `the settings of a transport name the directory for streams`() async throws {
    var configuration = URLSessionTransport.Configuration()
    configuration.uploadSpool = BodySpool(memoryLimit: 0, directory: directory.appending(path: "none"))
    let transport = URLSessionTransport(configuration: configuration)
    let body = RequestBody.stream { Self.stream(1, of: 5) }
    let error = try await transport.failure(of: server.request(.post, body: body))
    #expect(error.code == .bodyUnreadable)
    #expect(error.message.contains(directory.appending(path: "none").path(percentEncoded: false)))
    let reason = "\(error.underlyingError?.localizedDescription ?? "")"
    #expect(reason.contains("No such file or directory"))
  }

  @Test func `a one-shot stream is refused the second time`() async throws {
    let body = RequestBody.oneShot(Self.stream(1, of: 5))
    #expect(try await transport.send(server.request(.post, body: body)).text == "5")
    #expect(try await transport.failure(of: server.request(.post, body: body)).code == .bodyConsumed)
  }

  @Test func `a cancelled task stops reading an endless stream`() async throws {
    let body = Endless()
    let send = Task { [transport, server] in
      try await transport.send(server.request(.post, body: .oneShot(body.stream)))
    }
    await body.isRead()
    send.cancel()
    await #expect(throws: CancellationError.self) { try await send.value }
    await body.isCancelled()
    try await noFileIsLeft()
  }

  @Test func `a timeout stops reading an endless stream`() async throws {
    let body = Endless()
    async let failure = transport.failure(of: server.request(.post, body: .oneShot(body.stream)))
    await body.isRead()
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(60))
    #expect(try await failure.code == .timedOut)
    await body.isCancelled()
    try await noFileIsLeft()
  }

  @Test func `a closure that takes long to open its stream holds up no other request`() async throws {
    let (opened, begun) = (DispatchSemaphore(value: 0), AsyncStream.makeStream(of: Void.self))
    let body = RequestBody.stream(length: 0) {
      begun.continuation.yield()
      opened.wait()
      return ByteStream(chunks: [])
    }
    let slow = Task { try await transport.send(server.request(.post, body: body)) }
    for await _ in begun.stream { break }
    _ = try await transport.send(server.request())
    opened.signal()
    #expect(try await slow.value.statusCode == 200)
  }

  @Test func `a shutdown of the transport stops reading an endless stream`() async throws {
    let body = Endless()
    async let failure = transport.failure(of: server.request(.post, body: .oneShot(body.stream)))
    await body.isRead()
    await transport.shutdown()
    let error = try await failure
    #expect(error.code == .clientShutDown)
    #expect(!error.mayHaveArrived)
    await body.isCancelled()
    try await noFileIsLeft()
  }

  @Test func `a stream that is not read to its end is cancelled, one that was read to it is not`() async throws {
    struct Broken: Error {}
    // A released stream is cancelled without a call of `cancel`.
    let (cancelled, kept) = (Box<[String]>([]), Box<[ByteStream]>([]))
    let cases: [(name: String, length: Int64, error: (any Error)?)] = [
      ("short", 10, nil), ("broken", 10, Broken()), ("long", 1, nil), ("beyond the limit", 5 << 30, nil),
    ]
    for (name, length, error) in cases {
      let body = RequestBody.stream(length: length) {
        let stream = ByteStream(Self.stream(3, of: 1, then: error)) { cancelled.update { $0.append(name) } }
        kept.update { $0.append(stream) }
        return stream
      }
      #expect(try await transport.failure(of: server.request(.post, body: body)).code == .bodyUnreadable)
    }
    #expect(cancelled.value == ["broken", "long", "beyond the limit"])
  }

  @Test func `every chunk of a stream restarts the idle timeout but not the total one`() async throws {
    var options = RequestOptions()
    for timeout in [nil, Duration.seconds(100)] {
      options.timeout = timeout
      let body = RequestBody.stream { [clock] in
        ByteStream(SlowChunks(count: 3, interval: .seconds(40), clock: clock.requestClock))
      }
      let request = server.request(.post, body: body, options: options)
      let send = Task { [transport] in try await transport.send(request) }
      // The last step ends at the total timeout and not after it: no chunk is due at the same time.
      for step in timeout == nil ? [40, 40, 40] : [40, 40, 20] {
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(step))
      }
      if timeout == nil {
        #expect(try await send.value.text == "3")
      } else {
        let error = await #expect(throws: NetworkError.self) { try await send.value }
        #expect(error?.message == "the send was not over after 100.0 seconds; raise timeout if it may take longer")
      }
    }
  }

  /// Checks that no file is left; a cancelled send ends before the platform has let go of it.
  private func noFileIsLeft() async throws { #expect(try await eventually { try files.isEmpty }) }
}

/// Chunks of one byte, each of which takes its time.
private struct SlowChunks: AsyncSequence, Sendable {
  typealias Element = Data
  let count: Int
  let interval: Duration
  let clock: RequestClock

  struct Iterator: AsyncIteratorProtocol {
    let interval: Duration
    let clock: RequestClock
    var rest: Int

    mutating func next() async throws -> Data? {
      guard rest > 0 else { return nil }
      rest -= 1
      try await clock.sleep(for: interval)
      return Data([0])
    }
  }

  func makeAsyncIterator() -> Iterator { Iterator(interval: interval, clock: clock, rest: count) }
}

/// A stream of two chunks and no end, which tells what becomes of it.
private final class Endless: Sendable {
  private let read = AsyncStream<Void>.makeStream()
  private let cancelled = AsyncStream<Void>.makeStream()
  private let chunks = AsyncStream<Data>.makeStream()

  var stream: ByteStream {
    chunks.continuation.yield(Data(count: 1_200))
    let (read, cancelled) = (read.continuation, cancelled.continuation)
    let mapped = chunks.stream.map { chunk in
      read.yield()
      return chunk
    }
    return ByteStream(mapped) { cancelled.yield() }
  }

  func isRead() async { for await _ in read.stream { return } }

  func isCancelled() async { for await _ in cancelled.stream { return } }
}
