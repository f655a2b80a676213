import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

@Suite(.limited) struct ShutdownTests {
  private let clock = ManualClock()
  private let journal = Journal()

  private func client(_ behaviors: any RequestBehavior..., transport: any Transport = MockTransport()) -> NetworkClient
  {
    var configuration = RequestConfiguration(baseURL: baseURL, behaviors: behaviors)
    configuration.clock = clock.requestClock
    return NetworkClient(configuration: configuration, transport: transport)
  }

  private func patient(_ order: BehaviorOrder) -> ClosureBehavior {
    ClosureBehavior("patient", order: order) { request, next in
      try await request.call.clock.sleep(for: .seconds(3_600))
      return try await next(request)
    }
  }

  private func failure<Value: Sendable>(of task: Task<Value, any Error>) async throws -> NetworkError {
    try await #require(throws: NetworkError.self) { try await task.value }
  }

  @Test(arguments: [BehaviorOrder.first, .gate, .retry, .last])
  func `shutdown ends a call that waits in a behavior`(order: BehaviorOrder) async throws {
    let client = client(patient(order), JournalBehavior(name: "a", journal: journal, order: .observation))
    let call = Task { try await client.send(.get("x")) }
    await clock.waitForSleepers(1)
    await client.shutdown()
    let error = try await failure(of: call)
    #expect(error.code == .clientShutDown)
    #expect(error.request?.url.lastPathComponent == "x")
    #expect(journal.count(of: "a.beforeSend") == journal.count(of: "a.afterFailure"))
    #expect(clock.sleeperCount == 0)
  }

  @Test func `the log and the error of a call after the shutdown name its method and URL`() async throws {
    let (records, sink) = AsyncStream.makeStream(of: LogRecord.self)
    let client = client(.logging(ClosureLogSink { sink.yield($0) }))
    await client.shutdown()
    let error = await #expect(throws: NetworkError.self) { try await client.send(.delete("x/\(7)")) }
    #expect(error?.code == .clientShutDown)
    #expect(error?.request?.url.path() == "/v1/x/7")
    sink.finish()
    let lines = await records.reduce(into: []) { $0.append(($1.method, $1.url, $1.endpoint)) }
    #expect(lines.map(\.0) == [.delete])
    #expect(lines.map(\.1) == ["https://api.example.com/v1/x/7"])
    #expect(lines.map(\.2) == ["/v1/x/{}"])
  }

  @Test func `a call that begins after the shutdown or after its deadline has not arrived`() async throws {
    let mock = MockTransport(baseURL: baseURL)
    let client = client(.deadline(.seconds(10)), transport: mock)
    let late = await #expect(throws: NetworkError.self) { try await client.send(.post("x").with(\.deadline, .zero)) }
    #expect(late?.code == .deadlineExceeded)
    #expect(late?.mayHaveArrived == false)
    await client.shutdown()
    let refused = await #expect(throws: NetworkError.self) { try await client.send(.post("x")) }
    #expect(refused?.code == .clientShutDown)
    #expect(refused?.mayHaveArrived == false)
    #expect(mock.sent.isEmpty)
  }

  @Test func `shutdown ends a call that waits in a behavior by other means than the clock`() async throws {
    let arrived = TestGate()
    let never = ManualClock()
    let own = ClosureBehavior("own") { request, next in
      arrived.open()
      try await request.call.wait { await never.waitForSleepers(1) }
      return try await next(request)
    }
    let client = client(own)
    let call = Task { try await client.send(.get("x")) }
    await arrived.pass()
    await client.shutdown()
    #expect(try await failure(of: call).code == .clientShutDown)
  }

  @Test func `shutdown ends calls of variants, and calls that other calls need`() async throws {
    let client = client()
    let variant = client.with { $0.behaviors.append(patient(.middle)) }
    let ofVariant = Task { try await variant.send(.get("x")) }
    await clock.waitForSleepers(1)
    let prerequisite = ClosureBehavior("prerequisite", order: .authentication) { request, next in
      try await next.client().send(.get("token").with(patient(.middle)))
      return try await next(request)
    }
    let needy = client.with { $0.behaviors.append(prerequisite) }
    let ofPrerequisite = Task { try await needy.send(.get("y")) }
    await clock.waitForSleepers(2)
    await client.shutdown()
    #expect(try await failure(of: ofVariant).code == .clientShutDown)
    #expect(try await failure(of: ofPrerequisite).code == .clientShutDown)
  }

  @Test func `shutdown ends a call whose response is still read`() async throws {
    let stream = ByteStream(AsyncThrowingStream<Data, any Error> { _ in })
    let reading = TestGate()
    let watch = ClosureBehavior("watch", afterSuccess: { _, _ in reading.open() })
    let transport = ClosureTransport { NetworkResponse(request: $0, statusCode: 200, body: .stream(stream)) }
    let client = client(watch, transport: transport)
    let call = Task { try await client.send(.get("x").returning(Data.self)) }
    await reading.pass()
    await client.shutdown()
    #expect(try await failure(of: call).code == .clientShutDown)
  }

  @Test func `a call after shutdown is refused, even where a behavior would answer`() async throws {
    let client = client(
      ClosureBehavior("answer") { request, _ in NetworkResponse(request: request, statusCode: 200) })
    try await client.send(.get("x"))
    await client.shutdown()
    await client.shutdown()
    for client in [client, client.with { $0.behaviors = [] }] {
      let error = await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
      #expect(error?.code == .clientShutDown)
    }
  }

  @Test func `shutdown does not cancel the caller's task, and leaves other clients of the transport alone`()
    async throws
  {
    let transport = ClosureTransport()
    let (first, second) = (client(patient(.middle), transport: transport), client(transport: transport))
    let caller = Task {
      await #expect(throws: NetworkError.self) { try await first.send(.get("x")) }
      #expect(!Task.isCancelled)
      try await second.send(.get("y"))
    }
    await clock.waitForSleepers(1)
    await first.shutdown()
    try await caller.value
    #expect(transport.sent.count == 1)
  }

  @Test func `a call whose task is cancelled and whose client is shut down ends with a CancellationError`() async throws
  {
    let client = client(patient(.middle))
    let call = Task { try await client.send(.get("x")) }
    await clock.waitForSleepers(1)
    call.cancel()
    await client.shutdown()
    await #expect(throws: CancellationError.self) { try await call.value }
  }

  @Test func `a response that is being saved when the client is shut down is returned`() async throws {
    let (saving, saved) = (TestGate(), TestGate())
    let save = ClosureBehavior(
      "save", order: .persistence,
      afterSuccess: { _, _ in
        saving.open()
        await saved.pass()
      })
    let client = client(save, transport: ClosureTransport(200, "7"))
    let call = Task { try await client.send(.get("x").returning(Int.self)) }
    await saving.pass()
    await client.shutdown()
    saved.open()
    #expect(try await call.value == 7)
  }
}
