#if canImport(CRequestBehaviorsCurl)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsCurl
  import RequestBehaviorsTesting
  import Testing

  @Suite(.limited) struct CurlStreamTests {
    let server: LoopbackServer
    let transport = CurlTransport()
    /// More than sockets and transport hold together.
    static let large = LoopbackResponse.data(Data(repeating: 0x61, count: 65_536), repeated: 1_024)

    init() throws { server = try LoopbackServer { _ in .text("other") } }

    @Test func `a streamed response has its head before its body is complete`() async throws {
      let gate = LoopbackGate()
      server.enqueue(.text("12345", status: 203).header("X", "1").held(by: gate, at: .body(after: 2)))
      var request = server.request()
      request.options.delivery = .streamed
      let response = try await transport.send(request)
      #expect(response.statusCode == 203)
      #expect(response.headers["X"] == "1")
      #expect(response.timings.connection?.remoteAddress == "127.0.0.1:\(server.port)")
      gate.open()
      #expect(try await response.buffered().text == "12345")
    }

    @Test func `chunks come as the server sends them`() async throws {
      let gate = LoopbackGate()
      server.enqueue(.text("12345").held(by: gate, at: .body(after: 2)))
      var iterator = try await transport.stream(server.request()).makeAsyncIterator()
      #expect(try await iterator.next() == Data("12".utf8))
      gate.open()
      #expect(try await iterator.next() == Data("345".utf8))
      #expect(try await iterator.next() == nil)
      #expect(try await iterator.next() == nil)
    }

    @Test func `a server waits for a slow reader, and the reader gets all`() async throws {
      let end = LoopbackGate()
      server.enqueue(Self.large.held(by: end, at: .end))
      var iterator = try await transport.stream(server.request()).makeAsyncIterator()
      var count = try await iterator.next()?.count ?? 0
      // Others continue meanwhile, on the same thread.
      for _ in 1...50 { _ = try await transport.send(server.request()) }
      #expect(end.arrivalCount == 0)
      end.open()
      while let chunk = try await iterator.next() { count += chunk.count }
      #expect(count == 64 << 20)
    }

    @Test func `bytes that arrive one by one before a read are joined`() async throws {
      let end = LoopbackGate()
      let bytes = 100_000
      // Each chunk is six bytes on the wire: its size, its byte, and the ends of two lines.
      let chunks = LoopbackResponse.chunked(Array(repeating: Data([0x61]), count: bytes))
      server.enqueue(chunks.held(by: end, at: .body(after: 6 * bytes)))
      var iterator = try await transport.stream(server.request()).makeAsyncIterator()
      await end.waitForArrivals(1)
      // The loop serves both responses in each of its turns. So it has read the stream's 600 kB by the end of these
      // 64 MiB, however slow it is.
      server.enqueue(Self.large)
      _ = try await transport.send(server.request())
      end.open()
      var lengths: [Int] = []
      while let chunk = try await iterator.next() { lengths.append(chunk.count) }
      #expect(lengths.reduce(0, +) == bytes)
      #expect(lengths.count < bytes / 100)
    }

    @Test func `a stream that is dropped unread closes its connection`() async throws {
      for _ in 1...20 {
        server.enqueue(Self.large)
        _ = try await transport.stream(server.request())
      }
      await server.waitForConnections(atMost: 0)
      #expect(server.connectionCount == 20)
    }

    @Test func `leaving the loop over a stream closes its connection`() async throws {
      server.enqueue(Self.large)
      do {
        for try await _ in try await transport.stream(server.request()) { break }
      }
      await server.waitForConnections(atMost: 0)
      #expect(server.connectionCount == 1)
    }

    @Test func `cancelling a stream ends its reader and its connection`() async throws {
      server.enqueue(.text("12345").fault(.stall, at: .body(after: 2)))
      let stream = try await transport.stream(server.request())
      var iterator = stream.makeAsyncIterator()
      _ = try await iterator.next()
      stream.cancel()
      await #expect(throws: CancellationError.self) { try await iterator.next() }
      await server.waitForConnections(atMost: 0)
    }

    @Test func `cancelling the task that reads a stream ends the connection`() async throws {
      let reached = LoopbackGate()
      server.enqueue(.text("12345").held(by: reached, at: .body(after: 2)))
      let task = Task { [transport, server] in
        for try await _ in try await transport.stream(server.request()) {}
      }
      await reached.waitForArrivals(1)
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      await server.waitForConnections(atMost: 0)
    }

    @Test(arguments: [
      (LoopbackFault.close, NetworkError.Code.truncatedBody), (.reset, .connectionLost),
    ])
    func `bytes that came before a failure are delivered before the error`(
      fault: LoopbackFault, code: NetworkError.Code
    ) async throws {
      server.enqueue(.text("12345").fault(fault, at: .body(after: 2)))
      var iterator = try await transport.stream(server.request()).makeAsyncIterator()
      #expect(try await iterator.next() == Data("12".utf8))
      let error = await #expect(throws: NetworkError.self) { try await iterator.next() }
      #expect(error?.code == code)
      #expect(error?.request != nil)
    }

    @Test func `shutdown ends a stream in its middle`() async throws {
      server.enqueue(.text("12345").fault(.stall, at: .body(after: 2)))
      var iterator = try await transport.stream(server.request()).makeAsyncIterator()
      _ = try await iterator.next()
      await transport.shutdown()
      let error = await #expect(throws: NetworkError.self) { try await iterator.next() }
      #expect(error?.code == .clientShutDown)
    }

    @Test func `an open stream keeps its transport, and the last of both closes the connection`() async throws {
      let gate = LoopbackGate()
      server.enqueue(.text("12345").held(by: gate, at: .body(after: 2)))
      var iterator = try await CurlTransport().stream(server.request()).makeAsyncIterator()
      _ = try await iterator.next()
      gate.open()
      #expect(try await iterator.next() == Data("345".utf8))
      #expect(try await iterator.next() == nil)
      iterator = ByteStream(chunks: []).makeAsyncIterator()
      await server.waitForConnections(atMost: 0)
    }

    @Test func `the idle timeout pauses while the reader is slow, and the total one continues`() async throws {
      let clock = ManualClock()
      let transport = CurlTransport(clock: clock.requestClock)
      server.enqueue(Self.large)
      let request = server.request(clock: clock.requestClock) {
        $0.idleTimeout = .seconds(10)
        $0.timeout = .seconds(1_000)
      }
      var iterator = try await transport.stream(request).makeAsyncIterator()
      _ = try await iterator.next()
      for _ in 1...50 { _ = try await transport.send(server.request()) }
      clock.advance(by: .seconds(20))
      for _ in 1...50 { _ = try await transport.send(server.request()) }
      for _ in 1...100 { #expect(try await iterator.next() != nil) }
      clock.advance(by: .seconds(1_000))
      let error = await #expect(throws: NetworkError.self) { while try await iterator.next() != nil {} }
      #expect(error?.code == .timedOut)
    }

    @Test func `a compressed stream of a slow reader is decoded within bounds`() async throws {
      let bomb = try #require(Data(base64Encoded: CurlResponseTests.compressedZeros))
      server.enqueue(.data(bomb).header("Content-Encoding", "gzip"))
      var count = 0
      for try await chunk in try await transport.stream(server.request()) {
        count += chunk.count
        _ = try await transport.send(server.request())
      }
      #expect(count == 1 << 20)
    }

    @Test func `a decoded stream has every byte in its place, whenever its reader pauses`() async throws {
      // 1 MiB of "abcdefg" again and again, compressed by gzip.
      let base64 =
        "H4sIAAAAAAACA+3FMQEAMAgAoKzqpv0b2MEbHiLr/Z6Q" + String(repeating: "JEmS", count: 507)
        + "JEm6tiM9rwQAABAA"
      let compressed = try #require(Data(base64Encoded: base64))
      for pause in [1, 3, 1_000] {
        server.enqueue(
          .data(compressed).header("Content-Encoding", "gzip").throttled(bytes: 100, every: .microseconds(100)))
        var all = Data()
        var chunks = 0
        for try await chunk in try await transport.stream(server.request()) {
          all.append(chunk)
          chunks += 1
          if chunks % pause == 0 { _ = try await transport.send(server.request()) }
        }
        #expect(all.count == 1 << 20)
        let letters = Array("abcdefg".utf8)
        #expect(all.enumerated().allSatisfy { $0.element == letters[$0.offset % 7] })
      }
    }

    @Test func `a streamed response of a refused head is an error, and its connection is closed`() async throws {
      server.enqueue(.raw("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 3\r\n\r\n12345", closes: false))
      await #expect(throws: NetworkError.self) { try await transport.stream(server.request()) }
      await server.waitForConnections(atMost: 0)
    }
  }
#endif
