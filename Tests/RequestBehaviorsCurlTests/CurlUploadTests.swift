#if canImport(CRequestBehaviorsCurl)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsCurl
  import RequestBehaviorsTesting
  import TestSupport
  import Testing

  @Suite(.limited) struct CurlUploadTests {
    let server: LoopbackServer
    let transport = CurlTransport()

    init() throws { server = try LoopbackServer { .text("\($0.body.count)") } }

    @Test(arguments: [Int64(0), 10, 1_000])
    func `a stream that is longer than announced fails the send`(length: Int64) async throws {
      let chunks = [Data(count: Int(length)), Data(count: 10)]
      let body = RequestBody.stream(length: length) { ByteStream(chunks: chunks) }
      for _ in 1...20 {
        let error = try await transport.failure(of: server.request(.put, body: body))
        #expect(error.code == .bodyUnreadable)
      }
    }

    @Test(arguments: [nil, Int64(0), 10])
    func `the error of a stream has the same message, whatever length was announced`(length: Int64?) async throws {
      let body = RequestBody.stream(length: length) {
        ByteStream(AsyncThrowingStream<Data, any Error> { $0.finish(throwing: CocoaError(.fileReadUnknown)) })
      }
      let error = try await transport.failure(of: server.request(.put, body: body))
      #expect(error.code == .bodyUnreadable)
      #expect(error.message == "the body stream could not be read to its end")
      #expect((error.underlyingError as? CocoaError)?.code == .fileReadUnknown)
      #expect(error.request?.method == .put)
      #expect(server.requestCount == 0)
    }

    @Test(arguments: [HeaderFields(), ["Expect": "100-continue"]])
    func `a stream without bytes goes out with the length 0`(headers: HeaderFields) async throws {
      for stream in [ByteStream(chunks: []), ByteStream(chunks: [Data(), Data()])] {
        let body = RequestBody.oneShot(stream, length: 0)
        #expect(try await transport.send(server.request(.put, headers: headers, body: body)).text == "0")
        #expect(server.requests.last?.headers["Content-Length"] == "0")
      }
    }

    /// Starts a send of a file on a disk that does not respond, and calls the closure once the send waits.
    ///
    /// It needs a process of its own, because a process has one set of threads for files.
    private static func failureOfUnansweredFile(
      after event: (CurlTransport, ManualClock) async -> Void
    ) async throws -> NetworkError {
      let file = FileManager.default.temporaryDirectory.appending(path: "unanswered-\(UUID().uuidString)")
      try Data("content".utf8).write(to: file)
      defer { try? FileManager.default.removeItem(at: file) }
      let clock = ManualClock()
      let transport = CurlTransport(clock: clock.requestClock)
      let held = HeldFiles()
      defer { held.release() }
      let server = try LoopbackServer { .text("\($0.body.count)") }
      let request = server.request(.put, body: .file(file), clock: clock.requestClock) { $0.timeout = .seconds(5) }
      async let failure = transport.failure(of: request)
      await clock.waitForSleepers(1)
      await event(transport, clock)
      return try await failure
    }

    @Test func `a file whose length does not come ends the send at its timeout`() async {
      await #expect(processExitsWith: .success) {
        let error = try await CurlUploadTests.failureOfUnansweredFile { _, clock in clock.advance(by: .seconds(5)) }
        #expect(error.code == .timedOut)
        #expect(error.progress?.stage == .notSent)
      }
    }

    @Test func `a file whose length does not come ends the send at the shutdown`() async {
      await #expect(processExitsWith: .success) {
        let error = try await CurlUploadTests.failureOfUnansweredFile { transport, _ in await transport.shutdown() }
        #expect(error.code == .clientShutDown)
      }
    }

    @Test(arguments: [nil, Duration.seconds(100)])
    func `an empty stream is not read for longer than the timeout of its request`(total: Duration?) async throws {
      let clock = ManualClock()
      let transport = CurlTransport(clock: clock.requestClock)
      let (gate, isCancelled) = (TestGate(), TestGate())
      let body = RequestBody.stream(length: 0) {
        ByteStream(AsyncStream<Data>.held(by: gate)) { Task { await isCancelled.pass() } }
      }
      let request = server.request(.put, body: body, clock: clock.requestClock) {
        if let total { ($0.idleTimeout, $0.timeout) = (nil, total) }
      }
      async let failure = transport.failure(of: request)
      await gate.waitForArrivals(1)
      await clock.waitForSleepers(1)
      clock.advance(by: total ?? .seconds(60))
      let error = try await failure
      #expect(error.code == .timedOut)
      #expect(error.progress?.stage == .notSent)
      await isCancelled.waitForArrivals(1)
      #expect(server.connectionCount == 0)
      gate.open()
      isCancelled.open()
    }

    @Test func `a shutdown of the transport ends a send that waits for an empty stream`() async throws {
      let gate = TestGate()
      let body = RequestBody.stream(length: 0) { ByteStream(AsyncStream<Data>.held(by: gate)) }
      async let failure = transport.failure(of: server.request(.put, body: body))
      await gate.waitForArrivals(1)
      await transport.shutdown()
      #expect(try await failure.code == .clientShutDown)
      gate.open()
    }

    @Test func `a request whose user signs out while its empty stream is read is not sent`() async throws {
      struct SignedOut: Error {}
      let isSignedOut = Box(false)
      let body = RequestBody.stream(length: 0) {
        ByteStream(
          AsyncStream<Data> {
            isSignedOut.value = true
            return nil
          })
      }
      let request = server.request(.put, body: body)
      request.call.addSendCheck { _ in if isSignedOut.value { throw SignedOut() } }
      await #expect(throws: SignedOut.self) { try await transport.send(request) }
      #expect(server.connectionCount == 0)
    }

    @Test(arguments: ["file", "stream", "one-shot stream"])
    func `a request whose user signs out while its body is made ready is not sent`(kind: String) async throws {
      struct SignedOut: Error {}
      let file = FileManager.default.temporaryDirectory.appending(path: "late-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: file) }
      try Data("12345".utf8).write(to: file)
      let stream = ByteStream(chunks: [Data("12345".utf8)])
      let body: RequestBody =
        switch kind {
        case "file": .file(file)
        case "stream": .stream { stream }
        default: .oneShot(stream)
        }
      let request = server.request(.put, body: body)
      request.call.addSendCheck { _ in throw SignedOut() }
      await #expect(throws: SignedOut.self) { try await transport.send(request) }
      #expect(server.connectionCount == 0)
    }

    @Test func `a refused connection does not read a one-shot body`() async throws {
      let gone = try LoopbackServer()
      gone.stop()
      let stream = ByteStream(chunks: [Data("once".utf8)])
      let body = RequestBody.oneShot(stream)
      for _ in 1...3 {
        let error = try await transport.failure(of: NetworkRequest(.put, url: gone.baseURL, body: body))
        #expect(error.code == .cannotConnect)
        #expect(body.isReplayable)
      }
      #expect(try await transport.send(server.request(.put, body: body)).text == "4")
    }

    @Test func `a file that grows while it is sent arrives as long as it was`() async throws {
      let file = FileManager.default.temporaryDirectory.appending(path: "grows-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: file) }
      try Data(repeating: 1, count: 4 << 20).write(to: file)
      let handle = try FileHandle(forWritingTo: file)
      try handle.seekToEnd()
      let progress = TransferProgress()
      var options = RequestOptions()
      options.progress = progress
      let writer = Task {
        for await state in progress.states where state.sent > 0 {
          try handle.write(contentsOf: Data(repeating: 2, count: 1 << 20))
          break
        }
      }
      let request = NetworkRequest(
        .put, url: server.baseURL, body: .file(file), options: options, call: Call(options: options))
      #expect(try await transport.send(request).text == "\(4 << 20)")
      progress.finish()
      try await writer.value
    }

    @Test(arguments: [0, 1, 16_384, 16_385, 1 << 20])
    func `bodies of any size are sent with their length`(count: Int) async throws {
      let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 / 7) })
      for method in [RequestMethod.post, .put, .delete, "REPORT"] {
        _ = try await transport.send(server.request(method, body: .data(data)))
        let request = try #require(server.requests.last)
        #expect(request.method == method)
        #expect(request.body == data)
        #expect(request.headers["Content-Length"] == "\(count)")
        #expect(request.headers["Content-Type"] == "application/octet-stream")
        #expect(!request.headers.contains("Expect"))
        #expect(!request.headers.contains("Transfer-Encoding"))
      }
    }

    @Test func `a request without a body has Content-Length 0 if its method usually has a body`() async throws {
      for method in [RequestMethod.post, .put, .patch] {
        _ = try await transport.send(server.request(method))
        #expect(server.requests.last?.headers["Content-Length"] == "0")
        #expect(server.requests.last?.headers.contains("Content-Type") == false)
      }
      for method in [RequestMethod.get, .delete, .options, .head] {
        _ = try await transport.send(server.request(method))
        #expect(server.requests.last?.headers.contains("Content-Length") == false)
      }
    }

    @Test func `a reused handle keeps nothing of the previous request`() async throws {
      for _ in 1...3 {
        _ = try await transport.send(
          server.request(.post, headers: ["X-Once": "1"], body: .data(Data("abc".utf8), contentType: "text/x")))
        _ = try await transport.send(server.request(.head))
        _ = try await transport.send(server.request(.put, body: .stream { ByteStream(chunks: [Data("d".utf8)]) }))
        _ = try await transport.send(server.request())
        let plain = try #require(server.requests.last)
        #expect(plain.method == .get)
        #expect(plain.headers.map(\.name).sorted() == ["Accept", "Accept-Encoding", "Host", "User-Agent"])
      }
    }

    @Test func `a stream of known length is sent with its length`() async throws {
      let chunks = [Data(repeating: 1, count: 100_000), Data(), Data(repeating: 2, count: 100_000)]
      let body = RequestBody.stream(contentType: "text/x", length: 200_000) { ByteStream(chunks: chunks) }
      for _ in 1...2 {
        #expect(try await transport.send(server.request(.post, body: body)).text == "200000")
        #expect(server.requests.last?.headers["Content-Length"] == "200000")
        #expect(server.requests.last?.headers["Content-Type"] == "text/x")
      }
    }

    @Test(arguments: [3, 5])
    func `a stream whose length differs from the announced one fails the send`(length: Int64) async throws {
      let body = RequestBody.stream(length: length) { ByteStream(chunks: [Data("12".utf8), Data("34".utf8)]) }
      let error = try await transport.failure(of: server.request(.post, body: body))
      #expect(error.code == .bodyUnreadable)
      #expect(error.message.contains("\(length)"))
      #expect(server.requestCount == 0)
    }

    @Test func `a large file is sent whole, and again`() async throws {
      let file = FileManager.default.temporaryDirectory.appending(path: "curl-\(UUID().uuidString)")
      try Data(count: 5 << 20).write(to: file)
      defer { try? FileManager.default.removeItem(at: file) }
      for _ in 1...2 {
        #expect(try await transport.send(server.request(.put, body: .file(file))).text == "\(5 << 20)")
      }
      try Data().write(to: file)
      #expect(try await transport.send(server.request(.put, body: .file(file))).text == "0")
      #expect(server.requests.last?.headers["Content-Length"] == "0")
    }

    @Test func `a directory is no body`() async throws {
      let request = server.request(.put, body: .file(FileManager.default.temporaryDirectory))
      #expect(try await transport.failure(of: request).code == .bodyUnreadable)
      #expect(server.connectionCount == 0)
    }

    @Test func `a source is read no faster than the server takes the bytes`() async throws {
      let source = CountingSource()
      let gate = LoopbackGate()
      let server = try LoopbackServer(options: .init(recordsRequests: false))
      server.enqueue(.text("done").held(by: gate, at: .accept))
      let body = RequestBody.stream { ByteStream(source) }
      let task = Task { try await self.transport.send(server.request(.post, body: body)) }
      await gate.waitForArrivals(1)
      for _ in 1...50 { _ = try await transport.send(self.server.request()) }
      // The part of 64 MiB that the sockets hold.
      #expect(source.count < 32 << 20)
      gate.open()
      #expect(try await task.value.text == "done")
      #expect(source.count == 64 << 20)
    }

    @Test func `a stream that is not read to its end is cancelled`() async throws {
      let isCancelled = Flag()
      server.enqueue(.status(200).fault(.reset, at: .accept))
      let body = RequestBody.stream { ByteStream(CountingSource()) { isCancelled.raise() } }
      let error = try await transport.failure(of: server.request(.post, body: body))
      await isCancelled.wait()
      // A reset may come before the connection is made, as far as the client can tell.
      #expect([.connectionLost, .cannotConnect].contains(error.code))
    }

    @Test func `a request may set its own length if it allows framing fields`() async throws {
      let request = server.request(.post, headers: ["Content-Length": "3"], body: .data(Data("abc".utf8))) {
        $0.allowsFramingHeaders = true
      }
      #expect(try await transport.send(request).text == "3")
      #expect(server.requests.last?.headers.values(for: "Content-Length") == ["3"])
    }

    @Test func `cookies go out in one field`() async throws {
      var headers: HeaderFields = ["Cookie": "a=1"]
      headers.append("cookie", "b=2")
      _ = try await transport.send(server.request(headers: headers))
      #expect(server.requests.last?.headers.values(for: "Cookie") == ["a=1; b=2"])
    }
  }

  /// 64 MiB, which count themselves.
  private final class CountingSource: AsyncSequence, Sendable {
    typealias Element = Data

    private let lock = NSLock()
    // Protected by `lock`.
    nonisolated(unsafe) private var total = 0

    var count: Int { lock.withLock { total } }

    struct Iterator: AsyncIteratorProtocol {
      let source: CountingSource
      mutating func next() async -> Data? { source.take() }
    }

    func makeAsyncIterator() -> Iterator { Iterator(source: self) }

    private func take() -> Data? {
      lock.withLock {
        guard total < 64 << 20 else { return nil }
        total += 1 << 20
        return Data(count: 1 << 20)
      }
    }
  }

  /// A flag that is raised once and can be waited for.
  private final class Flag: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func raise() { continuation.finish() }

    func wait() async { for await _ in stream {} }
  }

  extension AsyncStream<Data> {
    /// A stream that ends without bytes when a gate opens.
    fileprivate static func held(by gate: TestGate) -> AsyncStream {
      AsyncStream {
        await gate.pass()
        return nil
      }
    }
  }
#endif
