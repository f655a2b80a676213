import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// When a flight may not be joined any more, and whose response is not shared.
@Suite(.limited) struct CoalescingEdgeTests {
  private let coalescer = Coalescer()

  /// A transport that holds the requests of each method at a gate of its own.
  private func held(_ gates: [RequestMethod: TestGate]) -> ClosureTransport {
    ClosureTransport { request in
      await gates[request.method]?.pass()
      return NetworkResponse(request: request, statusCode: 200)
    }
  }

  @Test func `no request joins a flight that began while a request that may change data was under way`() async throws {
    let (reading, writing) = (TestGate(), TestGate())
    let client = NetworkClient(held([.get: reading, .put: writing]), [.coalescing(coalescer)])
    let put = Task { try await client.send(.put("x")) }
    await writing.waitForArrivals(1)
    let get = Task { try await client.send(.get("x")) }
    await reading.waitForArrivals(1)
    #expect(coalescer.flightCount == 1)
    writing.open()
    try await put.value
    #expect(coalescer.flightCount == 0)
    reading.open()
    try await get.value
  }

  @Test func `a request that a behavior sends while it works for the same one is sent by itself`() async throws {
    let transport = ClosureTransport(200, "body")
    let asking = AskingBehavior()
    let client = NetworkClient(transport, [.coalescing(coalescer), asking])
    asking.client.update { $0 = client }
    try await client.send(.get("x"))
    #expect(transport.sent.count == 2)
    #expect(coalescer.flightCount == 0)
  }

  @Test(arguments: [true, false])
  func `of two requests that send each other's request further in, one is sent by itself`(sharesFlights: Bool)
    async throws
  {
    let (transport, meeting) = (ClosureTransport(200, "body"), TestGate())
    let clients = Box<[String: NetworkClient]>([:])
    let asked = Box<Set<String>>([])
    let events = RecordedEvents()
    // The first request of each path waits for the other one, then sends its request.
    let crossing = ClosureBehavior("crossing", order: .inside(.coalescing)) { request, next in
      let path = request.url.lastPathComponent
      guard asked.update({ $0.insert(path).inserted }) else { return try await next(request) }
      await meeting.pass()
      let other = path == "x" ? "y" : "x"
      try await clients.value[other]?.send(.get("\(other)"))
      return try await next(request)
    }
    for path in ["x", "y"] {
      let own = sharesFlights ? coalescer : Coalescer()
      clients.update { $0[path] = NetworkClient(transport, [events, .coalescing(own), crossing]) }
    }
    let calls = clients.value.map { path, client in Task { try await client.send(.get("\(path)")) } }
    await meeting.waitForArrivals(2)
    meeting.open()
    for call in calls { try await call.value }
    clients.value = [:]
    #expect(events.count("sends for itself: the call in flight waits for it") == 1)
    #expect(transport.sent.count == 3)
  }

  @Test func `a request joins a flight that waits for it no longer`() async throws {
    let (transport, leaving, ending) = (ClosureTransport(200, "body"), TestGate(), TestGate())
    let (box, events) = (Box<NetworkClient?>(nil), RecordedEvents())
    // The second request joins the first one and leaves it; the first one joins the second one after that.
    let crossing = ClosureBehavior("crossing", order: .inside(.coalescing)) { request, next in
      if request.url.lastPathComponent == "first" {
        await leaving.pass()
        try await box.value?.send(.get("second"))
      } else {
        let task = Task { try await box.value?.send(.get("first")) }
        await events.waitFor(1, "joined")
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        leaving.open()
        await ending.pass()
      }
      return try await next(request)
    }
    let client = NetworkClient(transport, [events, .coalescing(coalescer), crossing])
    box.update { $0 = client }
    let first = Task { try await client.send(.get("first")) }
    await leaving.waitForArrivals(1)
    let second = Task { try await client.send(.get("second")) }
    await events.waitFor(2, "joined")
    ending.open()
    try await first.value
    try await second.value
    box.value = nil
    #expect(transport.sent.count == 2)
  }

  @Test func `a request that bypasses a gate does not join one that is held there`() async throws {
    let gate = Gate(isOpen: false)
    let events = RecordedEvents()
    let client = NetworkClient(ClosureTransport(200, "body"), [events, .coalescing(coalescer), .gate(gate)])
    let held = Task { try await client.send(Request<NetworkResponse>.get("x")) }
    await events.waitFor(1, "held")
    let response = try await client.send(Request<NetworkResponse>.get("x").with(\.bypassesGate, true))
    #expect(response.source == .network)
    gate.open()
    #expect(try await held.value.source == .network)
  }

  @Test func `requests with different timeouts do not join each other`()
    async throws
  {
    let gate = TestGate()
    let client = NetworkClient(held([.get: gate]), [.coalescing(coalescer)])
    let calls = [Duration.seconds(1), .seconds(60), .seconds(60)].map { timeout in
      Task { try await client.send(Request<NetworkResponse>.get("x").with(\.timeout, timeout)).source }
    }
    await gate.waitForArrivals(2)
    #expect(coalescer.flightCount == 2)
    gate.open()
    for call in calls { _ = try await call.value }
  }

  @Test(arguments: [303, 307], [200, 500])
  func `a request does not join an earlier one for the redirect target of a change`(status: Int, last: Int)
    async throws
  {
    let gate = TestGate()
    let transport = ClosureTransport { request in
      if request.url.lastPathComponent == "items" {
        return NetworkResponse(request: request, statusCode: status, headers: ["Location": "list"])
      }
      let isFirst = gate.arrivalCount == 0
      if isFirst { await gate.pass() }
      return NetworkResponse(request: request, statusCode: isFirst ? 200 : last)
    }
    let client = NetworkClient(transport, [.coalescing(coalescer)])
    let before = Task { try await client.send(.get("list")) }
    await gate.waitForArrivals(1)
    #expect(coalescer.flightCount == 1)
    _ = try? await client.send(.post("items"))
    #expect(coalescer.flightCount == 0)
    gate.open()
    try await before.value
  }

  @Test func `a redirected GET leaves the flights of its target`() async throws {
    let gate = TestGate()
    let transport = ClosureTransport { request in
      if request.url.lastPathComponent == "items" {
        return NetworkResponse(request: request, statusCode: 302, headers: ["Location": "list"])
      }
      if gate.arrivalCount == 0 { await gate.pass() }
      return NetworkResponse(request: request, statusCode: 200)
    }
    let client = NetworkClient(transport, [.coalescing(coalescer)])
    let before = Task { try await client.send(.get("list")) }
    await gate.waitForArrivals(1)
    try await client.send(.get("items"))
    #expect(coalescer.flightCount == 1)
    gate.open()
    try await before.value
  }

  @Test func `a streamed response that no caller takes is cancelled`() async throws {
    let (gate, source) = (TestGate(), ChunkSource())
    // Answers also after it was cancelled.
    let transport = ClosureTransport { request in
      await gate.pass()
      return NetworkResponse(request: request, statusCode: 200, body: .stream(source.stream))
    }
    let shielded = ClosureBehavior("shielded", order: .inside(.coalescing)) { request, _ in
      let detached = Task.detached { try await transport.send(request) }
      return try await detached.value
    }
    let client = NetworkClient(transport, [.coalescing(coalescer), shielded])
    let call = Task { try await client.send(.get("x")) }
    await gate.waitForArrivals(1)
    call.cancel()
    await #expect(throws: CancellationError.self) { try await call.value }
    gate.open()
    await source.isCancelled()
    #expect(source.cancelCount == 1)
  }

  @Test func `forgetting a URL in another notation closes its flight to new callers`() async throws {
    let gate = TestGate()
    let client = NetworkClient(held([.get: gate]), [.coalescing(coalescer)])
    let call = Task { try await client.send(.get("x")) }
    await gate.waitForArrivals(1)
    coalescer.forget(try #require(URL(string: "HTTPS://API.example.com:443/v1/x")))
    #expect(coalescer.flightCount == 0)
    gate.open()
    try await call.value
  }

  @Test func `a request under a name counts for the URL of each that joined it, and for no other`() async throws {
    let (gate, events) = (TestGate(), RecordedEvents())
    let client = NetworkClient(held([.get: gate]), [.coalescing(coalescer), events])
    func get(_ name: String) -> Task<Void, any Error> {
      Task { try await client.send(.get("\(name)").with(\.coalescing, .named("feed"))) }
    }
    let first = get("x")
    await gate.waitForArrivals(1)
    let second = get("y")
    await events.waitFor(1, "joined")
    try await client.send(.put("z"))
    #expect(coalescer.flightCount == 1)
    try await client.send(.put("y"))
    #expect(coalescer.flightCount == 0)
    gate.open()
    for call in [first, second] { try await call.value }
  }

  @Test func `forgetting a URL with a fragment closes its flight to new callers, and no other`()
    async throws
  {
    let gate = TestGate()
    let client = NetworkClient(held([.get: gate]), [.coalescing(coalescer)])
    let calls = ["x", "y"].map { name in Task { try await client.send(.get("\(name)")) } }
    await gate.waitForArrivals(2)
    coalescer.forget(try #require(URL(string: "https://api.example.com/v1/x#part")))
    #expect(coalescer.flightCount == 1)
    gate.open()
    for call in calls { try await call.value }
  }

  @Test func `a response of another user is only for the first caller`() async throws {
    let (gate, arrived) = (TestGate(), TestGate())
    arrived.open()
    let counter = ClosureBehavior(
      "counter", order: .outside(.coalescing), beforeSend: { _ in await arrived.pass() })
    let another = ClosureBehavior("another", order: .authentication) { request, next in
      request.call.noteSend(for: "bob")
      return try await next(request)
    }
    let joins = Box(0)
    let transport = held([.get: gate])
    let client = NetworkClient(transport, [.coalescing(coalescer), counter, another])
    let calls = (0..<3).map { _ in
      Task {
        let response: NetworkResponse = try await client.send(.get("x"))
        if !response.request.call.messages(of: .coalescing).isEmpty { joins.update { $0 += 1 } }
      }
    }
    await arrived.waitForArrivals(3)
    await gate.waitForArrivals(1)
    gate.open()
    for call in calls { try await call.value }
    // Each was sent separately, whether or not it joined in time.
    #expect(transport.sent.count == 3)
    #expect(joins.value <= 2)
  }

  @Test func `a streamed response that arrives after all callers have left is cancelled`() async throws {
    let (gate, cancelled) = (TestGate(), Box(0))
    let ended = TestGate()
    let stream = ByteStream(
      ByteStream(chunks: [Data("x".utf8)]),
      onCancel: {
        cancelled.update { $0 += 1 }
        ended.arrive()
      })
    let transport = ClosureTransport { request in
      await gate.pass()
      return NetworkResponse(request: request, statusCode: 200, body: .stream(stream))
    }
    let client = NetworkClient(transport, [.coalescing(coalescer)])
    let calls = (0..<2).map { _ in Task { try await client.send(.get("x")) } }
    await gate.waitForArrivals(1)
    for call in calls {
      call.cancel()
      await #expect(throws: CancellationError.self) { try await call.value }
    }
    gate.open()
    await ended.waitForArrivals(1)
    #expect(cancelled.value == 1)
  }

  /// The processor time in which so many changes of other URLs look for flights, beside as many flights.
  private func time(of count: Int) async throws -> Duration {
    let (gate, coalescer) = (TestGate(), Coalescer())
    let client = NetworkClient(held([.get: gate]), [.coalescing(coalescer)])
    let calls = (0..<count).map { number in Task { try await client.send(.get("\(number)")) } }
    await gate.waitForArrivals(count)
    let changed = (0..<count).compactMap { URL(string: "changed/\($0)", relativeTo: baseURL)?.absoluteURL }
    let start = ThreadTime.now
    for url in changed { coalescer.forget(url) }
    let time = ThreadTime.now - start
    #expect(coalescer.flightCount == count)
    gate.open()
    for call in calls { try await call.value }
    return time
  }

  @Test func `the cost of a change does not grow with the number of flights`() async throws {
    #expect(try await Growth.isLinear(from: 250) { try await time(of: $0) })
  }

  @Test func `a change makes all flights of its URL unjoinable, whatever else they differ in`() async throws {
    let gate = TestGate()
    let client = NetworkClient(held([.get: gate]), [.coalescing(coalescer)])
    var calls: [Task<Void, any Error>] = []
    for number in 0..<3 {
      calls.append(Task { try await client.send(.get("x").with(\.timeout, .seconds(10 + number))) })
      calls.append(Task { try await client.send(.get("x").with(\.coalescing, .named("\(number)"))) })
    }
    let other = Task { try await client.send(.get("y")) }
    await gate.waitForArrivals(7)
    #expect(coalescer.flightCount == 7)
    // One that has ended leaves the others in their places.
    calls[0].cancel()
    await #expect(throws: CancellationError.self) { try await calls[0].value }
    #expect(coalescer.flightCount == 6)
    try await client.send(.put("x"))
    #expect(coalescer.flightCount == 1)
    gate.open()
    for call in calls.dropFirst() + [other] { try await call.value }
    #expect(coalescer.flightCount == 0)
  }
}
