import RequestBehaviors

/// The slots of a drainer, which limit the requests at a time.
extension OutboxDrainer {
  private var limit: Int { min(max(1, core.settings.concurrency), Int.max / 2) }

  /// The number of entries that are claimed at a time.
  var claimLimit: Int { limit + OutboxSlots.ahead(of: limit) }

  /// Asks for a slot for an attempt; those that ask first are sent first.
  func askForSlot(for attempt: OutboxAttempt) -> OutboxSlots.Reply {
    guard (try? attempt.made.get()) != nil else { return .notNeeded }
    return state.withLock { state in
      guard maySend(attempt.row, state) else { return .refused }
      return state.slots.take(upTo: limit).map { .waiting($0) } ?? .taken
    }
  }

  /// Waits until an attempt may send its request.
  ///
  /// - Returns: False if it may not, because sending has ended, a pause has begun, a user has signed in or out, or the
  ///   time of the entry is over. Its entry waits again.
  func takeSlot(_ reply: OutboxSlots.Reply, for attempt: OutboxAttempt) async -> Bool {
    switch reply {
    case .notNeeded: return true
    case .refused: return false
    case .taken: break
    case .waiting(let waiter): guard await (try? waiter.value()) == true else { return false }
    }
    // The wait was as long as a request, and the task may have begun late.
    if core.members == attempt.members, state.withLock({ maySend(attempt.row, $0, besides: 1) }) { return true }
    giveSlotBack()
    return false
  }

  /// Decides whether an entry that is claimed may be sent now; in a pause, only one that nothing is sent beside.
  ///
  /// - Parameters:
  ///   - row: The entry.
  ///   - state: The state of the drainer.
  ///   - own: The number of slots that the entry's own attempt has.
  /// - Returns: Whether it may.
  private func maySend(_ row: OutboxRow, _ state: State, besides own: Int = 0) -> Bool {
    let now = core.clock.now()
    let isOver = row.expiresAt.map { $0 <= core.now } ?? false
    let isOwnerPaused = state.ownerPauses[row.scope]?.lasts(at: now) == true
    return isWanted(state) && !state.hasLostClaims && !isOver && !isOwnerPaused
      && state.pause.permits(running: state.slots.count - own, limit: .max, now: now)
  }

  /// Gives the slot of an attempt back that has ended, if it had one.
  func giveSlotBack(_ reply: OutboxSlots.Reply) {
    if case .notNeeded = reply { return }
    giveSlotBack()
  }

  /// Gives the slot of a request that has ended to the attempt that has waited for the longest time.
  private func giveSlotBack() {
    // A cancelled attempt does not want it any more.
    while let waiter = state.withLock({ $0.slots.giveBack() }), !waiter.settle(.success(true)) {}
  }
}
