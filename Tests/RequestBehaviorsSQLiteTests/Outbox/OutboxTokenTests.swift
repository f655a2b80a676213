import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Entries whose user has a token that cannot be refreshed for now.
@Suite(.limited) struct OutboxTokenTests {
  /// The error of the token request, if it fails.
  private let failure = Shared<NetworkError.Code?>(nil)
  /// The number of token requests.
  private let refreshes = Shared(0)

  /// A session whose token has expired.
  private func session(_ world: OutboxWorld, named name: String = "", as account: String = "a") async throws
    -> TokenSession
  {
    let (failure, refreshes) = (failure, refreshes)
    let session = TokenSession(
      name: name,
      source: .closure { _ in
        _ = refreshes.next()
        if let code = failure.value { throw NetworkError(code, "a test") }
        return AccessToken("fresh", lifetime: .seconds(3_600))
      }, policy: TokenRefreshPolicy(limit: 1_000), clock: world.clock.requestClock)
    try await session.signIn(AccessToken("old", expiresAt: world.clock.date.addingTimeInterval(-1)), as: account)
    return session
  }

  @Test(arguments: [NetworkError.Code.cannotConnect, .dnsFailed, .intercepted, .timedOut, .unacceptableStatus])
  func `a drain with a limit tries again until a token comes`(_ code: NetworkError.Code) async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox(world.client([.tokenAuth(session(world))]))
    failure.value = code
    try await outbox.enqueue(Ping(number: 1))
    let isOver = Shared(false)
    let drain = Task {
      defer { isOver.value = true }
      return try await outbox.drain(for: .seconds(3_600))
    }
    await world.letTimePass(besides: 1) { refreshes.value >= 3 }
    failure.value = nil
    await world.letTimePass(besides: 1) { isOver.value }
    #expect(try await drain.value.isEmpty)
    #expect(world.mock.sent.map { $0.headers["Authorization"] } == ["Bearer fresh"])
  }

  @Test func `a drain without a limit returns when there is no token, and the next one tries at once`() async throws {
    let world = try OutboxWorld()
    let outbox = try await world.outbox(world.client([.tokenAuth(session(world))]))
    failure.value = .cannotConnect
    for number in 1...3 { try await outbox.enqueue(Ping(number: number)) }
    let left = try await outbox.drain()
    #expect(left.waiting == 3)
    // The entries do not rest themselves: the pause is not in the file.
    #expect(left.nextAttempt == world.clock.date)
    failure.value = nil
    #expect(try await outbox.drain().isEmpty)
    #expect(world.sent.count == 3)
  }

  @Test func `another outbox on the file, as after a launch, tries at once`() async throws {
    let world = try OutboxWorld()
    failure.value = .cannotConnect
    let session = try await session(world)
    do {
      let first = try await world.outbox(world.client([.tokenAuth(session)]))
      try await first.enqueue(Ping(number: 1))
      #expect(try await first.drain().waiting == 1)
    }
    failure.value = nil
    let second = try await world.outbox(world.client([.tokenAuth(session)]))
    #expect(try await second.drain().isEmpty)
  }

  @Test func `a sign-in of the same account ends the pause`() async throws {
    let world = try OutboxWorld()
    let session = try await session(world)
    let outbox = try await world.outbox(world.client([.tokenAuth(session)]))
    failure.value = .cannotConnect
    try await outbox.enqueue(Ping(number: 1))
    outbox.start()
    // The sixth pause lasts 32 seconds, and the others after it 60.
    await world.letTimePass { refreshes.value >= 7 }
    try await session.signIn(AccessToken("new"), as: "a")
    // Time stands still, so nothing but the sign-in ends the pause.
    while world.sent.isEmpty { await Task.yield() }
    await outbox.stop()
    #expect(world.mock.sent.map { $0.headers["Authorization"] } == ["Bearer new"])
  }

  @Test func `a sign-in between a refresh that fails and the end of its attempt leaves no pause`() async throws {
    let (failures, gate) = (Shared(0), TestGate())
    let world = try OutboxWorld()
    failure.value = .cannotConnect
    let session = try await session(world)
    let slow = ClosureBehavior { request, next in
      do { return try await next(request) } catch {
        if failures.next() == 1 { await gate.pass() }
        throw error
      }
    }
    let outbox = try await world.outbox(world.client([slow, .tokenAuth(session)]))
    outbox.start()
    try await outbox.enqueue(Ping(number: 1))
    await gate.waitForArrivals(1)
    try await session.signIn(AccessToken("new"), as: "a")
    // The second one is sent when the outbox has seen the sign-in, before the first attempt ends.
    try await outbox.enqueue(Ping(number: 2)).value
    gate.open()
    // Time stands still, so that a pause would not end.
    while world.sent.count < 2 { await Task.yield() }
    await outbox.stop()
    #expect(world.sent == ["POST /pings/2", "POST /pings/1"])
  }

  @Test func `a sign-in during an attempt that fails for it has the entry tried again at once`() async throws {
    let (requests, gate) = (Shared(0), TestGate())
    let world = try OutboxWorld { _ in
      guard requests.next() == 1 else { return (200, "") }
      await gate.pass()
      return (401, "")
    }
    let session = TokenSession(source: .signInOnly)
    try await session.signIn(AccessToken("old"), as: "a")
    let outbox = try await world.outbox(world.client([.tokenAuth(session)]))
    try await outbox.enqueue(Ping(number: 1))
    let drain = Task { try await outbox.drain() }
    await gate.waitForArrivals(1)
    try await session.signIn(AccessToken("new"), as: "a")
    // The second one is sent when the outbox has seen the sign-in, before the first attempt ends.
    try await outbox.enqueue(Ping(number: 2)).value
    gate.open()
    #expect(try await drain.value.isEmpty)
    #expect(world.sent == ["POST /pings/1", "POST /pings/2", "POST /pings/1"])
  }

  @Test func `a sign-in that ends a pause reports it`() async throws {
    let world = try OutboxWorld()
    let session = try await session(world)
    let outbox = try await world.outbox(world.client([.tokenAuth(session)]))
    failure.value = .cannotConnect
    try await outbox.enqueue(Ping(number: 1))
    var events = outbox.events().makeAsyncIterator()
    try await outbox.drain()
    #expect(await events.next()?.kind == .paused)
    try await session.signIn(AccessToken("new"), as: "a")
    outbox.start()
    await world.letTimePass { !world.sent.isEmpty }
    #expect(await events.next()?.kind == .resumed)
    #expect(await events.next()?.kind == .delivered)
    await outbox.stop()
  }

  @Test func `a user without a token does not stop the entries of another`() async throws {
    let world = try OutboxWorld()
    let (anna, ben) = (try await session(world, named: "anna"), TokenSession(name: "ben", source: .signInOnly))
    try await ben.signIn(AccessToken("ben's"), as: "b")
    let outbox = try await world.outbox(world.client([.tokenAuth(anna), .tokenAuth(ben)]))
    failure.value = .cannotConnect
    for number in 1...3 {
      try await outbox.enqueue(Request<Void>.post("anna/\(number)").with(\.authentication, .only("anna")))
      try await outbox.enqueue(Request<Void>.post("ben/\(number)").with(\.authentication, .only("ben")))
    }
    #expect(try await outbox.drain().waiting == 3)
    #expect(world.mock.sent.map { $0.headers["Authorization"] } == Array(repeating: "Bearer ben's", count: 3))
    // One attempt shows that there is no token; the other entries of the user wait for it.
    #expect(refreshes.value <= 4)
  }

  @Test func `a drain tries an entry again that rests because its token was refused`() async throws {
    let isRefused = Shared(true)
    let world = try OutboxWorld { _ in (isRefused.value ? 401 : 200, "") }
    let outbox = try await world.outbox(world.client([.bearer("a token")]))
    try await outbox.enqueue(Ping(number: 1))
    let left = try await outbox.drain()
    #expect(left.nextAttempt == world.clock.date.addingTimeInterval(30))
    isRefused.value = false
    #expect(try await outbox.drain().isEmpty)
  }

  @Test(arguments: [nil, "robot"])
  func `an entry without a user is a dead letter if its credential is refused for longer than the patience`(
    owner: String?
  ) async throws {
    let world = try OutboxWorld { _ in (401, "") }
    let outbox = try await world.outbox(world.client([.bearer("revoked", owner: owner)]))
    try await outbox.enqueue(Ping(number: 1))
    for _ in 1...2 {
      try await outbox.drain()
      #expect(try await world.states == [0])
      world.clock.advance(by: .seconds(4 * 86_400))
    }
    try await outbox.drain()
    let states = try await outbox.deadLetters().map(\.state)
    guard case .dead(let failure) = states.first else { return #expect(Bool(false), "it is \(states)") }
    #expect(failure.statusCode == 401)
  }
}
