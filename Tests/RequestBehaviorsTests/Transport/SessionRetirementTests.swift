#if os(Linux)
  import Foundation
  import FoundationNetworking
  import RequestBehaviors
  import RequestBehaviorsTesting
  import TestSupport
  import Testing

  @Suite(.limited) struct SessionRetirementTests {
    /// A retirement that does not wait.
    private let retirement = SessionRetirement(interval: .zero, idleTime: .zero, closingTime: .zero)

    @Test func `a session without tasks ends`() async throws {
      let end = SessionEnd()
      retirement.begin(end.makeSession())
      await end.wait()
    }

    @Test func `a task goes on to its end before its session ends`() async throws {
      let gate = LoopbackGate()
      let server = try LoopbackServer()
      server.enqueue(.text("hello").held(by: gate))
      let end = SessionEnd()
      let session = end.makeSession()
      let (bodies, continuation) = AsyncStream.makeStream(of: Data?.self)
      session.dataTask(with: try #require(URL(string: "\(server.baseURL)"))) { data, _, _ in
        continuation.yield(data)
      }.resume()
      await gate.waitForArrivals(1)
      retirement.begin(session)
      // The session tells of its tasks in the order in which it was asked.
      #expect(await withCheckedContinuation { told in session.getAllTasks { told.resume(returning: $0.count) } } == 1)
      gate.open()
      #expect(await bodies.first { _ in true } == Data("hello".utf8))
      await end.wait()
    }
  }

  /// Notices the end of a session.
  private final class SessionEnd: NSObject, URLSessionDelegate, Sendable {
    private let (ends, continuation) = AsyncStream.makeStream(of: Void.self)

    func makeSession() -> URLSession { URLSession(configuration: .ephemeral, delegate: self, delegateQueue: nil) }

    func wait() async { _ = await ends.first { _ in true } }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) { continuation.yield() }
  }
#endif
