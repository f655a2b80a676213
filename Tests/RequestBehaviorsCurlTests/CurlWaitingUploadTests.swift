#if os(Linux)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsCurl
  import RequestBehaviorsTesting
  import Testing

  /// Files that wait for a connection before they are sent.
  @Suite(.limited) struct CurlWaitingUploadTests {
    private let file = FileManager.default.temporaryDirectory.appending(path: "waits-\(UUID().uuidString)")
    private let server: LoopbackServer
    private let transport: CurlTransport
    private let gate = LoopbackGate()

    init() throws {
      server = try LoopbackServer { .text(String(decoding: $0.body, as: UTF8.self)) }
      var settings = CurlTransport.Configuration()
      settings.maximumConnectionsPerHost = 1
      transport = CurlTransport(configuration: settings)
      try write("12345")
    }

    private func write(_ text: String, isAtomic: Bool = false) throws {
      try Data(text.utf8).write(to: file, options: isAtomic ? .atomic : [])
    }

    /// Begins a send that has the only connection until the gate opens.
    private func occupy() async -> Task<NetworkResponse, any Error> {
      server.enqueue(.text("first").held(by: gate, at: .head(after: 0)))
      let first = Task { try await transport.send(server.request()) }
      await gate.waitForArrivals(1)
      return first
    }

    /// Begins to send the file, and returns when the send waits for the connection.
    private func begin() async -> Task<String, any Error> {
      let progress = TransferProgress()
      let request = server.request(.put, body: .file(file)) { $0.progress = progress }
      let task = Task { try await transport.send(request).text }
      for await state in progress.states where state.attempt > 0 { break }
      return task
    }

    private func openCount() throws -> Int {
      let folder = "/proc/self/fd"
      return try FileManager.default.contentsOfDirectory(atPath: folder).count {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) == file.path
      }
    }

    @Test func `a file that waits for a connection is not open`() async throws {
      defer { try? FileManager.default.removeItem(at: file) }
      let first = await occupy()
      var waiting: [Task<String, any Error>] = []
      for _ in 1...200 { waiting.append(await begin()) }
      #expect(try openCount() == 0)
      gate.open()
      #expect(try await first.value.text == "first")
      for task in waiting { #expect(try await task.value == "12345") }
      #expect(server.connectionCount == 1)
    }

    @Test func `a file that grows while it waits arrives as long as it was`() async throws {
      defer { try? FileManager.default.removeItem(at: file) }
      let first = await occupy()
      let waiting = await begin()
      let handle = try FileHandle(forWritingTo: file)
      try handle.seekToEnd()
      try handle.write(contentsOf: Data("678".utf8))
      gate.open()
      _ = try await first.value
      #expect(try await waiting.value == "12345")
    }

    @Test(arguments: ["", "1", "123456789"])
    func `a file that becomes another one of another length while it waits fails the send`(text: String) async throws {
      defer { try? FileManager.default.removeItem(at: file) }
      let first = await occupy()
      let waiting = await begin()
      try write(text, isAtomic: true)
      gate.open()
      _ = try await first.value
      let error = await #expect(throws: NetworkError.self) { try await waiting.value }
      #expect(error?.code == .bodyUnreadable)
      // The next send reads the present file.
      #expect(try await transport.send(server.request(.put, body: .file(file))).text == text)
    }

    @Test func `a file that is cut off or removed while it waits fails the send`() async throws {
      let first = await occupy()
      let waiting = await begin()
      try write("1")
      gate.open()
      _ = try await first.value
      let error = await #expect(throws: NetworkError.self) { try await waiting.value }
      #expect(error?.code == .bodyUnreadable)

      gate.close()
      let second = await occupy()
      let other = await begin()
      try FileManager.default.removeItem(at: file)
      gate.open()
      _ = try await second.value
      let otherError = await #expect(throws: NetworkError.self) { try await other.value }
      #expect(otherError?.code == .bodyUnreadable)
      #expect(try await transport.send(server.request()).statusCode == 200)
    }

    @Test func `a send that is cancelled while it waits never opens its file`() async throws {
      defer { try? FileManager.default.removeItem(at: file) }
      let first = await occupy()
      let waiting = await begin()
      waiting.cancel()
      await #expect(throws: CancellationError.self) { try await waiting.value }
      #expect(try openCount() == 0)
      gate.open()
      _ = try await first.value
      #expect(server.requestCount == 1)
    }
  }
#endif
