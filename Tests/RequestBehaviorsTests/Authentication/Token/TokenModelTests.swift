import Foundation
import TestSupport
import Testing

@testable import RequestBehaviors

@Suite(.limited) struct TokenModelTests {
  @Test(arguments: 0..<4)
  func `random interleavings match the reference`(quarter: UInt64) {
    var calls = 0
    var asked = 0
    for seed in (quarter * 1_000)..<((quarter + 1) * 1_000) {
      var simulation = TokenSimulation(seed: seed)
      simulation.run(steps: 80)
      #expect(simulation.problems == [], "seed \(seed)")
      calls += simulation.calls.count
      asked += simulation.asked
      if !simulation.problems.isEmpty { break }
    }
    #expect(calls > 10_000)
    #expect(asked > 2_000)
  }

  @Test func `the result of a refresh is thrown away after a sign-out`() {
    var state = TokenState(policy: TokenRefreshPolicy())
    state.load(AccessToken("t0"), now: .zero, date: Date())
    let issued = IssuedToken(token: AccessToken("t0"), version: 1, generation: 0)
    guard case .start(let refresh) = state.renew(issued, now: .zero, snapshot: 0) else {
      Issue.record("no refresh")
      return
    }
    _ = state.begin(refresh, now: .zero)
    state.signOut()
    #expect(!state.isUnderWay(refresh.id))
    if case .ignore = state.complete(refresh, with: AccessToken("late"), now: .zero) {} else { Issue.record("taken") }
    #expect(state.token == nil)
  }

  @Test func `a sign-in while the store is read is not replaced by the stored token`() {
    var state = TokenState(policy: TokenRefreshPolicy())
    state.signIn(AccessToken("bob"), now: .zero, date: Date())
    state.load(AccessToken("alice"), now: .zero, date: Date())
    #expect(state.token?.value == "bob")
  }

  @Test func `a change that waits to be saved is not replaced by another process's token`() {
    var state = TokenState(policy: TokenRefreshPolicy())
    state.load(AccessToken("alice"), now: .zero, date: Date())
    state.signIn(AccessToken("bob"), now: .zero, date: Date())
    state.beginSave()
    guard case .unchanged = state.review(AccessToken("carol"), now: .zero, date: Date()) else {
      Issue.record("replaced")
      return
    }
    #expect(state.token?.value == "bob")
    state.endSave(of: state.token, isPending: true, succeeded: true)
    guard case .signedIn(wasEmpty: false) = state.review(AccessToken("carol"), now: .zero, date: Date()) else {
      Issue.record("not seen")
      return
    }
  }

  @Test func `a released subscriber is forgotten`() async {
    let broadcast = Broadcast<TokenEvent>(limit: 64)
    let (events, heard) = (broadcast.subscribe(), TestGate())
    #expect(broadcast.subscriberCount == 1)
    let task = Task { for await _ in events { heard.arrive() } }
    broadcast.publish(.signedIn)
    await heard.waitForArrivals(1)
    task.cancel()
    await task.value
    #expect(broadcast.subscriberCount == 0)
  }

  @Test func `a call that comes before the store is read waits, and gets the stored token`() {
    var state = TokenState(policy: TokenRefreshPolicy())
    guard case .start(let refresh) = state.acquire(now: .zero, snapshot: 0) else {
      Issue.record("no refresh")
      return
    }
    if case .wait = state.acquire(now: .zero, snapshot: 0) {} else { Issue.record("did not wait") }
    state.load(AccessToken("t0"), now: .zero, date: Date())
    guard case .use(let issued) = state.begin(refresh, now: .zero) else {
      Issue.record("the source was asked")
      return
    }
    #expect(issued.token.value == "t0")
  }
}
