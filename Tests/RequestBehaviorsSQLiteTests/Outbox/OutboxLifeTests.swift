import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import Testing

/// Cancellation, stopping, shutdown and portals.
@Suite(.limited) struct OutboxLifeTests {
  /// A world whose requests wait until they are cancelled, and a stream with an element for each that begins.
  private func stalled() throws -> (world: OutboxWorld, begun: AsyncStream<Void>) {
    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
    let world = try OutboxWorld { _ in
      begin.yield()
      let (silence, continuation) = AsyncStream<Never>.makeStream()
      for await _ in silence {}
      continuation.finish()
      throw CancellationError()
    }
    return (world, begun)
  }

  // MARK: Stopping

  @Test func `stopping releases the claims, and does not count them as crashes`() async throws {
    let (world, begun) = try stalled()
    let outbox = try await world.outbox()
    for number in 1...3 { try await outbox.enqueue(Ping(number: number)) }
    outbox.start()
    var beginnings = begun.makeAsyncIterator()
    for _ in 1...3 { _ = await beginnings.next() }
    #expect(try await world.states == [1, 1, 1])
    await outbox.stop()
    #expect(try await world.states == [0, 0, 0])
    #expect(try await world.count("SELECT sum(crashes) FROM outbox_entry") == 0)
  }

  @Test func `shutting the client down ends sending at once, and a drain with it`() async throws {
    let (world, begun) = try stalled()
    let client = world.client()
    let outbox = try await world.outbox(client)
    try await outbox.enqueue(Ping(number: 1))
    let drain = Task { try await outbox.drain() }
    for await _ in begun { break }
    await client.shutdown()
    _ = await drain.result
    await outbox.stop()
    #expect(try await world.states == [0])
    let error = await #expect(throws: NetworkError.self) { try await outbox.drain() }
    #expect(error?.code == .clientShutDown)
  }

  @Test func `an outbox sends no further request during the client's grace period`() async throws {
    let (held, hold) = AsyncStream.makeStream(of: Void.self)
    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
    let world = try OutboxWorld { request in
      if request.url.lastPathComponent == "held" {
        begin.yield()
        for await _ in held {}
      }
      return (200, "")
    }
    let client = world.client()
    let outbox = try await world.outbox(client)
    let call = Task { try await client.send(.get("held")) }
    for await _ in begun { break }
    let end = Task { await client.shutdown(gracePeriod: .seconds(20)) }
    while (try? await client.send(.get("free"))) != nil {}
    try await outbox.enqueue(Ping(number: 1))
    let error = await #expect(throws: NetworkError.self) { try await outbox.drain() }
    #expect(error?.code == .clientShutDown)
    #expect(try await world.states == [0])
    hold.finish()
    try await call.value
    await end.value
    #expect(!world.sent.contains("POST /pings/1"))
  }

  @Test func `the shutdown of another client, which a behavior calls, does not end an outbox`() async throws {
    let world = try OutboxWorld()
    let isUp = Shared(false)
    let other = ClosureBehavior("other", order: .authentication) { request, next in
      guard isUp.value else {
        let client = NetworkClient(baseURL: request.url, transport: MockTransport())
        await client.shutdown()
        try await client.send(.get("key"))
        return try await next(request)
      }
      return try await next(request)
    }
    let outbox = try await world.outbox(world.client([other]))
    try await outbox.enqueue(Ping(number: 1))
    #expect(try await outbox.drain().waiting == 1)
    isUp.value = true
    #expect(try await outbox.drain().isEmpty)
    #expect(world.sent == ["POST /pings/1"])
  }

  @Test func `another outbox on the file sends as soon as a drain has returned`() async throws {
    let world = try OutboxWorld { _ in (503, "") }
    let outboxes = [try await world.outbox(), try await world.outbox()]
    try await outboxes[0].enqueue(Ping(number: 1))
    for round in 1...300 {
      // An outbox that found the lock taken would wait for the clock, which does not advance by itself.
      try await outboxes[round % 2].drain()
      #expect(world.sent.count == round)
      world.clock.advance(by: .seconds(600))
    }
  }

  @Test func `a released outbox sends no further request and keeps its entries`() async throws {
    let (world, begun) = try stalled()
    weak var dropped: Outbox?
    do {
      let outbox = try await world.outbox()
      dropped = outbox
      try await outbox.enqueue(Ping(number: 1))
      outbox.start()
      for await _ in begun { break }
    }
    #expect(dropped == nil)
    while try await world.states != [0] { await Task.yield() }
    #expect(world.sent.count == 1)
  }

  @Test func `a drain while sending is suspended returns at once`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox()
    outbox.start()
    await outbox.suspend()
    try await outbox.enqueue(Ping(number: 1))
    #expect(try await outbox.drain().waiting == 1)
    #expect(world.sent.isEmpty)
    outbox.resume()
    try await outbox.drain()
    #expect(world.sent.count == 1)
    await outbox.stop()
  }

  @Test func `cancelling the task that enqueues does not take the entry back`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox()
    for number in 1...20 {
      let task = Task { try await outbox.enqueue(Ping(number: number)) }
      task.cancel()
      _ = try await task.value
    }
    #expect(try await world.states.count == 20)
  }

  @Test func `cancelling a wait for a value ends the wait and not the delivery`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox()
    let entry = try await outbox.enqueue(CreateNote(note: Note(id: UUID(), text: "tea")))
    let wait = Task { try await entry.value }
    wait.cancel()
    await #expect(throws: CancellationError.self) { try await wait.value }
    try await outbox.drain()
    #expect(try await entry.value == Receipt(id: 7))
  }

  @Test func `an entry becomes a dead letter after 20 processes ended during its attempts`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox()
    try await outbox.enqueue(Ping(number: 1))
    for round in 1...20 {
      // As a killed process leaves it.
      try await world.store.write { try $0.execute("UPDATE outbox_entry SET state = 1, claim = 5, not_before = 9e12") }
      try await outbox.drain()
      // The next process finds the lock free.
      await outbox.stop()
      #expect(try await world.states == [round < 20 ? 0 : 3])
    }
    let letter = try #require(try await outbox.deadLetters().first)
    guard case .dead(let failure) = letter.state else {
      Issue.record("it is not dead")
      return
    }
    #expect(failure.reason == .crashed)
  }

  // MARK: Portals

  /// How a captive portal responds.
  static let portals: [(status: Int, headers: HeaderFields, body: String)] = [
    (200, ["Content-Type": "text/html"], "<html>Sign in</html>"), (200, ["Content-Type": "application/json"], "{}"),
    (302, ["Location": "http://portal.example/"], ""), (204, [:], ""), (403, [:], "forbidden"), (511, [:], "sign in"),
  ]

  @Test(arguments: portals) func `a portal does not change an entry, whatever its status`(
    _ portal: (status: Int, headers: HeaderFields, body: String)
  ) async throws {
    let isOpen = Shared(false)
    let mock = MockTransport { request in
      let body = ResponseBody.data(Data(portal.body.utf8))
      guard isOpen.value else {
        return NetworkResponse(request: request, statusCode: portal.status, headers: portal.headers, body: body)
      }
      let nonce = request.headers["X-API-Nonce"] ?? ""
      return NetworkResponse(
        request: request, statusCode: request.url.path() == "/pings/0" ? 422 : 200, headers: ["X-API-Nonce": nonce])
    }
    let world = try OutboxWorld(mock)
    let outbox = try await world.outbox()
    isOpen.value = true
    try await outbox.enqueue(Ping(number: 0, lane: "dead"))
    try await outbox.enqueue(Ping(number: 9))
    try await outbox.drain()
    isOpen.value = false
    try await outbox.enqueue(Ping(number: 1, lane: "dead"))
    try await outbox.enqueue(Ping(number: 2, lane: "live"))
    try await outbox.enqueue(Ping(number: 3, lane: "live"))
    let before = try await world.states
    for _ in 1...5 {
      try await outbox.drain()
      world.clock.advance(by: .seconds(61))
    }
    #expect(try await world.states == before)
    #expect(before == [4, 5, 2, 0, 2])
    isOpen.value = true
    try await outbox.drain()
    #expect(try await world.states == [4, 5, 2, 5, 5])
  }

  /// An operation whose request leaves the verification out.
  private struct Careless: OutboxOperation {
    static let name = "careless"

    func request(in db: Database) -> Request<Void> {
      Request<Void>.post("careless").without(NonceVerificationBehavior.self)
    }
  }

  @Test func `a response that no behavior has verified removes no entry, although no verification failed`() async throws
  {
    let world = try OutboxWorld()
    let outbox = try await world.outbox(operations: [Careless.self])
    try await outbox.enqueue(Careless())
    try await outbox.drain()
    #expect(world.sent.count == 1)
    #expect(try await world.states == [0])
  }

  @Test func `a closure chooses the trusted responses without verification, or every response is trusted`() async throws
  {
    let trusts: [(trust: OutboxTrust, states: [Int])] = [
      (.when { $0.headers["Server"] == "mine" }, [5, 0]), (.anyone, [5, 4]),
    ]
    for (trust, states) in trusts {
      let mock = MockTransport { request in
        let isMine = request.url.path() == "/pings/1"
        return NetworkResponse(
          request: request, statusCode: isMine ? 200 : 403, headers: isMine ? ["Server": "mine"] : [:])
      }
      let world = try OutboxWorld(mock)
      let plain = NetworkClient(baseURL: try #require(URL(string: "https://a.example")), transport: mock)
      let outbox = try await world.outbox(plain, OutboxConfiguration(trust: trust))
      for number in 1...2 { try await outbox.enqueue(Ping(number: number, lane: "a")) }
      try await outbox.drain()
      #expect(try await world.states == states)
    }
  }
}
