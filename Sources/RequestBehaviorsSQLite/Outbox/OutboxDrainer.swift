import Foundation
import RequestBehaviors

/// Sends the entries of an outbox: one loop that claims them, and a task for each request.
final class OutboxDrainer: Sendable {
  private struct State {
    var isStarted = false
    var isSuspended = false
    var isEnded = false
    var drains: [Int: Drain] = [:]
    var lastDrain = 0
    var loop: Task<Void, Never>?
    /// The attempts under way, by numbers of their own.
    ///
    /// The next attempt of an entry can begin before the last one has ended.
    var workers: [Int: Task<Void, Never>] = [:]
    var lastWorker = 0
    var pause = OutboxPause()
    /// The difference between the wall clock and the monotonic one.
    var drift: Double?
    /// The owners and the time of the last look for accounts that are away.
    var lookedForAbsent: (present: Set<String?>, time: Duration)?
    /// Whether an entry is claimed whose attempt is over.
    var hasLostClaims = false
    /// The calls that wait for the end of the loop.
    var endings: [Waiter<Void>] = []
  }

  /// A call of `drain`.
  private struct Drain {
    let waiter: Waiter<Void>
    /// Whether the call waits for the end of a pause, because its own time is limited.
    let outlastsPauses: Bool
  }

  let core: OutboxCore
  private let lock: OutboxLock
  private let state = Locked(State())

  init(_ core: OutboxCore) {
    self.core = core
    lock = OutboxLock(of: core.store, name: core.queue)
  }

  // MARK: Starting and stopping

  func start() {
    state.withLock { $0.isStarted = true }
    run()
  }

  func stop() async {
    state.withLock { $0.isStarted = false }
    await finish()
  }

  func suspend() async {
    state.withLock { $0.isSuspended = true }
    await finish()
  }

  func resume() {
    state.withLock { state in
      state.isSuspended = false
      state.pause = OutboxPause()
    }
    run()
  }

  /// Tries a bad network again at once, because the device has got another one.
  func endPause() {
    guard state.withLock({ $0.pause.end() }) else { return }
    core.tell(OutboxEvent(.resumed))
    core.signal.raise()
  }

  /// Ends sending for good; the claims of requests under way are given back.
  func end() {
    state.withLock { $0.isEnded = true }
    cancel()
  }

  /// Sends what is due, until nothing more can be sent.
  func drain(outlastingPauses: Bool) async throws {
    let waiter = Waiter<Void>()
    let id = try state.withLock { state -> Int? in
      if state.isEnded { throw NetworkError.clientShutDown() }
      guard !state.isSuspended else { return nil }
      state.pause = OutboxPause()
      state.lastDrain += 1
      state.drains[state.lastDrain] = Drain(waiter: waiter, outlastsPauses: outlastingPauses)
      return state.lastDrain
    }
    guard let id else { return }
    run()
    core.signal.raise()
    defer { _ = state.withLock { $0.drains.removeValue(forKey: id) } }
    try await waiter.value()
  }

  /// Ends the requests under way of a `drain` whose time is over, unless sending goes on without it.
  func cancelUnlessStarted() async {
    if state.withLock({ !$0.isStarted && $0.drains.isEmpty }) { await finish() }
  }

  /// Cancels the requests under way, and returns when their ends are recorded and the lock is given back.
  ///
  /// A later call that wants to send keeps the lock; then it is not waited for.
  private func finish() async {
    let workers = cancel()
    for worker in workers { await worker.value }
    let ending = state.withLock { state -> Waiter<Void>? in
      guard state.loop != nil, !isWanted(state) else { return nil }
      let ending = Waiter<Void>()
      state.endings.append(ending)
      return ending
    }
    // The wait ends soon, also for a task that is cancelled: the caller counts on the end.
    if let ending { await Task { try? await ending.value() }.value }
  }

  @discardableResult
  private func cancel() -> [Task<Void, Never>] {
    let (workers, drains) = state.withLock { state in
      defer { state.drains = [:] }
      return (Array(state.workers.values), Array(state.drains.values))
    }
    for worker in workers { worker.cancel() }
    for drain in drains { drain.waiter.settle(.success(())) }
    core.signal.raise()
    return workers
  }

  // MARK: The loop

  /// Whether the loop has something to do.
  private func isWanted(_ state: State) -> Bool {
    !state.isEnded && !state.isSuspended && (state.isStarted || !state.drains.isEmpty)
  }

  private func run() {
    let waiting = state.withLock { state -> [Waiter<Void>] in
      guard isWanted(state) else { return [] }
      if state.loop == nil { state.loop = Task { [weak self] in await self?.loop() } }
      // The loop goes on, so that its end is no longer waited for.
      defer { state.endings = [] }
      return state.endings
    }
    for waiter in waiting { waiter.settle(.success(())) }
    core.signal.raise()
  }

  /// Returns whether the loop goes on.
  private func goesOn() -> Bool { state.withLock { isWanted($0) || !$0.workers.isEmpty } }

  private func loop() async {
    var held: OutboxLock.Held?
    while goesOn() {
      var hasFailed = false
      do {
        if held == nil {
          held = try await lock.take()
          if held != nil { try await recover() }
        } else if state.withLock({ $0.hasLostClaims && $0.workers.isEmpty }) {
          try await recover()
        }
        try await core.refreshOwners()
        try await followClock()
        if held != nil {
          try await noteAbsences()
          try await fill()
        }
        try await finishDrains(canSend: held != nil)
      } catch {
        hasFailed = true
        await fail(error)
      }
      guard goesOn() else { break }
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
    for waiter in waiting { waiter.settle(.success(())) }
    // Something may have been asked for while the lock was given back.
    run()
  }

  /// Gives claims back whose attempts are over.
  private func recover() async throws {
    try await core.recover()
    state.withLock { $0.hasLostClaims = false }
  }

  /// Looks for accounts that are away, when users come and go and once an hour.
  ///
  /// An account that is seen to be back begins its time anew when it leaves again.
  private func noteAbsences() async throws {
    let (present, now) = (core.present, core.clock.now())
    let isDue = state.withLock { state in
      state.lookedForAbsent.map { $0.present != present || now - $0.time >= .seconds(3_600) } ?? true
    }
    guard isDue else { return }
    try await core.buryAbsent()
    state.withLock { $0.lookedForAbsent = (present, now) }
  }

  /// Treats an error of the file: those who wait for the end of sending get it.
  private func fail(_ error: any Error) async {
    if (error as? NetworkError)?.code == .clientShutDown { return end() }
    core.tell(OutboxEvent(.failed, message: "\(error)", error: error))
    endDrains(error)
    if core.store.state.isClosed { end() }
  }

  /// Ends the calls of `drain` with an error of the file.
  private func endDrains(_ error: any Error) {
    let drains = state.withLock { state in
      defer { state.drains = [:] }
      return Array(state.drains.values)
    }
    for drain in drains { drain.waiter.settle(.failure(error)) }
  }

  /// Begins attempts until there are enough, or no entry is due any more.
  private func fill() async throws {
    while mayBegin() {
      guard let row = try await core.claimNext() else { return }
      begin(row)
    }
  }

  private func mayBegin() -> Bool {
    let now = core.clock.now()
    return state.withLock { state in
      // Lost claims are given back when no attempt is under way, so none begins before.
      guard isWanted(state), !state.hasLostClaims else { return false }
      return state.pause.permits(running: state.workers.count, limit: core.settings.concurrency, now: now)
    }
  }

  /// Ends the calls of `drain` when nothing more can be sent for them.
  ///
  /// - Parameter canSend: Whether this outbox sends, and not another one on the file.
  /// - Throws: The error of reading the file.
  private func finishDrains(canSend: Bool) async throws {
    // A call that comes from now on may be about an entry that the next line does not see.
    let (isIdle, drains, isPaused) = state.withLock {
      ($0.workers.isEmpty && !$0.hasLostClaims, $0.drains, $0.pause.isActive)
    }
    guard isIdle, !drains.isEmpty else { return }
    let isDue = try await nextTime().map { $0 <= core.now } ?? false
    let isSentByOthers = try await canSend ? false : core.isSending()
    let done = drains.filter { _, drain in
      guard isDue || isSentByOthers else { return true }
      return isPaused && canSend && !drain.outlastsPauses
    }
    state.withLock { state in for id in done.keys { state.drains[id] = nil } }
    for drain in done.values { drain.waiter.settle(.success(())) }
  }

  private func nextTime() async throws -> Int64? {
    let present = core.present
    return try await core.store.read { db in
      try present.compactMap { try self.core.table(db).nextTime(of: $0) }.min()
    }
  }

  private var pollInterval: Duration { max(core.settings.pollInterval, .milliseconds(1)) }

  /// The time until the loop looks again, unless the signal comes before, as at the end of each request.
  private func timeToWait() async -> Duration {
    let poll = pollInterval
    guard state.withLock({ $0.workers.isEmpty }) else { return poll }
    if let end = state.withLock({ $0.pause.until }), end > core.clock.now() {
      return min(poll, max(.milliseconds(1), end - core.clock.now()))
    }
    guard let next = try? await nextTime() else { return poll }
    return min(poll, max(.milliseconds(1), .milliseconds(next - core.now)))
  }

  /// Keeps the waits of entries when the wall clock has been set back.
  private func followClock() async throws {
    let drift = Double(core.now) / 1_000 - Double(core.clock.now().outboxTime) / 1_000
    let hasJumped = state.withLock { state in
      defer { state.drift = drift }
      return state.drift.map { abs($0 - drift) >= 1 } ?? true
    }
    if hasJumped { try await core.followClock() }
  }

  // MARK: Attempts

  private func begin(_ row: OutboxRow) {
    core.begin(row.id)
    state.withLock { state in
      state.lastWorker += 1
      let number = state.lastWorker
      // Under the lock, so that an attempt that ends at once finds its entry.
      let task = Task {
        await self.attempt(row)
        _ = self.state.withLock { $0.workers.removeValue(forKey: number) }
        self.core.signal.raise()
      }
      state.workers[number] = task
      if !isWanted(state) { task.cancel() }
    }
  }

  private func attempt(_ row: OutboxRow) async {
    defer { core.end(row.id) }
    guard let handler = core.handlers[row.operation] else { return }
    let ending = await OutboxAttempt(core: core, row: row, handler: handler).run()
    // A pause begins before the entry is due again, or it would be sent again at once.
    if case .nothing = ending.outcome { note(ending.outcome) }
    // In a task of its own: a cancelled one must still record what only it knows.
    let outcome = await Task { await self.settle(row, handler, ending) }.value
    if let outcome, outcome.provesNetwork { note(outcome) }
  }

  /// Records the end of an attempt, and tries until that succeeds.
  private func settle(_ row: OutboxRow, _ handler: OutboxHandler, _ ending: OutboxAttempt.Ending) async
    -> OutboxOutcome?
  {
    var delay = Duration.milliseconds(100)
    while true {
      do {
        return try await core.settle(row, handler, ending)
      } catch {
        let text = "its attempt is not recorded yet"
        core.tell(OutboxEvent(.failed, id: row.id, name: row.operation, message: text, error: error))
        // Nothing can be recorded any more; the claim is given back when the file is next opened.
        let isLost = (error as? SQLiteError)?.extendedCode == SQLiteError.fileHasMoved
        if core.store.state.isClosed || isLost { return nil }
        if delay > .milliseconds(400), isGivenUp(after: error) { return nil }
      }
      try? await core.clock.sleep(for: delay)
      delay = min(delay * 2, .seconds(10))
    }
  }

  /// Returns whether the end of an attempt is not recorded any more, because nothing is to be sent.
  ///
  /// Neither a `drain` nor the end of sending waits for a disk that stays full. The claim is given back when sending
  /// begins again.
  private func isGivenUp(after error: any Error) -> Bool {
    endDrains(error)
    return state.withLock { state in
      guard !isWanted(state) else { return false }
      state.hasLostClaims = true
      return true
    }
  }

  /// Begins or ends a pause.
  private func note(_ outcome: OutboxOutcome) {
    let now = core.clock.now()
    switch outcome {
    case .nothing(let text, _):
      guard let length = state.withLock({ $0.pause.begin(now: now) }) else { return }
      let date = core.clock.date().addingTimeInterval(Double(length.outboxTime) / 1_000)
      core.tell(OutboxEvent(.paused, date: date, message: text))
    default:
      endPause()
    }
  }
}
