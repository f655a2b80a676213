import Foundation
import RequestBehaviors
import RequestBehaviorsCurl
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Work that runs on the thread of a transport.
@Suite(.limited) struct CurlRunTests {
  private func makeServer() throws -> LoopbackServer {
    try LoopbackServer { .text("\($0.method) \($0.path)") }
  }

  @Test func `work runs on the thread of the transport`() async throws {
    let transport = CurlTransport()
    #expect(await transport.run { transport.isOnItsThread })
  }

  @Test func `work still runs there after a request`() async throws {
    let server = try makeServer()
    let transport = CurlTransport()
    let client = NetworkClient(baseURL: server.baseURL, transport: transport)
    let isThere = try await transport.run {
      let _: String = try await client.send(.get("a"))
      return transport.isOnItsThread
    }
    #expect(isThere)
  }

  @Test func `a behavior runs on the thread of the transport`() async throws {
    let server = try makeServer()
    let transport = CurlTransport()
    let places = Box<[Bool]>([])
    let client = NetworkClient(
      baseURL: server.baseURL,
      behaviors: [
        ClosureBehavior(afterSuccess: { _, _ in places.update { $0.append(transport.isOnItsThread) } })
      ], transport: transport)
    try await transport.run { try await client.send(.get("a")) }
    #expect(places.value == [true])
  }

  @Test func `work still runs there after a request with a token`() async throws {
    let server = try makeServer()
    let transport = CurlTransport()
    let session = TokenSession(source: .closure { _ in AccessToken("a", lifetime: .seconds(60)) })
    let places = Box<[Bool]>([])
    let client = NetworkClient(
      baseURL: server.baseURL,
      behaviors: [
        .tokenAuth(session),
        ClosureBehavior(afterSuccess: { _, _ in places.update { $0.append(transport.isOnItsThread) } }),
      ], transport: transport)
    try await transport.run {
      for _ in 0..<3 { try await client.send(.get("a")) }
    }
    #expect(places.value == [true, true, true])
  }

  @Test(arguments: ["none", "deadline", "coalescing", "hedging", "two sends"])
  func `behaviors run on that thread before and after a wait, beside behaviors that begin tasks`(kind: String)
    async throws
  {
    let outer: [any RequestBehavior] =
      switch kind {
      case "deadline": [.deadline(.seconds(60))]
      case "coalescing": [.coalescing()]
      case "hedging": [.hedging(after: .seconds(60))]
      // The first send is late at once, so both are on their way.
      case "two sends": [.hedging(after: .zero, budget: .unlimited)]
      default: []
      }
    let server = try makeServer()
    let transport = CurlTransport()
    let places = Box<[Bool]>([])
    let own = ClosureBehavior("own", order: .last) { request, next in
      places.update { $0.append(transport.isOnItsThread) }
      defer { places.update { $0.append(transport.isOnItsThread) } }
      return try await next(request)
    }
    let client = NetworkClient(baseURL: server.baseURL, behaviors: outer + [own], transport: transport)
    try await transport.run { try await client.send(.get("a")) }
    #expect(places.value.count >= 2)
    #expect(places.value.allSatisfy { $0 })
  }

  @Test func `behaviors of a task that the work creates run on another thread`() async throws {
    let server = try makeServer()
    let transport = CurlTransport()
    let places = Box<[Bool]>([])
    let own = ClosureBehavior("own", order: .last) { request, next in
      defer { places.update { $0.append(transport.isOnItsThread) } }
      return try await next(request)
    }
    let client = NetworkClient(
      baseURL: server.baseURL, behaviors: [.deadline(.seconds(60)), own], transport: transport)
    let created = await transport.run { Task { try await client.send(.get("a")) } }
    try await created.value
    #expect(places.value == [false])
  }

  @Test func `every send of a call with a deadline begins on the thread of the transport`() async throws {
    let server = try LoopbackServer { _ in .status(503) }
    let transport = CurlTransport()
    let places = Box<[Bool]>([])
    let own = ClosureBehavior(
      "own", order: .last, modify: { _ in places.update { $0.append(transport.isOnItsThread) } })
    var configuration = RequestConfiguration(
      baseURL: server.baseURL, behaviors: [.deadline(.seconds(600)), .retry(), own])
    configuration.clock = .immediate
    let client = NetworkClient(configuration: configuration, transport: transport)
    _ = await transport.run { try? await client.send(.get("a")) }
    #expect(places.value.count > 1)
    #expect(places.value.allSatisfy { $0 })
  }

  @Test func `child tasks run on the thread of the transport`() async throws {
    let transport = CurlTransport()
    let places = await transport.run {
      await withTaskGroup(of: Bool.self) { group in
        for _ in 0..<8 { group.addTask { transport.isOnItsThread } }
        return await group.reduce(into: []) { $0.append($1) }
      }
    }
    #expect(places == Array(repeating: true, count: 8))
  }

  @Test func `code of the main actor runs on another thread`() async throws {
    let transport = CurlTransport()
    let isThere = await transport.run { await MainActor.run { transport.isOnItsThread } }
    #expect(isThere == false)
  }

  @Test func `the error of the work is thrown`() async throws {
    await #expect(throws: Failure("the work")) { try await CurlTransport().run { throw Failure("the work") } }
  }

  @Test func `many requests at a time all get their own response`() async throws {
    let server = try makeServer()
    let transport = CurlTransport()
    let client = NetworkClient(baseURL: server.baseURL, transport: transport)
    let wrong = try await transport.run {
      try await withThrowingTaskGroup(of: Bool.self) { group in
        for number in 0..<500 {
          group.addTask {
            let text: String = try await client.send(.get("n/\(number)"))
            return text.hasSuffix("/n/\(number)")
          }
        }
        return try await group.reduce(into: 0) { $0 += $1 ? 0 : 1 }
      }
    }
    #expect(wrong == 0)
  }

  @Test func `a streamed body is read on the thread of the transport`() async throws {
    let server = try LoopbackServer { _ in .text(String(repeating: "0123456789", count: 50_000)) }
    let transport = CurlTransport()
    let client = NetworkClient(baseURL: server.baseURL, transport: transport)
    let count = try await transport.run {
      let response = try await client.stream(.get("long"))
      guard case .stream(let stream) = response.body else { return 0 }
      var count = 0
      for try await chunk in stream { count += chunk.count }
      return count
    }
    #expect(count == 500_000)
  }

  @Test func `transfers continue beside work that never waits`() async throws {
    let server = try makeServer()
    let transport = CurlTransport()
    let client = NetworkClient(baseURL: server.baseURL, transport: transport)
    let isDone = Box(false)
    try await transport.run {
      async let busy: Void = { while !isDone.value { await Task.yield() } }()
      let _: String = try await client.send(.get("a"))
      isDone.value = true
      await busy
    }
    #expect(isDone.value)
  }

  @Test func `a request of the work is cancelled at once`() async throws {
    let gate = TestGate()
    let server = try LoopbackServer { _ in
      await gate.pass()
      return .text("late")
    }
    let transport = CurlTransport()
    let client = NetworkClient(baseURL: server.baseURL, transport: transport)
    let task = Task { try await transport.run { try await client.send(.get("a")) } }
    await gate.waitForArrivals(1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    gate.open()
  }

  @Test func `work that shuts the transport down comes to its end`() async throws {
    let server = try makeServer()
    let transport = CurlTransport()
    let client = NetworkClient(baseURL: server.baseURL, transport: transport)
    let error = await #expect(throws: NetworkError.self) {
      try await transport.run {
        let _: String = try await client.send(.get("a"))
        await transport.shutdown()
        let _: String = try await client.send(.get("b"))
      }
    }
    #expect(error?.code == .clientShutDown)
  }

  @Test func `a response arrives during a grace period that the work waits for`() async throws {
    let gate = LoopbackGate()
    let server = try LoopbackServer { request in
      request.path == "/x" ? .text("late").held(by: gate, at: .body(after: 2)) : .text("")
    }
    let transport = CurlTransport()
    let client = NetworkClient(baseURL: server.baseURL, transport: transport)
    let text = try await transport.run {
      async let text = client.send(.get("x").returning(NetworkResponse.self)).text
      await gate.waitForArrivals(1)
      async let end: Void = client.shutdown(gracePeriod: .seconds(60))
      // Until the period has begun, calls are sent.
      while (try? await client.send(.get("free"))) != nil {}
      gate.open()
      await end
      return try await text
    }
    #expect(text == "late")
    await server.waitForConnections(atMost: 0)
  }

  @Test func `work that begins after the shutdown runs on another thread`() async throws {
    let transport = CurlTransport()
    await transport.shutdown()
    #expect(await transport.run { transport.isOnItsThread } == false)
  }

  @Test func `work that waits during the shutdown completes`() async throws {
    let (transport, gate) = (CurlTransport(), TestGate())
    let task = Task { await transport.run { await gate.pass() } }
    await gate.waitForArrivals(1)
    await transport.shutdown()
    gate.open()
    await task.value
  }

  @Test func `work of one transport can make and use another transport`() async throws {
    let server = try makeServer()
    let status = try await CurlTransport().run {
      try await CurlTransport().send(NetworkRequest(url: server.baseURL)).statusCode
    }
    #expect(status == 200)
  }

  @Test func `work of one transport can run work of another`() async throws {
    let (outer, inner) = (CurlTransport(), CurlTransport())
    let places = await outer.run {
      let within = await inner.run { inner.isOnItsThread }
      return [within, outer.isOnItsThread]
    }
    #expect(places == [true, true])
  }

  // MARK: - Work that blocks

  private func reports(of duration: Duration) async -> [Duration] {
    let clock = ManualClock()
    let reports = Box<[Duration]>([])
    var configuration = CurlTransport.Configuration()
    configuration.blockingReport = { duration in reports.update { $0.append(duration) } }
    let transport = CurlTransport(configuration: configuration, clock: clock.requestClock)
    await transport.run { clock.advance(by: duration) }
    // The report comes after the job, and the shutdown after both.
    await transport.shutdown()
    return reports.value
  }

  @Test func `a part of the work that holds the thread for long is reported`() async throws {
    #expect(await reports(of: .milliseconds(25)) == [.milliseconds(25)])
  }

  @Test func `a short part of the work is not reported`() async throws {
    #expect(await reports(of: .milliseconds(10)) == [])
  }
}
