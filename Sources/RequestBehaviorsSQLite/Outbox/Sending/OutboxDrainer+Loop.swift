import Foundation
import RequestBehaviors

/// The loop of a drainer: it holds the lock of the file, claims entries, and ends the calls of `drain`.
extension OutboxDrainer {
  func loop() async {
    var held: OutboxLock.Held?
    var done: [Waiter<Void>] = []
    while goesOn() {
      var hasFailed = false
      let lastDrain = state.withLock { $0.lastDrain }
      do {
        // After the end only the attempts under way are waited for; each one raises the signal when it has ended.
        if state.withLock({ !$0.isEnded }) { done = try await look(&held) }
      } catch {
        hasFailed = true
        fail(error, for: lastDrain)
      }
      guard goesOn() else { break }
      for waiter in done { waiter.settle(.success(())) }
      done = []
      // After an error of the file no more often than for the work of others.
      let isWaitingForOthers = held == nil || hasFailed
      await core.signal.wait(for: isWaitingForOthers ? pollInterval : timeToWait(), on: core.clock)
    }
    held?.end()
    let waiting = state.withLock { state in
      state.loop = nil
      defer { state.endings = [] }
      return state.endings
    }
    // Not before the lock is given back: the caller of `drain` may ask another outbox on the file to send next.
    for waiter in done + waiting { waiter.settle(.success(())) }
    // Something may have been asked for while the lock was given back.
    run()
  }

  /// Does what is to be done now: takes the lock, follows users and the clock, and begins what is due.
  ///
  /// - Parameter held: The lock, if this outbox holds it.
  /// - Returns: The calls of `drain` that are over.
  /// - Throws: The error of the file.
  private func look(_ held: inout OutboxLock.Held?) async throws -> [Waiter<Void>] {
    if held == nil {
      held = try await lock.take()
      // A process that ended can have left claims. They are looked for until that succeeds.
      if held != nil { state.withLock { $0.hasLostClaims = true } }
    }
    if held != nil, state.withLock({ $0.hasLostClaims && $0.workers.isEmpty }) { try await recover() }
    if held != nil { try await readSessionsAgain() }
    try await core.refreshOwners()
    followSignIns()
    try await core.discardEnded()
    try await followClock(canSend: held != nil)
    if held != nil {
      try await wakeWithoutUser()
      try await noteAbsences()
      try await fill()
    }
    return try await finishedDrains(canSend: held != nil)
  }

  /// Gives claims back whose attempts are over.
  private func recover() async throws {
    try await core.recover()
    state.withLock { $0.hasLostClaims = false }
  }

  /// The shortest time between two readings of who is signed in.
  private static let readingInterval = Duration.seconds(10)

  /// Reads who is signed in, if entries wait for users who are not: another process may have signed them in.
  private func readSessionsAgain() async throws {
    let now = core.clock.now()
    let isDue = state.withLock { state in
      if let last = state.lookedForSignIns, now - last < Self.readingInterval { return false }
      state.lookedForSignIns = now
      return true
    }
    if isDue, try await core.hasAbsentOwners() { _ = await readSessions() }
  }

  /// Reads who is signed in, for a poll interval at most.
  ///
  /// A token store that hangs keeps neither the entries of others waiting, nor the end of the sending.
  ///
  /// - Returns: Whether all sessions could be read in that time.
  private func readSessions() async -> Bool {
    let end = core.clock.now() + pollInterval
    let isOther = state.withLock { state in
      defer { state.isReadingSessions = true }
      return state.isReadingSessions
    }
    // A look during a reading begins no other, however long it takes.
    if isOther { return false }
    let areRead = Locked(false)
    Task { [core, state] in
      let result = await core.client.readSessionsAgain()
      areRead.withLock { $0 = result }
      state.withLock { $0.isReadingSessions = false }
      core.signal.raise()
    }
    while state.withLock({ $0.isReadingSessions }), goesOn(), core.clock.now() < end {
      await core.signal.wait(for: end - core.clock.now(), on: core.clock)
    }
    return areRead.withLock { $0 }
  }

  /// The interval at which accounts that are away are looked for.
  private static let absenceInterval = Duration.seconds(3_600)

  /// The wait after a look that could not tell whether users have left.
  private static let repeatedLook = Duration.seconds(60)

  /// Looks for accounts that are away, when users come and go and once an hour.
  ///
  /// An account that is seen to be back begins its time anew when it leaves again.
  private func noteAbsences() async throws {
    // A user who is not known yet may be there.
    guard core.members.allSatisfy(\.isKnown) else { return }
    let (present, now) = (core.present, core.clock.now())
    let isDue = state.withLock { state in
      state.lookedForAbsent.map { $0.present != present || now - $0.time >= Self.absenceInterval } ?? true
    }
    guard isDue else { return }
    let hasDiscarded = try await core.discardLeft(readingBy: readSessions)
    let hasLooked = try await core.buryAbsent(readingBy: readSessions) && hasDiscarded
    let time = hasLooked ? now : now - Self.absenceInterval + Self.repeatedLook
    state.withLock { $0.lookedForAbsent = (present, time) }
  }

  /// Treats an error of the file: the calls of `drain` up to a number get it.
  private func fail(_ error: any Error, for lastDrain: Int) {
    if (error as? NetworkError)?.code == .clientShutDown { return end() }
    core.tell(OutboxEvent(.failed, message: "\(error)", error: error))
    endDrains(error, upTo: lastDrain)
    if core.store.state.isClosed { end(with: error) }
  }

  /// Ends the calls of `drain` with an error of the file.
  ///
  /// - Parameters:
  ///   - error: The error.
  ///   - last: The number of the last call before the work that failed. A later call may be about a file that works
  ///     again, such as that of a store which was resumed.
  func endDrains(_ error: any Error, upTo last: Int) {
    let drains = state.withLock { state in
      let ended = state.drains.filter { $0.key <= last }
      for id in ended.keys { state.drains[id] = nil }
      return ended.values
    }
    for drain in drains { drain.waiter.settle(.failure(error)) }
  }

  /// Begins attempts until there are enough, or no entry is due any more.
  private func fill() async throws {
    while mayBegin() {
      guard let attempt = try await core.claimNext(of: { self.mayBegin() ? self.ready(of: $0) : [] }) else { return }
      begin(attempt)
    }
  }

  private func mayBegin() -> Bool {
    let now = core.clock.now()
    return state.withLock { state in
      // Lost claims are given back when no attempt is under way, so none begins before.
      guard isWanted(state), !state.hasLostClaims else { return false }
      return state.pause.permits(running: state.workers.count, limit: claimLimit, now: now)
    }
  }

  /// Removes the calls of `drain` for which nothing more can be sent.
  ///
  /// - Parameter canSend: Whether this outbox sends, and not another one on the file.
  /// - Returns: The calls.
  /// - Throws: The error of reading the file.
  private func finishedDrains(canSend: Bool) async throws -> [Waiter<Void>] {
    // A call that comes from now on may be about an entry that the next line does not see.
    let (isIdle, drains, isPaused) = state.withLock {
      // The entries without a user are tried once for each call, by the outbox that sends.
      let hasLooked = !canSend || !$0.wakesWithoutUser
      // Another outbox that sends has given lost claims back.
      let hasAllClaims = !canSend || !$0.hasLostClaims
      return ($0.workers.isEmpty && hasAllClaims && hasLooked, $0.drains, $0.pause.isActive)
    }
    guard isIdle, !drains.isEmpty else { return [] }
    let (present, ready) = (core.present, ready(of: core.present))
    // The entries of owners without a token wait for the end of a pause, as all do without a network.
    let isReady = try await hasDueEntry(of: ready)
    var isDue = isReady
    if !isReady, ready.count < present.count { isDue = try await hasDueEntry(of: present) }
    let isSentByOthers = try await canSend ? false : core.isSending()
    // A call with a limit also waits for an entry that rests, because the server or the network failed just now.
    let isResting = !isDue && drains.values.contains { $0.end != nil }
    let rest = isResting ? try await timeToNextSendableEntry(of: present) : nil
    let now = core.clock.now()
    let done = drains.filter { _, drain in
      if let end = drain.end, let rest, now + rest <= end { return false }
      guard isDue || isSentByOthers else { return true }
      return (isPaused || !isReady) && canSend && drain.end == nil
    }
    state.withLock { state in for id in done.keys { state.drains[id] = nil } }
    return done.values.map(\.waiter)
  }

  /// Returns the time at which the next entry of an owner is due; nil if none waits.
  private func nextTime(of owners: Set<String?>) async throws -> Int64? {
    try await core.store.read { db in
      try owners.compactMap { try self.core.table(db).nextTime(of: $0) }.min()
    }
  }

  /// Returns whether an entry of an owner is due.
  private func hasDueEntry(of owners: Set<String?>) async throws -> Bool {
    try await nextTime(of: owners).map { $0 <= core.now } ?? false
  }

  /// Returns the time until the next entry of an owner that this program can send is due; nil if none waits.
  ///
  /// An entry that it cannot send is looked at again and again, but no call waits for it.
  private func timeToNextSendableEntry(of owners: Set<String?>) async throws -> Duration? {
    let core = core
    return try await core.store.read { db in
      try owners.compactMap { owner in
        try core.table(db).nextTime(of: owner, operations: core.sendableOperations, origins: core.sendableOrigins)
      }.min()
    }.map { .milliseconds($0 - core.now) }
  }

  private var pollInterval: Duration { max(core.settings.pollInterval, .milliseconds(1)) }

  /// The time until the loop looks again, unless the signal comes before, as at the end of each request.
  private func timeToWait() async -> Duration {
    let poll = pollInterval
    guard state.withLock({ $0.workers.isEmpty }) else { return poll }
    let pause = timeToEndOfPause()
    let isPaused = state.withLock { $0.pause.lasts(at: core.clock.now()) }
    let next = isPaused ? nil : try? await nextTime(of: ready(of: core.present))
    let wait = [pause, next.map { .milliseconds($0 - core.now) }].compactMap(\.self).min() ?? poll
    return min(poll, max(.milliseconds(1), wait))
  }

  /// Keeps the waits and limits of entries when the wall clock has been set.
  ///
  /// - Parameter canSend: Whether this outbox sends, and so moves the limits for all on the file.
  /// - Throws: The error of the file.
  func followClock(canSend: Bool) async throws {
    let drift = Double(core.now) / 1_000 - Double(core.clock.now().storedTime) / 1_000
    let jump = state.withLock { state in
      state.noteDrift(drift)
      return state.unfollowedJump
    }
    guard let jump else { return }
    // Tried at each look until the file takes it: otherwise the entries would wait until the old date comes.
    try await core.followClock(setForwardBy: canSend ? jump : 0)
    state.withLock { state in state.unfollowedJump = state.unfollowedJump.flatMap { $0 > jump ? $0 - jump : nil } }
  }
}

extension OutboxDrainer.State {
  /// Notes the difference between the clocks, which changes when the wall clock is set.
  fileprivate mutating func noteDrift(_ new: Double) {
    defer { drift = new }
    if let drift, abs(new - drift) < 1 { return }
    let jump = Int64((max(new - (drift ?? new), 0) * 1_000).rounded())
    unfollowedJump = (unfollowedJump ?? 0) + jump
    setForward += jump
  }
}
