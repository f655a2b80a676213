import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import Testing

/// The effect of an attempt's outcome on the entry, row by row.
@Suite(.limited) struct OutboxOutcomeTests {
  /// The fate of an entry.
  enum Fate: Equatable {
    case delivered, dead, repeated, paused, held
  }

  /// Enqueues one entry, drains once, and tells what has become of it.
  private func fate(
    _ configuration: OutboxConfiguration = OutboxConfiguration(), _ script: @escaping Script
  ) async throws -> Fate {
    let world = try OutboxWorld(script)
    let outbox = try await world.outbox(configuration)
    var events = outbox.events().makeAsyncIterator()
    try await outbox.enqueue(Ping(number: 1))
    try await outbox.drain()
    let kind = await events.next()?.kind
    #expect(world.sent.count == 1)
    return try await fate(kind, world)
  }

  private func fate(_ kind: OutboxEvent.Kind?, _ world: OutboxWorld) async throws -> Fate {
    switch try await world.states {
    case [5]: return .delivered
    case [3]: return .dead
    default: break
    }
    if kind == .paused { return .paused }
    let wait = try await world.count("SELECT not_before - set_at FROM outbox_entry")
    let failures = try await world.count("SELECT failures FROM outbox_entry")
    return wait == 30_000 && failures == 0 ? .held : .repeated
  }

  static let statuses: [(Int, Fate)] = [
    (200, .delivered), (204, .delivered), (400, .dead), (401, .held), (403, .dead), (404, .dead), (407, .paused),
    (408, .repeated), (409, .dead), (410, .dead), (421, .repeated), (422, .dead), (425, .repeated), (429, .repeated),
    (500, .repeated), (501, .dead), (502, .repeated), (503, .repeated), (504, .repeated), (511, .paused),
  ]

  @Test(arguments: statuses) func `each status of the server has its documented outcome`(
    _ status: Int, _ expected: Fate
  ) async throws {
    #expect(try await fate { _ in (status, "") } == expected)
  }

  /// Each status without a verification, under a trust that takes all responses or no response.
  private func fate(
    _ status: Int, _ trust: OutboxTrust
  ) async throws -> (fate: Fate, sends: Int) {
    let mock = MockTransport { NetworkResponse(request: $0, statusCode: status) }
    let world = try OutboxWorld(mock)
    var configuration = RequestConfiguration(baseURL: URL(string: "https://api.example.com"))
    configuration.clock = world.clock.requestClock
    let client = NetworkClient(configuration: configuration, transport: mock)
    let outbox = try await world.outbox(client, OutboxConfiguration(trust: trust))
    var events = outbox.events().makeAsyncIterator()
    try await outbox.enqueue(Ping(number: 1))
    try await outbox.drain()
    let kind = await events.next()?.kind
    return (try await fate(kind, world), mock.sent.count)
  }

  @Test(arguments: statuses) func `a status has the same outcome if the app, and no behavior, trusts it`(
    _ status: Int, _ expected: Fate
  ) async throws {
    for trust in [OutboxTrust.anyone, .when { _ in true }] {
      let (fate, sends) = try await fate(status, trust)
      #expect(fate == expected)
      #expect(sends == 1)
    }
  }

  @Test(arguments: statuses.map(\.0)) func `a status that the app does not trust pauses the queue`(
    _ status: Int
  ) async throws {
    let (fate, sends) = try await fate(status, .when { _ in false })
    #expect(fate == .paused)
    #expect(sends == 1)
  }

  static let untrusted = [200, 204, 302, 400, 401, 403, 404, 422, 500, 503]

  @Test(arguments: untrusted) func `a status without a proof pauses the queue, and the send is counted`(_ status: Int)
    async throws
  {
    let mock = MockTransport { NetworkResponse(request: $0, statusCode: status, headers: ["Location": "/login"]) }
    let world = try OutboxWorld(mock)
    let outbox = try await world.outbox()
    var events = outbox.events().makeAsyncIterator()
    try await outbox.enqueue(Ping(number: 1))
    try await outbox.drain()
    #expect(await events.next()?.kind == .paused)
    #expect(try await world.states == [0])
    // But the server may have it: an intermediary can lose a response.
    #expect(try await world.count("SELECT sends FROM outbox_entry") == 1)
  }

  static let errors: [(NetworkError.Code, Fate)] = [
    (.intercepted, .paused), (.cannotConnect, .paused), (.dnsFailed, .paused), (.tlsFailed, .paused),
    (.timedOut, .repeated), (.connectionLost, .repeated), (.truncatedBody, .repeated), (.badResponse, .repeated),
    (.transportFailed, .repeated), (.bodyUnreadable, .dead), (.invalidRequest, .dead),
  ]

  @Test(arguments: errors) func `each error of the transport has its documented outcome`(
    _ code: NetworkError.Code, _ expected: Fate
  ) async throws {
    #expect(try await fate { throw NetworkError(code, "a test", request: $0) } == expected)
  }

  static let local: [(NetworkError.Code, Fate)] = [
    (.gateClosed, .paused), (.circuitOpen, .paused), (.rateLimited, .paused), (.concurrencyLimited, .paused),
    (.offline, .paused), (.deadlineExceeded, .paused), (.notSignedIn, .held), (.signedOut, .held),
    (.tokenUnavailable, .paused), (.tokenStoreFailed, .paused), (.credentialsWithheld, .dead), (.invalidURL, .dead),
    (.encodingFailed, .dead),
  ]

  @Test(arguments: local) func `each error before the send has its documented outcome`(
    _ code: NetworkError.Code, _ expected: Fate
  ) async throws {
    let world = try OutboxWorld()
    let refuse = ClosureBehavior(modify: { _ in throw NetworkError(code, "a test") })
    let outbox = try await world.outbox(world.client([refuse]))
    var events = outbox.events().makeAsyncIterator()
    try await outbox.enqueue(Ping(number: 1))
    try await outbox.drain()
    #expect(world.sent.isEmpty)
    #expect(try await fate(await events.next()?.kind, world) == expected)
  }

  @Test func `an error that names a time is repeated at that time, and does not delay other entries`() async throws {
    let world = try OutboxWorld()
    let date = world.clock.date.addingTimeInterval(120)
    let refuse = ClosureBehavior(modify: { request in
      guard request.url.path() == "/pings/1" else { return }
      var error = NetworkError(.rateLimited, "a test")
      error.availableAt = date
      throw error
    })
    let outbox = try await world.outbox(world.client([refuse]))
    let first = try await outbox.enqueue(Ping(number: 1))
    try await outbox.enqueue(Ping(number: 2))
    try await outbox.drain()
    #expect(world.sent == ["POST /pings/2"])
    #expect(try await outbox.state(of: first.id) == .waiting(until: date))
  }

  static let hints: [(Int, String, Fate)] = [
    (503, "false", .dead), (422, "true", .repeated), (404, "true", .repeated), (200, "false", .delivered),
  ]

  @Test(arguments: hints) func `a server says by a field whether to repeat`(
    _ status: Int, _ hint: String, _ expected: Fate
  ) async throws {
    let mock = MockTransport { request in
      let nonce = request.headers["X-API-Nonce"] ?? ""
      return NetworkResponse(
        request: request, statusCode: status, headers: ["X-API-Nonce": nonce, "X-Should-Retry": hint])
    }
    let world = try OutboxWorld(mock)
    let outbox = try await world.outbox()
    try await outbox.enqueue(Ping(number: 1))
    try await outbox.drain()
    #expect(try await fate(nil, world) == expected)
  }

  @Test func `a 409 to a repeat means that the key is still in use`() async throws {
    let count = Shared(0)
    let statuses = [500, 409, 200]
    let world = try OutboxWorld { _ in (statuses[count.next() - 1], "") }
    let outbox = try await world.outbox()
    try await outbox.enqueue(Ping(number: 1))
    for _ in statuses {
      try await outbox.drain()
      world.clock.advance(by: .seconds(601))
    }
    #expect(try await world.states == [5])
    #expect(Set(world.mock.sent.map { $0.headers["Idempotency-Key"] }).count == 1)
  }

  @Test func `a server's delay is kept up to the longest allowed, and follows the clock`() async throws {
    let mock = MockTransport { request in
      let nonce = request.headers["X-API-Nonce"] ?? ""
      let delay = request.url.path() == "/pings/1" ? "3600" : "9999999"
      return NetworkResponse(
        request: request, statusCode: 503, headers: ["X-API-Nonce": nonce, "Retry-After": delay])
    }
    let world = try OutboxWorld(mock)
    let outbox = try await world.outbox()
    let hour = try await outbox.enqueue(Ping(number: 1))
    let day = try await outbox.enqueue(Ping(number: 2))
    try await outbox.drain()
    #expect(try await outbox.state(of: hour.id) == .waiting(until: world.clock.date.addingTimeInterval(3_600)))
    #expect(try await outbox.state(of: day.id) == .waiting(until: world.clock.date.addingTimeInterval(86_400)))
    // The clock is set back by a year: the wait of an hour stays one.
    world.clock.setDate(world.clock.date.addingTimeInterval(-365 * 86_400))
    try await outbox.drain()
    #expect(world.sent.count == 2)
    #expect(try await outbox.state(of: hour.id) == .waiting(until: world.clock.date.addingTimeInterval(3_600)))
  }

  @Test func `an entry that the server temporarily refuses becomes a dead letter after the patience`() async throws {
    let world = try OutboxWorld { _ in (503, "") }
    let outbox = try await world.outbox(OutboxConfiguration(patience: .seconds(3_600)))
    let entry = try await outbox.enqueue(Ping(number: 1))
    for _ in 1...7 {
      #expect(try await world.states == [0])
      try await outbox.drain()
      world.clock.advance(by: .seconds(601))
    }
    #expect(try await world.states == [3])
    #expect(world.sent.count == 7)
    let failure = await #expect(throws: OutboxFailure.self) { try await entry.value }
    #expect(failure?.reason == .refused)
    #expect(failure?.statusCode == 503)
  }

  @Test func `a patience without an end is one`() async throws {
    let world = try OutboxWorld { _ in (503, "") }
    let outbox = try await world.outbox(OutboxConfiguration(patience: .seconds(Int64.max) * 2))
    try await outbox.enqueue(Ping(number: 1))
    for _ in 1...7 {
      try await outbox.drain()
      world.clock.advance(by: .seconds(601))
    }
    #expect(world.sent.count == 7)
    #expect(try await world.states == [0])
  }

  @Test func `lost responses do not make a dead letter, however many there are`() async throws {
    let world = try OutboxWorld { throw NetworkError(.connectionLost, "a test", request: $0) }
    let outbox = try await world.outbox(OutboxConfiguration(patience: .seconds(1)))
    try await outbox.enqueue(Ping(number: 1))
    for _ in 1...60 {
      try await outbox.drain()
      world.clock.advance(by: .seconds(601))
    }
    #expect(world.sent.count == 60)
    #expect(try await world.states == [0])
  }

  @Test func `an error that the client maps is judged by the original`() async throws {
    struct Own: Error {}
    let world = try OutboxWorld { _ in (422, "") }
    let outbox = try await world.outbox(world.client([.mapError { _ in Own() }]))
    try await outbox.enqueue(Ping(number: 1))
    try await outbox.drain()
    #expect(try await world.states == [3])
  }

  @Test func `an error of a custom behavior does not settle the entry, and does not delay others`() async throws {
    struct Own: Error {}
    let world = try OutboxWorld()
    let refuse = ClosureBehavior(modify: { if $0.url.path() == "/pings/1" { throw Own() } })
    let outbox = try await world.outbox(world.client([refuse]))
    try await outbox.enqueue(Ping(number: 1))
    try await outbox.enqueue(Ping(number: 2))
    try await outbox.drain()
    #expect(world.sent == ["POST /pings/2"])
    #expect(try await world.states == [0, 5])
  }

  // MARK: Taken, and not saved

  /// An operation whose response cannot be saved at first.
  private struct Stubborn: OutboxOperation {
    static let name = "stubborn"
    static let isRefusing = Shared(true)

    func request(in db: Database) -> Request<Void> { .post("stubborn") }

    func delivered(_ value: Void, in db: Database) throws {
      try db.execute("INSERT INTO note VALUES (x'00', 'half', NULL)")
      if Self.isRefusing.value { throw SQLiteError(.constraint, "a test") }
    }
  }

  @Test func `a response that cannot be saved is requested again, under the same key`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox(operations: [Stubborn.self])
    try await outbox.enqueue(Stubborn())
    for round in 1...3 {
      #expect(try await world.count("SELECT count(*) FROM note") == 0)
      Stubborn.isRefusing.value = round < 3
      try await outbox.drain()
      world.clock.advance(by: .seconds(601))
    }
    #expect(try await world.states == [5])
    #expect(try await world.count("SELECT count(*) FROM note") == 1)
    #expect(Set(world.mock.sent.map { $0.headers["Idempotency-Key"] }).count == 1)
    #expect(world.sent.count == 3)
  }

  @Test func `a save of the client that fails is not a refusal`() async throws {
    let world = try OutboxWorld { _ in (200, "[]") }
    let saving = SaveBehavior.persist(in: world.store) { _, db in try db.execute("INSERT INTO missing VALUES (1)") }
    let outbox = try await world.outbox(
      world.client([saving]), OutboxConfiguration(patience: .seconds(700)))
    let entry = try await outbox.enqueue(Ping(number: 1))
    for _ in 1...3 {
      try await outbox.drain()
      world.clock.advance(by: .seconds(601))
    }
    #expect(try await world.states == [3])
    let failure = await #expect(throws: OutboxFailure.self) { try await entry.value }
    #expect(failure?.reason == .notSaved)
  }

  @Test func `a rejected create takes its row back in the same commit`() async throws {
    let world = try OutboxWorld { _ in (422, "") }
    let outbox = try await world.outbox()
    let note = Note(id: UUID(), text: "milk")
    try await outbox.write { db, queue in
      try db.save([note], into: "note")
      try queue.enqueue(CreateNote(note: note), in: db)
    }
    try await outbox.drain()
    #expect(try await world.count("SELECT count(*) FROM note") == 0)
    // A lane whose first entry is refused stops.
    #expect(try await world.states == [4])
  }
}
