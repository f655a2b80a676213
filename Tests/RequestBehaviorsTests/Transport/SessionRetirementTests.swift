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

    @Test func `a session counts from its retirement to its end`() async throws {
      let count = SessionCount(limit: 1)
      let end = SessionEnd()
      let session = end.makeSession()
      #expect(!count.isFull)
      SessionRetirement(interval: .zero, idleTime: .zero, closingTime: .zero, count: count).begin(session)
      #expect(count.isFull)
      await end.wait()
      #expect(!count.isFull)
    }

    @Test(arguments: ["close", "Close"])
    func `a session ends soon after a response that says that the connection is closed`(value: String) async throws {
      let server = try LoopbackServer { _ in .text("hello").header("Connection", value) }
      let end = SessionEnd()
      let session = end.makeSession()
      let task = session.dataTask(with: try #require(URL(string: "\(server.baseURL)")))
      let slow = SessionRetirement(interval: .milliseconds(1), idleTime: .seconds(3_600), closingTime: .zero)
      task.resume()
      slow.begin(session, only: task)
      await end.wait()
    }

    // Otherwise the process would run out of descriptors, and the platform would end it.
    @Test(arguments: [RequestMethod.post, .patch, "REPORT"])
    func `a request that needs a session over TLS is not sent while too many sessions stay`(
      method: RequestMethod
    ) async throws {
      let server = try LoopbackServer()
      let transport = URLSessionTransport(spool: BodySpool(), sessions: SessionCount(limit: 0))
      let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/"))
      let error = await #expect(throws: NetworkError.self) {
        try await transport.send(NetworkRequest(method, url: url))
      }
      #expect(error?.code == .concurrencyLimited)
      #expect(error?.progress?.stage == .notSent)
      #expect(error?.message.contains("CurlTransport") == true)
      #expect(server.connectionCount == 0)
    }

    @Test func `a request without TLS is sent however many sessions stay`() async throws {
      let server = try LoopbackServer { _ in .text("ok") }
      let transport = URLSessionTransport(spool: BodySpool(), sessions: SessionCount(limit: 0))
      #expect(try await transport.send(server.request(.post)).text == "ok")
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
