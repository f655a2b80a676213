import RequestBehaviors

/// The slots of a drainer, which limit the requests at a time.
extension OutboxDrainer {
  private var limit: Int { max(1, core.settings.concurrency) }

  /// The number of entries that are claimed at a time.
  var claimLimit: Int { limit + OutboxSlots.ahead(of: limit) }

  /// Waits until an attempt may send its request.
  ///
  /// - Returns: False if it may not, because sending has ended or a pause has begun. Its entry waits again.
  func takeSlot(for attempt: OutboxAttempt) async -> Bool {
    let now = core.clock.now()
    let (isRefused, waiter) = state.withLock { state -> (Bool, Waiter<Bool>?) in
      let isPaused = state.ownerPauses[attempt.row.scope]?.lasts(at: now) == true
      // In a pause the limit is the one request that finds out whether it is over.
      let mayBegin = !state.pause.isActive || state.pause.permits(running: state.slots.count, limit: 1, now: now)
      guard isWanted(state), !isPaused, mayBegin else { return (true, nil) }
      return (false, state.slots.take(upTo: limit))
    }
    if isRefused { return false }
    return await (try? waiter?.value()) ?? (waiter == nil)
  }

  /// Gives the slot of a request that has ended to the attempt that has waited for the longest time.
  func giveSlotBack() {
    // A cancelled attempt does not want it any more.
    while let waiter = state.withLock({ $0.slots.giveBack() }), !waiter.settle(.success(true)) {}
  }

  /// Sends the attempts that wait for a slot away, because a pause has begun.
  func dismissWaiting() {
    for waiter in state.withLock({ $0.slots.dismissWaiting() }) { waiter.settle(.success(false)) }
  }
}
