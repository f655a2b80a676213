import Foundation
import RequestBehaviors

/// The attempts of a drainer: a task for each request at a time.
extension OutboxDrainer {
  /// Begins an attempt, in a task that goes on with the entries which it claims as it settles others.
  func begin(_ attempt: OutboxAttempt) {
    core.tickets.begin(attempt.row.id)
    // Before the task, because tasks may begin in another order than that of the entries.
    let slot = askForSlot(for: attempt)
    state.withLock { state in
      state.lastWorker += 1
      let number = state.lastWorker
      // Under the lock, so that an attempt that ends at once finds its entry.
      let worker = AwaitedTask {
        var next = await self.run(attempt, slot)
        while let attempt = next { next = await self.run(attempt, self.askForSlot(for: attempt)) }
        _ = self.state.withLock { $0.workers.removeValue(forKey: number) }
        self.core.signal.raise()
      }
      state.workers[number] = worker
      if !isWanted(state) { worker.cancel() }
    }
  }

  /// Sends an entry and settles it; returns the attempt at the entry that was claimed with that.
  private func run(_ attempt: OutboxAttempt, _ slot: OutboxSlots.Reply) async -> OutboxAttempt? {
    defer { core.tickets.end(attempt.row.id) }
    let (freshStarts, setForward) = state.withLock { ($0.freshStarts, $0.setForward) }
    guard await takeSlot(slot, for: attempt) else {
      _ = await settle(attempt.row, OutboxAttempt.Ending(outcome: .ended(wasSent: false)))
      return nil
    }
    let ending = await attempt.run()
    // The client ends. It refuses this call, and would refuse each that follows.
    let isRefused = ending.outcome.isEnd && !Task.isCancelled
    if isRefused { state.withLock { $0.isEnded = true } }
    defer { if isRefused { endDrains(NetworkError.clientShutDown(), upTo: .max) } }
    // A pause begins before the entry is due again, and before another one is sent, or it would end at once.
    if !ending.outcome.provesNetwork { note(ending.outcome, of: attempt.row.scope, since: freshStarts) }
    giveSlotBack(slot)
    guard let settled = await settle(await followingClock(attempt.row, since: setForward), ending) else { return nil }
    noteFreshStart(since: freshStarts, after: settled.outcome)
    if settled.outcome == .notReady { await core.waitForDelivery(attempt.row.seq, since: attempt.deliveries) }
    if settled.outcome.provesNetwork { note(settled.outcome, of: attempt.row.scope, since: freshStarts) }
    if let next = settled.next { core.tickets.begin(next.row.id) }
    return settled.next
  }

  /// Returns an entry whose server has refused it for no longer than it has, if the clock was set forward meanwhile.
  ///
  /// - Parameters:
  ///   - row: The entry as it was claimed.
  ///   - setForward: How far the clock had ever been set forward then.
  /// - Returns: The entry.
  private func followingClock(_ row: OutboxRow, since setForward: Int64) async -> OutboxRow {
    // What fails is done at the loop's next look.
    try? await followClock(canSend: true)
    var row = row
    let jump = state.withLock { $0.setForward } - setForward
    row.refusedSince = row.refusedSince.map { $0 + jump }
    return row
  }

  /// The terms on which the end of an attempt claims another entry; nil if its task is to end.
  private func claimTerms() -> OutboxCore.ClaimTerms? {
    @Sendable func goesOn() -> Bool {
      state.withLock { state in
        isWanted(state) && !state.hasLostClaims && !state.pause.isActive && state.workers.count <= claimLimit
      }
    }
    return goesOn() && !Task.isCancelled ? core.claimTerms { goesOn() ? self.ready(of: $0) : [] } : nil
  }

  /// Records the end of an attempt; nil if it cannot be recorded any more.
  private func settle(_ row: OutboxRow, _ ending: OutboxAttempt.Ending) async -> OutboxCore.Settled? {
    do {
      return try await core.settle(row, ending, claiming: claimTerms())
    } catch {
      // In a task of its own: a cancelled one must still record what only it knows.
      return await Task { await self.settle(row, ending, after: error) }.value
    }
  }

  /// Records the end of an attempt after that has failed, and tries until it succeeds.
  private func settle(
    _ row: OutboxRow, _ ending: OutboxAttempt.Ending, after first: any Error
  ) async -> OutboxCore.Settled? {
    var (error, delay) = (first, Duration.milliseconds(100))
    var lastDrain = state.withLock { $0.lastDrain }
    while true {
      let text = "its attempt is not recorded yet"
      core.tell(OutboxEvent(.failed, id: row.id, name: row.operation, message: text, error: error))
      if isLost(after: error) { return nil }
      if delay > .milliseconds(400), isGivenUp(after: error, for: lastDrain) { return nil }
      try? await core.clock.sleep(for: delay)
      delay = min(delay * 2, .seconds(10))
      lastDrain = state.withLock { $0.lastDrain }
      do { return try await core.settle(row, ending, claiming: nil) } catch let next { error = next }
    }
  }

  /// Returns whether nothing can be recorded any more; then nothing more is sent, or all of it would be sent again.
  ///
  /// The claim is given back when the file is next opened.
  private func isLost(after error: any Error) -> Bool {
    let hasMoved = (error as? SQLiteError)?.tellsOfMovedFile == true
    guard core.store.state.isClosed || hasMoved else { return false }
    end(with: error)
    return true
  }

  /// Returns whether the end of an attempt is not recorded any more, because nothing is to be sent.
  ///
  /// Neither a `drain` nor the end of sending waits for a disk that stays full. The claim is given back when sending
  /// begins again.
  private func isGivenUp(after error: any Error, for lastDrain: Int) -> Bool {
    endDrains(error, upTo: lastDrain)
    return state.withLock { state in
      guard !isWanted(state) else { return false }
      state.hasLostClaims = true
      return true
    }
  }
}
