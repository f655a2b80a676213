import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

#if os(Linux) || os(macOS)
  /// Files on a disk that does not respond.
  ///
  /// Each test has a process of its own, because a process has one set of threads for files.
  @Suite(.limited) struct UnansweredFileTests {
    @Test func `a form waits for the size of a file, and its caller can be cancelled`() async {
      await #expect(processExitsWith: .success) { try await UnansweredFile().sendForm() }
    }

    @Test func `a send over URLSession ends at its timeout, and holds no other`() async {
      await #expect(processExitsWith: .success) { try await UnansweredFile().sendUntilTimeout() }
    }

    @Test func `a send over URLSession ends at the shutdown of its transport`() async {
      await #expect(processExitsWith: .success) { try await UnansweredFile().sendUntilShutdown() }
    }
  }

  /// A file on a disk that does not respond, and what may be done with it.
  private final class UnansweredFile: Sendable {
    /// A value that tells when it is encoded.
    private struct Signal: Encodable {
      let isEncoded: Box<Bool>

      func encode(to encoder: any Encoder) throws {
        isEncoded.value = true
        var container = encoder.singleValueContainer()
        try container.encode("value")
      }
    }

    private let file: URL
    private let clock = ManualClock()
    private let held = HeldFiles()

    init() throws {
      file = FileManager.default.temporaryDirectory.appending(path: "unanswered-\(UUID().uuidString)")
      try Data("content".utf8).write(to: file)
    }

    deinit {
      held.release()
      try? FileManager.default.removeItem(at: file)
    }

    func sendForm() async throws {
      let transport = ClosureTransport()
      let client = NetworkClient(transport)
      let isEncoded = Box(false)
      let form = RequestContent.multipart([.file("file", file), .part("value", .json(Signal(isEncoded: isEncoded)))])
      let call = Task { try await client.send(.post("form", body: form)) }
      while !isEncoded.value { await Task.yield() }
      for _ in 0..<1_000 { await Task.yield() }
      #expect(transport.sent.isEmpty)
      call.cancel()
      await #expect(throws: CancellationError.self) { try await call.value }
    }

    func sendUntilTimeout() async throws {
      let server = try LoopbackServer { .text("\($0.body.count)") }
      let transport = URLSessionTransport(clock: clock.requestClock)
      var options = RequestOptions()
      options.timeout = .seconds(5)
      async let failure = transport.failure(of: server.request(.put, body: .file(file), options: options))
      await clock.waitForSleepers(1)
      #expect(try await transport.send(server.request(.put, body: .data(Data("abc".utf8)))).text == "3")
      clock.advance(by: .seconds(5))
      let error = try await failure
      #expect(error.code == .timedOut)
      #expect(error.progress?.stage == .notSent)
    }

    func sendUntilShutdown() async throws {
      let server = try LoopbackServer { .text("\($0.body.count)") }
      let transport = URLSessionTransport(clock: clock.requestClock)
      async let failure = transport.failure(of: server.request(.put, body: .file(file)))
      await clock.waitForSleepers(1)
      await transport.shutdown()
      #expect(try await failure.code == .clientShutDown)
    }
  }
#endif
