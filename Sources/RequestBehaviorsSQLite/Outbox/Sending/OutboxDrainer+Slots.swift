import RequestBehaviors

/// The slots of a drainer, which limit the requests at a time.
extension OutboxDrainer {
  private var limit: Int { min(max(1, core.settings.concurrency), Int.max / 2) }

  /// The number of entries that are claimed at a time.
  var claimLimit: Int { limit + OutboxSlots.ahead(of: limit) }

  /// Waits until an attempt may send its request.
  ///
  /// - Returns: False if it may not, because sending has ended, a pause has begun, a user has signed in or out, or the
  ///   time of the entry is over. Its entry waits again.
  func takeSlot(for attempt: OutboxAttempt) async -> Bool {
    let (now, members) = (core.clock.now(), core.members)
    let (isRefused, waiter) = state.withLock { state -> (Bool, Waiter<Bool>?) in
      // In a pause the limit is the one request that finds out whether it is over.
      let mayBegin = !state.pause.isActive || state.pause.permits(running: state.slots.count, limit: 1, now: now)
      guard isWanted(state), !isPaused(attempt.row, state, now), mayBegin else { return (true, nil) }
      return (false, state.slots.take(upTo: limit))
    }
    if isRefused { return false }
    guard let waiter else { return true }
    guard await (try? waiter.value()) == true else { return false }
    if core.members == members, maySendNow(attempt.row) { return true }
    giveSlotBack()
    return false
  }

  private func isPaused(_ row: OutboxRow, _ state: State, _ now: Duration) -> Bool {
    state.ownerPauses[row.scope]?.lasts(at: now) == true
  }

  /// Returns whether an entry may still be sent after it has waited for a slot.
  private func maySendNow(_ row: OutboxRow) -> Bool {
    if let end = row.expiresAt, end <= core.now { return false }
    let now = core.clock.now()
    return state.withLock { isWanted($0) && !$0.hasLostClaims && !$0.pause.isActive && !isPaused(row, $0, now) }
  }

  /// Gives the slot of a request that has ended to the attempt that has waited for the longest time.
  func giveSlotBack() {
    // A cancelled attempt does not want it any more.
    while let waiter = state.withLock({ $0.slots.giveBack() }), !waiter.settle(.success(true)) {}
  }
}
