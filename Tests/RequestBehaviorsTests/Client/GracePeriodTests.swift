import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// The end of a client that lets the calls under way end.
@Suite(.limited) struct GracePeriodTests {
  private let clock = ManualClock()
  private let arrived = TestGate()
  private let released = TestGate()

  private func client(_ behaviors: any RequestBehavior..., transport: any Transport = ClosureTransport())
    -> NetworkClient
  {
    var configuration = RequestConfiguration(baseURL: baseURL, behaviors: behaviors)
    configuration.clock = clock.requestClock
    return NetworkClient(configuration: configuration, transport: transport)
  }

  /// A behavior that holds each request up until the test releases it.
  private var held: ClosureBehavior {
    ClosureBehavior("held", order: .retry) { [arrived, released] request, next in
      arrived.open()
      await released.pass()
      return try await next(request)
    }
  }

  private var patient: ClosureBehavior {
    ClosureBehavior("patient", order: .retry) { [arrived] request, next in
      arrived.open()
      try await request.call.clock.sleep(for: .seconds(3_600))
      return try await next(request)
    }
  }

  /// Begins a call that a behavior delays, and then a period of 20 seconds.
  ///
  /// - Parameters:
  ///   - client: The client.
  ///   - sleepers: The number of waits on the clock that the call has.
  /// - Returns: The tasks of the call and of the shutdown.
  private func endDuringCall(
    of client: NetworkClient, sleepers: Int = 0
  ) async -> (call: Task<Void, any Error>, end: Task<Void, Never>) {
    let call = Task { try await client.send(.get("x")) }
    await arrived.pass()
    let end = Task { await client.shutdown(gracePeriod: .seconds(20)) }
    await clock.waitForSleepers(sleepers + 1)
    return (call, end)
  }

  private func failure<Value: Sendable>(of task: Task<Value, any Error>) async throws -> NetworkError {
    try await #require(throws: NetworkError.self) { try await task.value }
  }

  @Test func `a call under way gets its response, and new calls are refused meanwhile`() async throws {
    let client = client(held, transport: ClosureTransport(200, "7"))
    let call = Task { try await client.send(.get("x").returning(Int.self)) }
    await arrived.pass()
    let end = Task { await client.shutdown(gracePeriod: .seconds(20)) }
    await clock.waitForSleepers(1)
    for client in [client, client.with { $0.behaviors = [] }] {
      let error = await #expect(throws: NetworkError.self) { try await client.send(.get("late")) }
      #expect(error?.code == .clientShutDown)
      #expect(error?.request?.url.lastPathComponent == "late")
    }
    released.open()
    #expect(try await call.value == 7)
    await end.value
    #expect(clock.sleeperCount == 0)
  }

  @Test func `calls under way at the end of the period are ended`() async throws {
    let client = client(patient)
    let (call, end) = await endDuringCall(of: client, sleepers: 1)
    clock.advance(by: .seconds(19))
    #expect(clock.sleeperCount == 2)
    clock.advance(by: .seconds(1))
    #expect(try await failure(of: call).code == .clientShutDown)
    await end.value
  }

  @Test(arguments: [Duration.zero, .seconds(-1)])
  func `a period of zero is a shutdown at once`(period: Duration) async throws {
    let client = client(patient)
    let call = Task { try await client.send(.get("x")) }
    await arrived.pass()
    await client.shutdown(gracePeriod: period)
    #expect(try await failure(of: call).code == .clientShutDown)
  }

  @Test func `a call under way makes the calls that it needs`() async throws {
    let transport = ClosureTransport()
    let needy = ClosureBehavior("needy", order: .authentication) { request, next in
      try await next.client().send(.get("token"))
      return try await next(request)
    }
    let client = client(held, needy, transport: transport)
    let (call, end) = await endDuringCall(of: client)
    released.open()
    try await call.value
    await end.value
    #expect(transport.sent.map(\.url.lastPathComponent) == ["token", "x"])
  }

  @Test func `a call under way is retried`() async throws {
    let statuses = Locked([503, 200])
    let transport = ClosureTransport { request in
      NetworkResponse(request: request, statusCode: statuses.withLock { $0.removeFirst() })
    }
    let client = client(.retry(), transport: transport)
    let call = Task { try await client.send(.get("x")) }
    await clock.waitForSleepers(1)
    let end = Task { await client.shutdown(gracePeriod: .seconds(600)) }
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(60))
    try await call.value
    await end.value
    #expect(transport.sent.count == 2)
  }

  @Test func `a stream is read to its end`() async throws {
    let (bytes, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
    let transport = ClosureTransport {
      NetworkResponse(request: $0, statusCode: 200, body: .stream(ByteStream(bytes)))
    }
    let client = client(transport: transport)
    let response = try await client.stream(.get("x"))
    let end = Task { await client.shutdown(gracePeriod: .seconds(20)) }
    await clock.waitForSleepers(1)
    continuation.yield(Data("late".utf8))
    continuation.finish()
    #expect(try await response.buffered().text == "late")
    await end.value
  }

  @Test func `a released stream counts as ended`() async throws {
    let transport = ClosureTransport {
      NetworkResponse(request: $0, statusCode: 200, body: .stream(ByteStream(AsyncThrowingStream { _ in })))
    }
    let client = client(transport: transport)
    _ = try await client.stream(.get("x"))
    await client.shutdown(gracePeriod: .seconds(20))
  }

  @Test func `a cancellation ends the period`() async throws {
    let client = client(patient)
    let (call, end) = await endDuringCall(of: client, sleepers: 1)
    end.cancel()
    await end.value
    #expect(try await failure(of: call).code == .clientShutDown)
  }

  @Test func `a shutdown ends the period`() async throws {
    let client = client(patient)
    let (call, end) = await endDuringCall(of: client, sleepers: 1)
    await client.shutdown()
    await end.value
    #expect(try await failure(of: call).code == .clientShutDown)
    #expect(clock.sleeperCount == 0)
  }

  @Test func `two periods end with the last call`() async throws {
    let client = client(held)
    let call = Task { try await client.send(.get("x")) }
    await arrived.pass()
    let ends = [20, 30].map { seconds in Task { await client.shutdown(gracePeriod: .seconds(seconds)) } }
    await clock.waitForSleepers(2)
    released.open()
    try await call.value
    for end in ends { await end.value }
  }

  @Test func `the log of a call under way is complete before the client has ended`() async throws {
    let lines = Locked(0)
    let client = client(held, .logging(ClosureLogSink { _ in lines.withLock { $0 += 1 } }))
    let (call, end) = await endDuringCall(of: client)
    released.open()
    await end.value
    #expect(lines.withLock { $0 } == 1)
    try await call.value
  }

  @Test func `a finished call of every kind is no longer waited for`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "grace-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let transport = ClosureTransport { request in
      if request.url.lastPathComponent == "broken" { throw NetworkError(.connectionLost, "lost") }
      let status = request.url.lastPathComponent == "missing" ? 404 : 200
      return NetworkResponse(request: request, statusCode: status, body: .data(Data("7".utf8)))
    }
    let client = client(transport: transport)
    try await client.send(.get("x"))
    #expect(try await client.send(.get("x").returning(Int.self)) == 7)
    #expect(try await client.response(for: .get("x").returning(Int.self)).value == 7)
    #expect(try await client.send(.get("x").returning(NetworkResponse.self)).text == "7")
    #expect(try await client.stream(.get("x")).buffered().text == "7")
    _ = try await client.download(.get("x"), to: folder.appending(path: "file"))
    await #expect(throws: (any Error).self) { try await client.send(.get("x").returning([String].self)) }
    for path: RequestPath in ["broken", "missing"] {
      await #expect(throws: NetworkError.self) { try await client.send(.get(path)) }
      await #expect(throws: NetworkError.self) { try await client.send(.get(path).returning(Int.self)) }
      await #expect(throws: NetworkError.self) { try await client.stream(.get(path)) }
      await #expect(throws: NetworkError.self) {
        try await client.download(.get(path), to: folder.appending(path: "file"))
      }
    }
    await #expect(throws: NetworkError.self) { try await client.send(.get("\("..")")) }
    let cancelled = Task { try await client.with { $0.behaviors = [patient] }.send(.get("x")) }
    await arrived.pass()
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    await client.shutdown(gracePeriod: .seconds(20))
  }

  @Test func `a response on its way over a real connection arrives`() async throws {
    let gate = LoopbackGate()
    let server = try LoopbackServer { request in
      request.path == "/x" ? .text("late").held(by: gate, at: .body(after: 2)) : .text("")
    }
    let client = NetworkClient(baseURL: server.baseURL)
    let call = Task { try await client.send(.get("x").returning(NetworkResponse.self)).text }
    await gate.waitForArrivals(1)
    let end = Task { await client.shutdown(gracePeriod: .seconds(60)) }
    // Until the period has begun, calls are sent.
    while (try? await client.send(.get("free"))) != nil {}
    gate.open()
    #expect(try await call.value == "late")
    await end.value
    await server.waitForConnections(atMost: 0)
  }
}
