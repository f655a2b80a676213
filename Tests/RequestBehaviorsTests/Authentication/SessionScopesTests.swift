import Foundation
import RequestBehaviorsTesting
import TestSupport
import Testing

@testable import RequestBehaviors

/// The records that a session keeps of its calls and clients, and their notification of an owner's end.
@Suite(.limited) struct SessionScopesTests {
  private let fixture = TokenFixture()

  /// Signs a session out when an owner ends.
  private struct Leaver: RequestBehavior {
    let session: TokenSession

    func scopeEnded(_ scope: String) async { try? await session.signOut() }
  }

  @Test func `calls that could not read their owner from the store are not kept`() async throws {
    let session = fixture.session(.refreshToken(.test), UnreadableStore())
    let client = fixture.client(session)
    for _ in 0..<20 { await #expect(throws: NetworkError.self) { try await client.send(.get("a")) } }
    #expect(session.coordinator.scopes.waiterCount == 0)
  }

  @Test func `a behavior that signs another session out during a sign-out does not wait for itself`()
    async throws
  {
    fixture.answer(200)
    let (alice, bob) = (try await fixture.alice(), try await fixture.alice())
    let clients = [alice, bob].map { fixture.client($0, Leaver(session: bob)) }
    for client in clients { try await client.send(.get("a")) }
    try await alice.signOut()
    #expect(try await !bob.isSignedIn())
    withExtendedLifetime(clients) {}
  }

  @Test func `a behavior that signs its own session out during a sign-out does not wait for itself`()
    async throws
  {
    fixture.answer(200)
    let alice = try await fixture.alice()
    let client = fixture.client(alice, Leaver(session: alice))
    try await client.send(.get("a"))
    try await alice.signOut()
    #expect(try await !alice.isSignedIn())
    withExtendedLifetime(client) {}
  }

  /// Signs a session out when an owner ends, as soon as another one ends, too.
  private struct MeetingLeaver: RequestBehavior {
    let session: TokenSession
    let gate: TestGate

    func scopeEnded(_ scope: String) async {
      await gate.pass()
      try? await session.signOut()
    }
  }

  @Test func `behaviors of two sessions that sign each other out do not wait for each other`() async throws {
    fixture.answer(200)
    let (alice, bob, gate) = (try await fixture.alice(), try await fixture.alice(), TestGate())
    let clients = [
      fixture.client(alice, MeetingLeaver(session: bob, gate: gate)),
      fixture.client(bob, MeetingLeaver(session: alice, gate: gate)),
    ]
    for client in clients { try await client.send(.get("a")) }
    async let first: Void = alice.signOut()
    async let second: Void = bob.signOut()
    await gate.waitForArrivals(2)
    gate.open()
    _ = try await (first, second)
    #expect(try await !alice.isSignedIn())
    #expect(try await !bob.isSignedIn())
    withExtendedLifetime(clients) {}
  }

  /// Sends a request by another client when an owner ends.
  private struct Sender: RequestBehavior {
    let client: NetworkClient

    func scopeEnded(_ scope: String) async { try? await client.send(.get("x")) }
  }

  @Test func `a shared request that signs a user out does not wait for a behavior that waits for it`() async throws {
    fixture.answer(200)
    let (alice, gate, events) = (try await fixture.alice(), TestGate(), RecordedEvents())
    let leaving = ClosureBehavior("leaving", order: .inside(.coalescing)) { request, next in
      await gate.pass()
      try await alice.signOut()
      return try await next(request)
    }
    let sharing = NetworkClient(ClosureTransport(200, "body"), [events, .coalescing(), leaving])
    let client = fixture.client(alice, Sender(client: sharing))
    try await client.send(.get("a"))
    let shared = Task { try await sharing.send(.get("x")) }
    await gate.waitForArrivals(1)
    let signOut = Task { try await alice.signOut() }
    await events.waitFor(1, "joined")
    gate.open()
    try await shared.value
    try await signOut.value
    withExtendedLifetime(client) {}
  }

  @Test func `a shared request that is too late does not wait for a behavior that waits for its end`() async throws {
    fixture.answer(200)
    let (alice, clock) = (try await fixture.alice(), ManualClock())
    let leaving = ClosureBehavior("leaving", order: .inside(.coalescing)) { request, next in
      do { try await clock.requestClock.sleep(for: .seconds(60)) } catch {
        try await alice.signOut()
        throw error
      }
      return try await next(request)
    }
    let sharing = NetworkClient(
      ClosureTransport(200, "body"), clock.requestClock, [.deadline(.seconds(10)), .coalescing(), leaving])
    let client = fixture.client(alice, Sender(client: sharing))
    try await client.send(.get("a"))
    let signOut = Task { try await alice.signOut() }
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(10))
    try await signOut.value
    withExtendedLifetime(client) {}
  }

  @Test func `a batch that signs a user out does not wait for a behavior that waits for it`() async throws {
    fixture.answer(200)
    let (alice, events) = (try await fixture.alice(), RecordedEvents())
    let leaving = ClosureBehavior("leaving", order: .inside(.gate)) { request, next in
      try await alice.signOut()
      return try await next(request)
    }
    let batch = BatchBehavior(
      window: .seconds(60), size: 2, group: { _ in "all" }, merge: { $0[0] },
      split: { response, requests in requests.map { _ in .success(response) } })
    let sharing = NetworkClient(ClosureTransport(200, "body"), [events, batch, leaving])
    let client = fixture.client(alice, Sender(client: sharing))
    try await client.send(.get("a"))
    let signOut = Task { try await alice.signOut() }
    await events.waitFor(1, "waits")
    try await sharing.send(.get("x"))
    try await signOut.value
    withExtendedLifetime(client) {}
  }

  /// Counts the notifications of the end of an owner.
  private final class Counter: RequestBehavior {
    let count = Box(0)

    func scopeEnded(_ scope: String) async { count.update { $0 += 1 } }
  }

  @Test func `a behavior that many variants share is notified of a sign-out once`() async throws {
    fixture.answer(200)
    let (alice, counter, other) = (try await fixture.alice(), Counter(), Counter())
    let client = fixture.client(alice, counter)
    let variants = (0..<50).map { _ in client.with { $0.behaviors.append(EmptyBehavior()) } }
    let variant = client.with { $0.behaviors.append(other) }
    try await client.send(.get("a"))
    try await alice.signOut()
    #expect(counter.count.value == 1)
    #expect(other.count.value == 1)
    withExtendedLifetime((variants, variant)) {}
  }

  @Test func `stored data of a service outlasts a refused token, but not a sign-out`() async throws {
    fixture.answer(401)
    let session = TokenSession(source: .closure(account: "robot") { _ in AccessToken("refused") })
    let counter = Counter()
    let client = fixture.client(session, counter)
    await #expect(throws: NetworkError.self) { try await client.send(.get("a")) }
    #expect(try await !session.isSignedIn())
    #expect(counter.count.value == 0)
    fixture.answer(200)
    try await client.send(.get("a"))
    try await session.signOut()
    #expect(counter.count.value == 1)
  }

  /// Counts with an object that copies of its type share, and copies of other types too.
  private struct Part<Kind: Sendable>: SharedStateBehavior {
    let counter: Counter
    let ended: Box<Int>

    var sharedState: AnyObject { counter }

    func scopeEnded(_ scope: String) async { ended.update { $0 += 1 } }
  }

  @Test func `of several behaviors over one object each type is notified of a sign-out once`() async throws {
    fixture.answer(200)
    let (alice, counter, ends) = (try await fixture.alice(), Counter(), (first: Box(0), second: Box(0)))
    let client = fixture.client(
      alice, Part<Int>(counter: counter, ended: ends.first), Part<String>(counter: counter, ended: ends.second))
    let variant = client.with { $0.behaviors.append(EmptyBehavior()) }
    try await client.send(.get("a"))
    try await alice.signOut()
    #expect((ends.first.value, ends.second.value) == (1, 1))
    withExtendedLifetime(variant) {}
  }

  @Test func `the cost of a variant does not grow with their number`() async {
    func time(of count: Int) -> Duration {
      let client = NetworkClient(ClosureTransport())
      let start = ThreadTime.now
      let variants = (0..<count).map { _ in client.with { $0.behaviors.append(EmptyBehavior()) } }
      return withExtendedLifetime(variants) { ThreadTime.now - start }
    }
    #expect(await Growth.isLinear(from: 500) { time(of: $0) })
  }

  @Test func `removals of data are kept for a limited number of owners, the latest`() async {
    let leftovers = ScopeLeftovers()
    let removed = Box<[String]>([])
    for number in 0..<150_000 { leftovers.add("data", of: "\(number)") { removed.update { $0.append("\(number)") } } }
    #expect(leftovers.ownerCount <= 100_000)
    for number in [0, 149_999] { await leftovers.remove(of: "\(number)") }
    #expect(removed.value == ["149999"])
  }

  @Test func `data that several owners have is forgotten for all of them, and other data stays`() async {
    let leftovers = ScopeLeftovers()
    let removed = Box<[String]>([])
    for (id, scope) in [("a", "mona"), ("b", "mona"), ("a", "lisa"), ("b", "lisa")] {
      leftovers.add(id, of: scope) { removed.update { $0.append("\(id) of \(scope)") } }
    }
    await leftovers.remove(of: "lisa")
    leftovers.forget("a")
    await leftovers.remove(of: "mona")
    #expect(removed.value == ["a of lisa", "b of lisa", "b of mona"])
    #expect(leftovers.isEmpty)
  }

  @Test func `the cost of forgetting data does not grow with the number of owners`() async {
    func time(of count: Int) -> Duration {
      let leftovers = ScopeLeftovers()
      for number in 0..<count { leftovers.add("file \(number)", of: "\(number)") {} }
      let start = ThreadTime.now
      for number in 0..<count { leftovers.forget("file \(number)") }
      return ThreadTime.now - start
    }
    #expect(await Growth.isLinear(from: 500) { time(of: $0) })
  }
}

/// A store that cannot be read.
private final class UnreadableStore: TokenStore {
  func load() async throws -> AccessToken? { throw CocoaError(.fileReadNoPermission) }
  func save(_ token: AccessToken?) async throws {}
}
