import Foundation
import TestSupport

// The state machine is the library's own: through the public API, interleavings are the scheduler's to choose.
@testable import RequestBehaviors

/// Calls, a server and a session that do at random what they may do next, one step at a time.
struct TokenSimulation {
  enum Phase: Equatable {
    case new, waiting, waitingAgain
    case sent(Int)
    case sentAgain(Int)
    case done
  }

  struct SimulatedCall {
    var phase = Phase.new
    var snapshot = 0
    var generation = 0
    var arrival = 0
    var leasedAt = 0
    var issued: IssuedToken?
    var sends = 0
    var lastFailureAsked: Int?
  }

  private(set) var problems: [String] = []
  private(set) var calls: [SimulatedCall] = []
  private(set) var asked = 0
  private var random: SeededGenerator
  private var state = TokenState(policy: TokenRefreshPolicy(), makeID: { "id" })
  private var reference = TokenReference()
  private var now = 0
  private var serial = 0
  private var valid = 0
  private var refresh: TokenState.Refresh?

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    state.load(nil, now: .zero, date: Date(timeIntervalSince1970: 0))
  }

  mutating func run(steps: Int) {
    for _ in 0..<steps where problems.isEmpty { step() }
    // No call may still wait when all work under way has ended.
    while let index = calls.firstIndex(where: { $0.phase != .done }), problems.isEmpty {
      if let refresh { complete(refresh, .success) } else { advance(index) }
    }
    if calls.contains(where: { $0.sends > 2 }) { problems.append("a call was sent more than twice") }
  }

  private enum Outcome: CaseIterable { case success, transient, unasked, terminal }

  private mutating func step() {
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<4: calls.append(SimulatedCall())
    case 4..<12: if let index = calls.indices.randomElement(using: &random) { advance(index) }
    case 12..<14:
      if let refresh {
        complete(refresh, Outcome.allCases.randomElement(using: &random) ?? .success)
      }
    case 14: timeOut()
    case 15: writeElsewhere()
    case 16: now += [1, 5, 29, 60, 500].randomElement(using: &random) ?? 1
    case 17: valid = -1
    case 18: signIn()
    default: signOut()
    }
  }

  private mutating func expect(_ found: TokenReference.Expected, _ expected: TokenReference.Expected, _ place: String) {
    if found != expected { problems.append("\(place): found \(found), expected \(expected)") }
  }

  // MARK: - Calls

  private mutating func advance(_ index: Int) {
    switch calls[index].phase {
    case .new:
      calls[index].snapshot = state.failureCount
      calls[index].generation = state.generation
      calls[index].arrival = reference.log.count
      let expected = reference.acquire(at: now, arrival: calls[index].arrival)
      decide(index, state.acquire(now: .seconds(now), snapshot: calls[index].snapshot), expected, again: false)
    case .sent(let token), .sentAgain(let token):
      if token == valid {
        calls[index].phase = .done
        return
      }
      guard case .sent = calls[index].phase, let issued = calls[index].issued else {
        calls[index].phase = .done
        return
      }
      guard calls[index].generation == state.generation else {
        calls[index].phase = .done
        return
      }
      let expected = reference.renew(token, leasedAt: calls[index].leasedAt, at: now, arrival: calls[index].arrival)
      decide(index, state.renew(issued, now: .seconds(now), snapshot: calls[index].snapshot), expected, again: true)
    case .waiting, .waitingAgain: if refresh == nil { problems.append("a call waits for nothing") }
    case .done: break
    }
  }

  private mutating func decide(
    _ index: Int, _ decision: TokenState.Decision, _ expected: TokenReference.Expected, again: Bool
  ) {
    let waiting = again ? Phase.waitingAgain : .waiting
    switch decision {
    case .use(let issued):
      expect(.use(serial(of: issued)), expected, "use")
      send(index, issued, again: again)
    case .wait:
      expect(.wait, expected, "wait")
      calls[index].phase = waiting
    case .start(let new):
      expect(.start, expected, "start")
      if refresh != nil { problems.append("two refreshes at once") }
      calls[index].phase = waiting
      begin(new)
    case .fail:
      expect(.fail, expected, "fail")
      calls[index].phase = .done
    case .stand:
      expect(.stand, expected, "stand")
      calls[index].phase = .done
    }
  }

  private mutating func send(_ index: Int, _ issued: IssuedToken, again: Bool) {
    calls[index].issued = issued
    calls[index].leasedAt = reference.log.count
    calls[index].sends += 1
    calls[index].phase = again ? .sentAgain(serial(of: issued)) : .sent(serial(of: issued))
  }

  private func serial(of issued: IssuedToken) -> Int { Int(issued.token.value) ?? -2 }

  // MARK: - Flights

  private mutating func begin(_ new: TokenState.Refresh) {
    refresh = new
    asked += 1
    let hadToken = reference.current != nil
    reference.note(.asked(at: now))
    switch state.begin(new, now: .seconds(now)) {
    case .fetch: if hadToken { problems.append("a first token is fetched where there is one") }
    case .refresh(let token):
      if Int(token.value) != reference.current?.serial { problems.append("another token is refreshed") }
    case .use, .end: problems.append("a refresh did not begin")
    }
  }

  private mutating func makeToken() -> (AccessToken, lifetime: Int?) {
    serial += 1
    let lifetime = [nil, 0, 30, 600, 3_600].randomElement(using: &random) ?? nil
    let token = AccessToken("\(serial)", lifetime: lifetime.map { .seconds($0) })
    // A token that comes expired is trusted until the server refuses it.
    return (token, lifetime == 0 ? nil : lifetime)
  }

  private mutating func complete(_ ended: TokenState.Refresh, _ end: Outcome) {
    refresh = nil
    let outcome: TokenState.RefreshOutcome
    switch end {
    case .success:
      let (token, lifetime) = makeToken()
      valid = serial
      reference.note(.token(serial: serial, at: now, lifetime: lifetime, endsFlight: true))
      outcome = state.complete(ended, with: token, now: .seconds(now))
      save()
      if case .use = outcome {} else { problems.append("a token was not taken") }
    case .transient, .unasked, .terminal:
      // Another process has written the token's successor.
      let wasReplaced = ended.version != state.version
      let isTerminal = end == .terminal
      if !wasReplaced {
        let failed = end == .unasked ? TokenReference.Entry.failedUnasked : .failed
        reference.note(isTerminal && reference.current != nil ? .signedOut : failed)
      }
      outcome = state.complete(
        ended, failing: CancellationError(), isTerminal: isTerminal, wasAsked: end != .unasked || wasReplaced)
      save()
      if wasReplaced { endRefreshInReference() }
    }
    release(outcome)
  }

  /// The token that another process has written ends the refresh for those who wait.
  private mutating func endRefreshInReference() {
    guard let current = reference.current else { return }
    reference.note(.token(serial: current.serial, at: current.at, lifetime: current.lifetime, endsFlight: true))
  }

  private mutating func timeOut() {
    guard let ended = refresh else { return }
    let wasReplaced = ended.version != state.version
    reference.note(wasReplaced ? .overdue : .gaveUp)
    release(state.timeOut(on: ended))
  }

  /// Another process refreshes the token, signs out, or signs a user in, and the store is read again.
  private mutating func writeElsewhere() {
    guard let token = state.token else { return }
    serial += 1
    let change = Int.random(in: 0..<4, using: &random)
    var found = AccessToken("\(serial)", lifetime: .seconds(600))
    found.sessionID = change == 1 ? "other \(serial)" : token.sessionID
    if change > 0 { valid = serial }
    switch state.review(change == 0 ? nil : found, now: .seconds(now), date: Date(timeIntervalSince1970: 0)) {
    case .refreshed where change > 1:
      reference.note(.token(serial: serial, at: now, lifetime: 600, endsFlight: false))
    case .signedOut where change == 0:
      reference.note(.signedOut)
      endByUser()
    case .signedIn(wasEmpty: false) where change == 1:
      reference.note(.signedInElsewhere(serial: serial, at: now, lifetime: 600))
      endByUser()
    case let review: problems.append("\(change) was taken for \(review)")
    }
    let again = state.review(state.token, now: .seconds(now), date: Date(timeIntervalSince1970: 0))
    if case .unchanged = again {} else { problems.append("what was read before is new") }
  }

  private mutating func save() { state.endSave(of: state.token, isPending: false, succeeded: true) }

  private mutating func endByUser() {
    refresh = nil
    release(.signOut(CancellationError()))
  }

  private mutating func release(_ outcome: TokenState.RefreshOutcome) {
    let spare = state.unexpired(now: .seconds(now))
    for index in calls.indices where calls[index].phase == .waiting || calls[index].phase == .waitingAgain {
      let again = calls[index].phase == .waitingAgain
      switch outcome {
      case .use(let issued):
        if issued.generation != calls[index].generation { problems.append("a call got somebody else's token") }
        send(index, issued, again: again)
      case .fail where !again && spare != nil:
        if let spare { send(index, spare, again: false) }
      case .fail, .signOut: calls[index].phase = .done
      case .ignore: problems.append("nobody was released")
      }
    }
  }

  // MARK: - The user

  private mutating func signIn() {
    serial += 1
    valid = serial
    reference.note(.signedIn(serial: serial, at: now, lifetime: 600))
    let token = AccessToken("\(serial)", lifetime: .seconds(600))
    state.signIn(token, now: .seconds(now), date: Date(timeIntervalSince1970: Double(now)))
    save()
    endByUser()
  }

  private mutating func signOut() {
    reference.note(.signedOut)
    state.signOut()
    save()
    endByUser()
  }
}
