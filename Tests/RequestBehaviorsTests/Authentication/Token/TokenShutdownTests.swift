import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// A session outlives the clients that use it: shutting one down ends that client's calls, not the session's work.
@Suite(.limited) struct TokenShutdownTests {
  private let fixture = TokenFixture()
  private let gate = TestGate()

  private func client(_ session: TokenSession) -> NetworkClient {
    var configuration = RequestConfiguration(baseURL: baseURL, behaviors: [.tokenAuth(session)])
    configuration.clock = fixture.clock.requestClock
    return NetworkClient(configuration: configuration, transport: fixture.server.transport)
  }

  private func slowSession() -> TokenSession {
    TokenSession(
      source: ClosureTokenSource(fetch: { [gate] _ in
        await gate.pass()
        return AccessToken("late")
      }))
  }

  @Test func `shutdown ends a call that waits for a token`() async throws {
    let client = client(slowSession())
    let call = Task { try await client.send(.get("a")) }
    await gate.waitForArrivals(1)
    await client.shutdown()
    #expect(try await fixture.error(call).code == .clientShutDown)
    gate.open()
  }

  @Test func `another client's call still times out after the first client was shut down`() async throws {
    let session = slowSession()
    let (first, second) = (client(session), client(session))
    let events = session.events
    let ended = Task { try await first.send(.get("a")) }
    await gate.waitForArrivals(1)
    await first.shutdown()
    #expect(try await fixture.error(ended).code == .clientShutDown)
    fixture.clock.advance(by: .seconds(30))
    #expect(await events.names(through: "refreshFailed") == ["refreshFailed"])
    let waiting = Task { try await second.send(.get("b")) }
    await fixture.clock.waitForSleepers(1)
    fixture.clock.advance(by: .seconds(30))
    #expect(try await fixture.error(waiting).code == .tokenUnavailable)
    gate.open()
  }

  @Test func `a token that could not be saved is saved later though the first client was shut down`() async throws {
    let saves = Box(0)
    let store = HeldTokenStore(onSave: { [gate] _ in
      saves.update { $0 += 1 }
      if saves.value == 1 { throw Failure("disk full") }
      gate.open()
    })
    let session = TokenSession(source: ClosureTokenSource(fetch: { _ in AccessToken("fetched") }), store: store)
    let first = client(session)
    fixture.answer(200)
    try await first.send(.get("a"))
    await first.shutdown()
    await fixture.clock.waitForSleepers(1)
    fixture.clock.advance(by: .seconds(1))
    await gate.pass()
    // The store's operations follow each other.
    try await session.signIn(AccessToken("newer"))
    #expect(store.saves == ["fetched", "newer"])
  }
}
