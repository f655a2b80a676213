#if canImport(CRequestBehaviorsCurl)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsCurl
  import RequestBehaviorsTesting
  import Testing

  /// How far an attempt had come that took too long, which decides whether a repeat may do something twice.
  @Suite(.limited) struct CurlTimeoutTests {
    private let clock = ManualClock()
    private var transport: CurlTransport { CurlTransport(clock: clock.requestClock) }

    /// Sends a request, lets its time pass when it is under way, and returns the error.
    private func lateness(
      of request: NetworkRequest, _ isUnderWay: @Sendable () async -> Void
    ) async throws -> NetworkError {
      let transport = transport
      let failure = Task { try await transport.failure(of: request) }
      await isUnderWay()
      await clock.waitForSleepers(1)
      clock.advance(by: .seconds(300))
      return try await failure.value
    }

    @Test func `a timeout that has no components does not end the process`() async throws {
      let server = try LoopbackServer { _ in .text("hello") }
      var request = server.request()
      request.options.idleTimeout = .seconds(Int64.max) * 2
      request.options.timeout = .seconds(Int64.max) * 2
      #expect(try await CurlTransport().send(request).text == "hello")
    }

    @Test func `a request whose response does not come may have arrived`() async throws {
      let server = try LoopbackServer { _ in .text("hello").fault(.stall, at: .request) }
      let request = server.request(.post, body: .data(Data("x".utf8)), clock: clock.requestClock)
      let error = try await lateness(of: request) { _ = await server.waitForRequests(1) }
      #expect(error.code == .timedOut)
      #expect(error.progress?.stage == .sent)
      #expect(error.mayHaveArrived)
      #expect(error.progress?.reusedConnection == false)
    }

    @Test func `a request whose connection is not secured in time cannot have arrived`() async throws {
      // The server accepts the connection and stays silent, so the client waits for its part of the handshake.
      let gate = LoopbackGate()
      let server = try LoopbackServer()
      server.enqueue(.status(200).held(by: gate, at: .accept))
      let url = try #require(URL(string: "https://127.0.0.1:\(server.port)"))
      let request = NetworkRequest(.post, url: url, call: Call(clock: clock.requestClock))
      let error = try await lateness(of: request) { await gate.waitForArrivals(1) }
      #expect(error.code == .timedOut)
      #expect(error.progress?.stage == .notSent)
      #expect(!error.mayHaveArrived)
    }
  }
#endif
