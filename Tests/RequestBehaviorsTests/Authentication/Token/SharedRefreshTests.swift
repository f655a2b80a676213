import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Sessions of several processes over one place of which one at a time refreshes.
@Suite(.limited) struct SharedRefreshTests {
  private let fixture = TokenFixture()
  private var server: TokenServer { fixture.server }
  private let gate = TestGate()
  private let place = LockedPlace()

  /// A session as another process would have it: over a store object of its own.
  private func process(
    _ source: any TokenSource = .refreshToken(.test)
  ) -> (session: TokenSession, client: NetworkClient) {
    let session = fixture.session(source, LockedPlaceStore(place))
    return (session, fixture.client(session))
  }

  private func signIn() async throws {
    try await process().session.signIn(AccessToken("t0", lifetime: .seconds(3_600), refreshToken: "r0"))
  }

  /// Begins a request that refreshes, in a process that was stopped, has lost the lock and may not read any more.
  private func refreshStopped() async -> Task<Void, any Error> {
    server.tokenGate.value = gate
    let client = process().client
    let task = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    place.isLost.value = true
    return task
  }

  private var spent: [String] { server.tokenRequests.compactMap { $0.formField("refresh_token") } }

  /// Begins a refresh in one process, and another one that waits for it in a second process.
  private func refreshing() async -> (
    app: TokenSession, widget: TokenSession, first: Task<Void, any Error>, second: Task<Void, any Error>
  ) {
    server.tokenGate.value = gate
    let (app, widget) = (process(), process())
    let first = Task { try await app.client.send(.get("a")) }
    await gate.waitForArrivals(1)
    let second = Task { try await widget.client.send(.get("b")) }
    await place.lock.waitForWaiters(1)
    return (app.session, widget.session, first, second)
  }

  @Test func `a session waits for the refresh of another process, and uses its token`() async throws {
    try await signIn()
    let (_, widget, first, second) = await refreshing()
    gate.open()
    try await first.value
    try await second.value
    #expect(spent == ["r0"])
    #expect(place.token.value?.value == "t1")
    #expect(try await widget.isSignedIn())
  }

  @Test func `calls that wait for a lock in vain fail after the policy's time, and send no request`()
    async throws
  {
    try await signIn()
    let held = TestGate()
    let holder = Task { [place] in await place.lock.run { await held.pass() } }
    await held.waitForArrivals(1)
    let app = process()
    let events = app.session.events
    let task = Task { try await app.client.send(.get("a")) }
    await place.lock.waitForWaiters(1)
    await fixture.clock.waitForSleepers(1)
    fixture.clock.advance(by: .seconds(30))
    let error = try await fixture.error(task)
    #expect(error.code == .tokenUnavailable)
    #expect(error.message.contains("another process"))
    #expect(error.isTransient)
    #expect(spent == [])
    #expect(try await app.session.isSignedIn())
    #expect(await events.names(through: "refreshFailed") == ["refreshFailed"])
    held.open()
    await holder.value
    // The abandoned wait gets its turn, and has no effect.
    try await app.client.send(.get("b"))
    #expect(spent == ["r0"])
  }

  @Test func `a sign-out while a refresh waits for another process ends the wait`() async throws {
    try await signIn()
    let held = TestGate()
    let holder = Task { [place] in await place.lock.run { await held.pass() } }
    await held.waitForArrivals(1)
    let app = process()
    let task = Task { try await app.client.send(.get("a")) }
    await place.lock.waitForWaiters(1)
    try await app.session.signOut()
    #expect(try await fixture.error(task).code == .signedOut)
    held.open()
    await holder.value
    #expect(spent == [])
    #expect(place.token.value == nil)
  }

  @Test(arguments: [AccessToken?.none, AccessToken("bob", refreshToken: "r5")])
  func `another process refreshes only after the sign-out or sign-in that ended a refresh is stored`(
    other: AccessToken?
  ) async throws {
    try await signIn()
    let (app, _, first, second) = await refreshing()
    let saves = TestGate()
    place.saveGate.value = saves
    let change = Task {
      if let other { try await app.signIn(other) } else { try await app.signOut() }
    }
    await saves.waitForArrivals(1)
    #expect(try await fixture.error(first).code == .signedOut)
    gate.open()
    for _ in 0..<1_000 { await Task.yield() }
    saves.open()
    try await change.value
    #expect(try await fixture.error(second).code == .signedOut)
    #expect(spent == ["r0"])
  }

  @Test func `a lock that fails has the effect of a store that cannot be read`() async throws {
    try await signIn()
    place.problem.value = CocoaError(.fileWriteNoPermission)
    let app = process()
    let task = Task { try await app.client.send(.get("a")) }
    let error = try await fixture.error(task)
    #expect(error.code == .tokenStoreFailed)
    #expect(error.underlyingError is CocoaError)
    #expect(spent == [])
    place.problem.value = nil
    try await app.client.send(.get("b"))
    #expect(spent == ["r0"])
  }

  @Test func `a lock that does not run its work fails the requests`() async throws {
    try await signIn()
    place.isIdle.value = true
    let app = process()
    let task = Task { try await app.client.send(.get("a")) }
    let error = try await fixture.error(task)
    #expect(error.code == .tokenStoreFailed)
    #expect(error.message.contains("without running the work"))
  }

  @Test func `a token that could not be stored is refreshed without a lock that cannot be had`() async throws {
    let app = process()
    place.problem.value = CocoaError(.fileWriteOutOfSpace)
    await #expect(throws: CocoaError.self) {
      try await app.session.signIn(AccessToken("t0", lifetime: .seconds(3_600), refreshToken: "r0"))
    }
    try await app.client.send(.get("a"))
    #expect(spent == ["r0"])
    #expect(fixture.sentTokens.last == "Bearer t1")
  }

  @Test(arguments: [nil, AccessToken("bob", refreshToken: "rb")])
  func `a late token does not undo a change of another process right before it is stored`(other: AccessToken?)
    async throws
  {
    try await signIn()
    let app = process()
    // Between the last reading and the writing.
    place.beforeReplace.value = { [place] in
      place.token.value = other
      place.beforeReplace.value = nil
    }
    let task = Task { try await app.client.send(.get("a")) }
    #expect(try await fixture.error(task).code == .signedOut)
    #expect(place.token.value?.value == other?.value)
  }

  @Test(arguments: [nil, AccessToken("bob", refreshToken: "rb")])
  func `a late token does not undo a change of another process while the place could not be read`(other: AccessToken?)
    async throws
  {
    try await signIn()
    let task = await refreshStopped()
    place.token.value = other
    gate.open()
    #expect(try await fixture.error(task).code == .tokenUnavailable)
    #expect(place.token.value?.value == other?.value)
  }

  @Test func `a late token does not undo a sign-in of the same account in another process`() async throws {
    let hour = Duration.seconds(3_600)
    try await process().session.signIn(AccessToken("t0", lifetime: hour, refreshToken: "r0"), as: "ann")
    fixture.answer(401, 200)
    server.tokenGate.value = gate
    let app = process()
    let task = Task { try await app.client.send(.get("a")) }
    await gate.waitForArrivals(1)
    try await process().session.signIn(AccessToken("newer", lifetime: hour, refreshToken: "rn"), as: "ann")
    gate.open()
    try await task.value
    #expect(place.token.value?.value == "newer")
    #expect(fixture.sentTokens == ["Bearer t0", "Bearer newer"])
  }

  @Test func `a late token is stored where the place cannot be read and no other process has changed it`() async throws
  {
    try await signIn()
    let task = await refreshStopped()
    gate.open()
    try await task.value
    #expect(place.token.value?.value == "t1")
  }

  @Test func `a refusal does not remove a token that another process stores right before`() async throws {
    try await signIn()
    server.refuseToken(400, #"{"error":"invalid_grant"}"#)
    let app = process()
    place.beforeReplace.value = { [place] in
      var newer = AccessToken("t1", refreshToken: "r9")
      newer.sessionID = place.token.value?.sessionID
      place.token.value = newer
      place.beforeReplace.value = nil
    }
    server.state.update { $0.valid = "t1" }
    try await app.client.send(.get("a"))
    #expect(place.token.value?.refreshToken == "r9")
    #expect(try await app.session.isSignedIn())
  }

  @Test func `a store without its own lock replaces only the expected token`() async throws {
    let held = HeldTokenStore(AccessToken("a"))
    #expect(try await held.replace(AccessToken("b"), with: AccessToken("c")) == false)
    #expect(held.value == "a")
    #expect(try await held.replace(nil, with: AccessToken("c")) == false)
    #expect(try await held.replace(AccessToken("a"), with: AccessToken("c")))
    #expect(held.value == "c")
    #expect(try await held.replace(AccessToken("c"), with: nil))
    #expect(held.value == nil)
    #expect(try await held.replace(nil, with: AccessToken("d")))
    let memory = InMemoryTokenStore(AccessToken("a"))
    #expect(try await memory.replace(nil, with: AccessToken("c")) == false)
    #expect(try await memory.replace(AccessToken("a"), with: AccessToken("c")))
    #expect(try await memory.load()?.value == "c")
  }
}

extension NetworkRequest {
  /// A field of the form that is the body.
  fileprivate func formField(_ name: String) -> String? {
    String(decoding: body?.data ?? Data(), as: UTF8.self).split(separator: "&")
      .first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
  }
}

/// Lets one after the other work, and tells how many wait.
private final class WorkLock: Sendable {
  private struct State {
    var isHeld = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Box(State())
  private let arrivals = TestGate()

  func waitForWaiters(_ count: Int) async { await arrivals.waitForArrivals(count) }

  func run(_ work: () async -> Void) async {
    await withCheckedContinuation { continuation in
      let isFree = state.update { state in
        if !state.isHeld {
          state.isHeld = true
          return true
        }
        state.waiting.append(continuation)
        return false
      }
      if isFree { continuation.resume() } else { arrivals.arrive() }
    }
    await work()
    let next = state.update { state -> CheckedContinuation<Void, Never>? in
      if state.waiting.isEmpty {
        state.isHeld = false
        return nil
      }
      return state.waiting.removeFirst()
    }
    next?.resume()
  }
}

/// A place that stores share, with a lock.
private final class LockedPlace: Sendable {
  let token = Box<AccessToken?>(nil)
  let lock = WorkLock()
  let problem = Box<CocoaError?>(nil)
  let isIdle = Box(false)
  let isLost = Box(false)
  /// Holds what is to be saved; open unless a test replaces it.
  let saveGate = Box<TestGate?>(nil)
  let beforeReplace = Box<(@Sendable () -> Void)?>(nil)
}

private final class LockedPlaceStore: TokenStore {
  private let place: LockedPlace

  init(_ place: LockedPlace) { self.place = place }

  func load() async throws -> AccessToken? {
    if place.isLost.value { throw CocoaError(.fileReadNoPermission) }
    return place.token.value
  }

  func save(_ token: AccessToken?) async throws {
    if let problem = place.problem.value { throw problem }
    await place.saveGate.value?.pass()
    place.token.value = token
  }

  func withRefreshLock(_ work: RefreshWork) async throws {
    if let problem = place.problem.value { throw problem }
    if place.isIdle.value { return }
    await place.lock.run { await work() }
  }

  func replace(_ old: AccessToken?, with new: AccessToken?) async throws -> Bool {
    if let problem = place.problem.value { throw problem }
    place.beforeReplace.value?()
    return place.token.update { token in
      guard AccessToken.isSame(token, old) else { return false }
      token = new
      return true
    }
  }
}
