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
    @Test func `a send over URLSession ends at its timeout, and holds no other`() async {
      await #expect(processExitsWith: .success) { try await UnansweredFile().sendUntilTimeout() }
    }

    @Test func `a send over URLSession ends at the shutdown of its transport`() async {
      await #expect(processExitsWith: .success) { try await UnansweredFile().sendUntilShutdown() }
    }
  }

  /// A file on a disk that does not respond, and what may be done with it.
  private final class UnansweredFile: Sendable {
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
