import Foundation
import RequestBehaviors

/// The pauses of a drainer: of everything while no request reaches the server, and of an owner without a token.
///
/// A refusal of the server is no pause: it is the entry's own wait, by ``OutboxNextStep``.
extension OutboxDrainer {
  /// Begins or ends a pause by the outcome of an attempt at an entry of an owner.
  ///
  /// An attempt that began before a sign-in, or before the device got another network, begins no pause: what it tells
  /// no longer holds, and no later event would end the pause.
  ///
  /// - Parameters:
  ///   - outcome: The outcome.
  ///   - owner: The owner of the entry.
  ///   - freshStarts: The number of fresh starts when the attempt began.
  func note(_ outcome: OutboxOutcome, of owner: String?, since freshStarts: Int) {
    switch outcome {
    case .nothing(let text, _): begin(because: text, since: freshStarts) { $0.pause.begin(now: $1) }
    case .withoutToken(let text, _):
      begin(because: text, since: freshStarts) { $0.ownerPauses[owner, default: OutboxPause()].begin(now: $1) }
    case _ where outcome.provesNetwork: endPauses(of: owner)
    default: break
    }
  }

  private func begin(because text: String, since freshStarts: Int, _ pause: (inout State, Duration) -> Duration?) {
    let now = core.clock.now()
    // The attempts that wait for a slot are dismissed under the same lock. Otherwise one could get a slot in the pause.
    let (begun, dismissed) = state.withLock { state -> (Duration?, [Waiter<Bool>]) in
      guard state.freshStarts == freshStarts, let length = pause(&state, now) else { return (nil, []) }
      return (length, state.slots.dismissWaiting())
    }
    for waiter in dismissed { waiter.settle(.success(false)) }
    guard let length = begun else { return }
    let date = core.clock.date().addingTimeInterval(Double(length.storedTime) / 1_000)
    core.tell(OutboxEvent(.paused, date: date, message: text))
  }

  /// Tries everything again at once, because the device has got another network.
  func endPauses() { endPauses { $0.forgetPauses() } }

  /// Goes on after a response to a request of an owner.
  private func endPauses(of owner: String?) {
    endPauses { state in
      let hadToken = state.ownerPauses.removeValue(forKey: owner) == nil
      return state.pause.end() || !hadToken
    }
  }

  private func endPauses(_ end: (inout State) -> Bool) {
    guard state.withLock({ end(&$0) }) else { return }
    core.tell(OutboxEvent(.resumed))
    core.signal.raise()
  }

  /// Tries the entries of owners again who have signed in since the last look.
  func followSignIns() {
    let members = core.members
    let hasEnded = state.withLock { state in
      defer { state.members = members }
      guard let last = state.members, last != members else { return false }
      defer { (state.ownerPauses, state.wakesWithoutUser) = ([:], true) }
      state.freshStarts += 1
      return !state.ownerPauses.isEmpty
    }
    if hasEnded { core.tell(OutboxEvent(.resumed)) }
  }

  /// Tries an entry again whose user was not signed in when its attempt began, and may be by its end.
  ///
  /// The loop can have followed the sign-in while the attempt was under way, before the entry began to rest.
  func noteFreshStart(since freshStarts: Int, after outcome: OutboxOutcome) {
    guard case .withoutUser = outcome else { return }
    state.withLock { if $0.freshStarts != freshStarts { $0.wakesWithoutUser = true } }
  }

  /// Makes the entries due whose user was not signed in, after a sign-in, or when the caller asks for a new look.
  func wakeWithoutUser() async throws {
    let isAsked = state.withLock { state in
      defer { state.wakesWithoutUser = false }
      return state.wakesWithoutUser
    }
    guard isAsked else { return }
    do { try await core.wakeWithoutUser() } catch {
      // They are still to be made due.
      state.withLock { $0.wakesWithoutUser = true }
      throw error
    }
  }

  /// The owners whose entries may be sent now, of those who are present.
  func ready(of present: Set<String?>) -> Set<String?> {
    let now = core.clock.now()
    return state.withLock { state in present.filter { state.ownerPauses[$0]?.lasts(at: now) != true } }
  }

  /// The time until the first pause ends; nil without one.
  func timeToEndOfPause() -> Duration? {
    let now = core.clock.now()
    return state.withLock { state in
      if state.pause.lasts(at: now) { return state.pause.until }
      return state.ownerPauses.values.filter { $0.lasts(at: now) }.compactMap(\.until).min()
    }.map { $0 - now }
  }
}
