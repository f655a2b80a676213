import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import TestSupport
import Testing

/// An outbox beside the other parts of a client, and beside methods and behaviors of the user's that go wrong.
@Suite(.limited) struct OutboxMeetingTests {
  private static let anyone = OutboxConfiguration(trust: .anyone)

  // MARK: Behaviors of the user's

  @Test(arguments: [BehaviorOrder.first, .middle], [200, 422])
  func `a response that a behavior makes up is neither a delivery nor a refusal`(
    order: BehaviorOrder, status: Int
  ) async throws {
    let isMaking = Shared(true)
    let world = try OutboxWorld()
    let making = ClosureBehavior(
      "making", order: order,
      intercept: { request, next in
        guard isMaking.value else { return try await next(request) }
        return NetworkResponse(request: request, statusCode: status)
      })
    let outbox = try await world.outbox(world.client([making]), Self.anyone)
    try await outbox.enqueue(Ping(number: 1))
    try await outbox.drain()
    #expect(world.sent.isEmpty)
    #expect(try await world.states == [0])
    isMaking.value = false
    #expect(try await outbox.drain().isEmpty)
    #expect(world.sent.count == 1)
  }

  @Test func `a behavior that asks for the outcome after a 202 delivers an entry`() async throws {
    let mock = MockTransport { request in
      var headers = HeaderFields()
      headers["X-API-Nonce"] = request.headers["X-API-Nonce"]
      headers["Location"] = request.method == .post ? "/jobs/1" : nil
      return NetworkResponse(request: request, statusCode: request.method == .post ? 202 : 200, headers: headers)
    }
    let world = try OutboxWorld(mock)
    let asking = ClosureBehavior(
      "asking",
      intercept: { request, next in
        let response = try await next(request)
        guard response.statusCode == 202, let job = response.headers["Location"] else { return response }
        return try await next(request.moved(to: job).convertedToGet())
      })
    let outbox = try await world.outbox(world.client([asking]), Self.anyone)
    try await outbox.enqueue(Ping(number: 1))
    #expect(try await outbox.drain().isEmpty)
    #expect(world.sent == ["POST /pings/1", "GET /jobs/1"])
    #expect(try await world.states == [5])
  }

  @Test(arguments: [false, true])
  func `a behavior that stops the outbox while it serves an entry does not wait for itself`(
    isSuspending: Bool
  ) async throws {
    let world = try OutboxWorld()
    let stopped = Shared<Outbox?>(nil)
    let stopping = ClosureBehavior(
      "stopping",
      beforeSend: { _ in
        if isSuspending { await stopped.value?.suspend() } else { await stopped.value?.stop() }
      })
    let outbox = try await world.outbox(world.client([stopping]), Self.anyone)
    stopped.value = outbox
    try await outbox.enqueue(Ping(number: 1))
    try await outbox.drain()
    // Here it waits, and the claim is given back.
    await outbox.stop()
    #expect(world.sent.isEmpty)
    #expect(try await world.states == [0])
    stopped.value = nil
    outbox.resume()
    #expect(try await outbox.drain().isEmpty)
    #expect(world.sent == ["POST /pings/1"])
  }

  @Test func `a task that a behavior creates to stop the outbox waits for the entry that is served`() async throws {
    let (world, stopped, gate) = (try OutboxWorld(), Shared<Outbox?>(nil), TestGate())
    let (order, task) = (Shared<[String]>([]), Shared<Task<Void, Never>?>(nil))
    let stopping = ClosureBehavior(
      "stopping",
      beforeSend: { _ in
        task.value = Task {
          await stopped.value?.stop()
          order.change { $0.append("stopped") }
        }
        await withTaskCancellationHandler {
          await gate.pass()
        } onCancel: {
          gate.open()
        }
        order.change { $0.append("served") }
      })
    let outbox = try await world.outbox(world.client([stopping]), Self.anyone)
    stopped.value = outbox
    try await outbox.enqueue(Ping(number: 1))
    try await outbox.drain()
    await task.value?.value
    #expect(order.value == ["served", "stopped"])
  }

  @Test func `a sign-out while an entry is served, at which a behavior stops the outbox, ends`() async throws {
    let world = try OutboxWorld()
    let session = TokenSession(source: .refreshing { token, _ in token })
    let stopped = Shared<Outbox?>(nil)
    let leaving = ClosureBehavior("leaving", afterSuccess: { _, _ in try? await session.signOut() })
    struct Stopping: RequestBehavior {
      let outbox: Shared<Outbox?>
      func scopeEnded(_ scope: String) async { await outbox.value?.stop() }
    }
    let client = world.client([.tokenAuth(session), leaving, Stopping(outbox: stopped)])
    let outbox = try await world.outbox(client, Self.anyone)
    stopped.value = outbox
    try await session.signIn(AccessToken("token"), as: "a")
    try await outbox.enqueue(Ping(number: 1))
    try await outbox.drain()
    await outbox.stop()
    #expect(world.sent == ["POST /pings/1"])
  }

  @Test func `two outboxes whose behaviors stop each other at once both stop`() async throws {
    let (world, others, bothServe) = (try OutboxWorld(), Shared<[Outbox]>([]), TestGate())
    for other in [1, 0] {
      let stopping = ClosureBehavior(
        "stopping",
        beforeSend: { _ in
          bothServe.arrive()
          await bothServe.waitForArrivals(2)
          await others.value[other].stop()
        })
      let outbox = try await world.outbox(world.client([stopping]), name: "\(other)", Self.anyone)
      try await outbox.enqueue(Ping(number: other))
      others.change { $0.append(outbox) }
    }
    async let first = others.value[0].drain()
    async let second = others.value[1].drain()
    _ = try await (first, second)
    for outbox in others.value { await outbox.stop() }
    #expect(world.sent.isEmpty)
  }

  @Test func `an entry that a behavior refused before it was sent can still be replaced`() async throws {
    struct Own: Error {}
    let world = try OutboxWorld()
    let outbox = try await world.outbox(world.client([ClosureBehavior(modify: { _ in throw Own() })]))
    let first = try await outbox.enqueue(Ping(number: 1, identity: "x", replaces: true))
    try await outbox.drain()
    #expect(try await world.count("SELECT sends FROM outbox_entry") == 0)
    #expect(try await world.count("SELECT failures FROM outbox_entry") == 1)
    let second = try await outbox.enqueue(Ping(number: 2, identity: "x", replaces: true))
    #expect(second.id == first.id)
  }

  @Test func `an entry that waits in a behavior when sending is stopped can still be replaced`() async throws {
    let (world, gate) = (try OutboxWorld(), TestGate())
    let wait = ClosureBehavior(modify: { _ in
      gate.arrive()
      for await _ in AsyncStream<Never>.makeStream().stream {}
      throw CancellationError()
    })
    let outbox = try await world.outbox(world.client([wait]))
    try await outbox.enqueue(Ping(number: 1))
    outbox.start()
    await gate.waitForArrivals(1)
    #expect(try await world.states == [1])
    await outbox.stop()
    #expect(try await world.states == [0])
    #expect(try await world.count("SELECT sends FROM outbox_entry") == 0)
  }

  @Test func `an entry that was on its way when sending was stopped keeps its value`() async throws {
    let (gate, closed) = (TestGate(), AsyncStream<Never>.makeStream().stream)
    let world = try OutboxWorld { _ in
      gate.arrive()
      for await _ in closed {}
      throw CancellationError()
    }
    let outbox = try await world.outbox()
    let entry = try await outbox.enqueue(Ping(number: 1))
    outbox.start()
    await gate.waitForArrivals(1)
    await outbox.stop()
    #expect(try await world.count("SELECT sends FROM outbox_entry") == 1)
    let error = await #expect(throws: OutboxError.self) { try await outbox.replace(entry.id, with: Ping(number: 2)) }
    #expect(error?.code == .alreadySent)
  }

  // MARK: Methods of operations

  /// An operation whose request goes wrong after it was enqueued, and that notes its own state in the file.
  private struct Odd: OutboxOperation {
    static let name = "odd"
    static let failure = Locks<(@Sendable () -> any Error)?>(nil)
    static let states = Locks<[Int?]>([])

    func request(in db: Database) throws -> Request<Void> {
      let state = try db.first("SELECT state FROM outbox_entry", as: Int.self)
      Self.states.change { $0.append(state) }
      if let failure = Self.failure.value { throw failure() }
      return .post("odd")
    }
  }

  @Test func `an error before the request is made is a refusal only if the value causes it`() async throws {
    let ends: [(failure: @Sendable () -> any Error, state: Int)] = [
      ({ CancellationError() }, 0), ({ SQLiteError(.io, "a test") }, 0), ({ SQLiteError(.busy, "a test") }, 0),
      ({ SQLiteError(.constraint, "a test") }, 3), ({ CocoaError(.coderInvalidValue) }, 3),
    ]
    for (failure, state) in ends {
      let world = try OutboxWorld()
      let outbox = try await world.outbox(operations: [Odd.self])
      Odd.failure.value = nil
      try await outbox.enqueue(Odd())
      Odd.failure.value = failure
      try await outbox.drain()
      #expect(try await world.states == [state])
      #expect(world.sent.isEmpty)
      guard state == 0 else { continue }
      #expect(try await world.count("SELECT sends FROM outbox_entry") == 0)
      Odd.failure.value = nil
      world.clock.advance(by: .seconds(2))
      #expect(try await outbox.drain().isEmpty)
    }
    // The claim was in the file each time, so that a method that ends the process is counted.
    #expect(Odd.states.value.compactMap(\.self).allSatisfy { $0 == 1 })
    #expect(Odd.states.value.count == 13)
  }

  @Test func `a request of its own behaviors and options is sent once an attempt`() async throws {
    struct Eager: OutboxOperation {
      static let name = "eager"
      func request(in db: Database) -> Request<Void> {
        Request<Void>.post("eager").with(.retry()).with(.hedging(after: .milliseconds(1)))
          .with(\.retryPolicy, RetryPolicy()).with(\.idempotencyKey, .generated)
      }
    }
    let world = try OutboxWorld { _ in (503, "") }
    let outbox = try await world.outbox(operations: [Eager.self])
    try await outbox.enqueue(Eager())
    try await outbox.drain()
    #expect(world.sent.count == 1)
  }

  // MARK: The cache, and shared requests

  @Test func `a delivery makes the cached response of its URL stale`() async throws {
    let text = Shared("old")
    let mock = MockTransport { request in
      if request.method == .put { text.value = "new" }
      return NetworkResponse(
        request: request, statusCode: 200,
        headers: ["X-API-Nonce": request.headers["X-API-Nonce"] ?? "", "Cache-Control": "max-age=600"],
        body: .data(Data(text.value.utf8)))
    }
    let world = try OutboxWorld(mock)
    let client = world.client([.caching(MemoryCacheStore())])
    let outbox = try await world.outbox(client)
    #expect(try await client.send(Request<String>.get("note")) == "old")
    try await outbox.enqueue(.put("note"))
    #expect(try await client.send(Request<String>.get("note")) == "old")
    #expect(mock.sent.count == 1)
    try await outbox.drain()
    #expect(try await client.send(Request<String>.get("note")) == "new")
  }

  @Test func `two entries of the same request are two requests, although the client shares requests under way`()
    async throws
  {
    let world = try OutboxWorld()
    let outbox = try await world.outbox(world.client([.coalescing()]))
    for _ in 1...2 { try await outbox.enqueue(.put("like", body: .json(1))) }
    #expect(try await outbox.drain().isEmpty)
    #expect(world.sent.count == 2)
    #expect(Set(world.mock.sent.map { $0.headers["Idempotency-Key"] }).count == 2)
  }

  // MARK: Ends

  @Test func `a shutdown while a response is recorded keeps the response`() async throws {
    let clients = Shared<NetworkClient?>(nil)
    let world = try OutboxWorld { _ in
      // It begins here and ends when the calls under way have.
      if let client = clients.value { Task { await client.shutdown() } }
      return (200, #"{"id": 7}"#)
    }
    let client = world.client()
    clients.value = client
    let outbox = try await world.outbox(client)
    let note = Note(id: UUID(), text: "milk")
    try await outbox.write { db, queue in
      try db.save([note], into: "note")
      try queue.enqueue(CreateNote(note: note), in: db)
    }
    _ = try? await outbox.drain()
    await client.shutdown()
    await outbox.stop()
    let (states, isSaved) = (try await world.states, try await world.count("SELECT count(serverID) FROM note") == 1)
    #expect(states == (isSaved ? [5] : [0]))
    #expect(try await world.count("SELECT count(*) FROM outbox_entry WHERE state = 1") == 0)
    clients.value = nil
  }

  @Test func `a store that is suspended during a drain loses no entry, and the drain reports the suspension`()
    async throws
  {
    let stores = Shared<SQLiteStore?>(nil)
    let world = try OutboxWorld { _ in
      await stores.value?.suspend()
      return (200, "")
    }
    let outbox = try await world.outbox(OutboxConfiguration(concurrency: 1))
    for number in 1...3 { try await outbox.enqueue(Ping(number: number)) }
    stores.value = world.store
    let drain = Task { try await outbox.drain() }
    let clock = world.clock
    let moving = Task {
      while !Task.isCancelled {
        clock.advance(by: .seconds(1))
        await Task.yield()
      }
    }
    await #expect(throws: SQLiteError.self) { try await drain.value }
    stores.value = nil
    world.store.resume()
    // An attempt that could not be recorded is tried again after a time.
    #expect(try await outbox.drain().isEmpty)
    moving.cancel()
    await moving.value
    #expect(try await world.states == [5, 5, 5])
    #expect(Set(world.mock.sent.map { $0.headers["Idempotency-Key"] }).count == 3)
  }

  @Test func `a queue whose file was removed sends no further request, and reports why`() async throws {
    let files = Shared<String?>(nil)
    let world = try OutboxWorld { _ in
      if let file = files.value { try? FileManager.default.removeItem(atPath: file) }
      return (200, "")
    }
    let outbox = try await world.outbox(OutboxConfiguration(concurrency: 1))
    for number in 1...20 { try await outbox.enqueue(Ping(number: number)) }
    files.value = world.folder.file()
    for _ in 1...2 {
      let error = await #expect(throws: SQLiteError.self) { try await outbox.drain() }
      #expect(error?.message.contains("removed or replaced") == true)
    }
    #expect(world.sent.count == 1)
  }

  /// A behavior that holds each request at a gate, and does not end when it is cancelled.
  private func held(at gate: TestGate) -> ClosureBehavior {
    ClosureBehavior("Held", modify: { _ in await gate.pass() })
  }

  @Test func `after a shutdown the outbox only waits for the requests that are still under way`() async throws {
    let (gate, readings) = (TestGate(), Shared(0))
    let world = try OutboxWorld()
    let clock = world.clock.requestClock
    var configuration = world.client([held(at: gate)]).configuration
    // The loop reads the time each time that it looks for something to do.
    configuration.clock = RequestClock(
      now: {
        _ = readings.next()
        return clock.now()
      }, date: { clock.date() }, sleep: { try await clock.sleep(for: $0) })
    let client = NetworkClient(configuration: configuration, transport: world.mock)
    let outbox = try await world.outbox(client)
    try await outbox.enqueue(Ping(number: 1))
    outbox.start()
    await gate.waitForArrivals(1)
    let shutdown = Task { await client.shutdown() }
    for _ in 1...1_000 { await Task.yield() }
    #expect(readings.value < 100)
    gate.open()
    await shutdown.value
    await outbox.stop()
  }

  @Test func `a closed store is reported once, however long a request is still under way`() async throws {
    let gate = TestGate()
    let world = try OutboxWorld()
    let outbox = try await world.outbox(world.client([held(at: gate)]))
    try await outbox.enqueue(Ping(number: 1))
    let events = outbox.events()
    outbox.start()
    await gate.waitForArrivals(1)
    await world.store.close()
    // The hourly look for users who are away is due, and fails each time.
    world.clock.advance(by: .seconds(3_600))
    await #expect(throws: SQLiteError.self) { try await outbox.drain() }
    for _ in 1...200 { await Task.yield() }
    gate.open()
    await outbox.stop()
    // The loop tells of the file, and the request that its end cannot be recorded.
    var failures: [UUID?] = []
    for await event in events.prefix(2) { failures.append(event.id) }
    #expect(failures.count { $0 == nil } == 1)
  }

  @Test func `a drain of a closed store reports it`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox()
    try await outbox.enqueue(Ping(number: 1))
    await world.store.close()
    for _ in 1...2 {
      let error = await #expect(throws: SQLiteError.self) { try await outbox.drain() }
      #expect(error?.message.contains("closed") == true)
    }
  }

  /// A transport that does not keep requests, and counts the calls still alive.
  private final class Forgetful: Transport {
    private final class Weak: @unchecked Sendable {
      weak var call: Call?
    }

    private let calls = Shared<[Weak]>([])
    private let statuses: [Int]

    init(_ statuses: [Int]) { self.statuses = statuses }

    var hasCalls: Bool { calls.value.contains { $0.call != nil } }

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
      let weak = Weak()
      weak.call = request.call
      let number = calls.change { calls -> Int in
        calls.append(weak)
        return calls.count
      }
      if number > statuses.count { throw NetworkError(.connectionLost, "a test", request: request) }
      return NetworkResponse(
        request: request, statusCode: statuses[number - 1],
        headers: ["X-API-Nonce": request.headers["X-API-Nonce"] ?? "", "Location": "/moved"])
    }

    func shutdown() async {}
  }

  @Test func `an attempt is released after its end`() async throws {
    let (world, transport) = (try OutboxWorld(), Forgetful([200, 422, 503, 302]))
    let client = NetworkClient(configuration: world.client().configuration, transport: transport)
    let outbox = try await world.outbox(client, OutboxConfiguration(concurrency: 1))
    for number in 1...5 { try await outbox.enqueue(Ping(number: number)) }
    try await outbox.drain()
    #expect(try await world.states == [5, 3, 0, 3, 0])
    while transport.hasCalls { await Task.yield() }
  }

  // MARK: Users

  @Test func `a sign-out while the token of an entry is refreshed leaves the entry to its user`() async throws {
    let (gate, refreshing) = (TestGate(), TestGate())
    let session = TokenSession(
      source: .refreshing { _, _ in
        refreshing.arrive()
        await gate.pass()
        return AccessToken("token-a2")
      })
    let world = try OutboxWorld { request in
      (request.headers["Authorization"] == "Bearer token-a1" ? 401 : 200, "")
    }
    let outbox = try await world.outbox(world.client([.tokenAuth(session)]))
    try await session.signIn(AccessToken("token-a1", refreshToken: "r"), as: "a")
    try await outbox.enqueue(Ping(number: 1))
    let drain = Task { try await outbox.drain() }
    await refreshing.waitForArrivals(1)
    try await session.signOut()
    try await session.signIn(AccessToken("token-b"), as: "b")
    gate.open()
    _ = try await drain.value
    #expect(try await world.states == [0])
    world.clock.advance(by: .seconds(31))
    #expect(try await outbox.drain().others == 1)
    try await session.signIn(AccessToken("token-a3"), as: "a")
    #expect(try await outbox.drain().isEmpty)
    #expect(world.mock.sent.map { $0.headers["Authorization"] } == ["Bearer token-a1", "Bearer token-a3"])
  }
}

/// A value that a static property of an operation has.
private typealias Locks = Shared
