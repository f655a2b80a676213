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
    var workers: [Int64: Task<Void, Never>] = [:]
    var pause = OutboxPause()
    /// The difference between the wall clock and the monotonic one.
    var drift: Double?
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

  /// Cancels the requests under way and returns when their ends are recorded.
  private func finish() async {
    cancel()
    await state.withLock { $0.loop }?.value
  }

  private func cancel() {
    let (workers, drains) = state.withLock { state in
      defer { state.drains = [:] }
      return (Array(state.workers.values), Array(state.drains.values))
    }
    for worker in workers { worker.cancel() }
    for drain in drains { drain.waiter.settle(.success(())) }
    core.signal.raise()
  }

  // MARK: The loop

  /// Whether the loop has something to do.
  private func isWanted(_ state: State) -> Bool {
    !state.isEnded && !state.isSuspended && (state.isStarted || !state.drains.isEmpty)
  }

  private func run() {
    state.withLock { state in
      guard state.loop == nil, isWanted(state) else { return }
      state.loop = Task { [weak self] in await self?.loop() }
    }
    core.signal.raise()
  }

  /// Returns whether the loop goes on.
  private func goesOn() -> Bool { state.withLock { isWanted($0) || !$0.workers.isEmpty } }

  private func loop() async {
    var held: OutboxLock.Held?
    while goesOn() {
      do {
        if held == nil {
          held = try await lock.take()
          if held != nil {
            try await core.recover()
            try await core.buryAbsent()
          }
        }
        try await core.refreshOwners()
        try await followClock()
        if held != nil { try await fill() }
        try await finishDrains(canSend: held != nil)
      } catch {
        await fail(error)
      }
      guard goesOn() else { break }
      await core.signal.wait(for: timeToWait(), on: core.clock)
    }
    held?.end()
    state.withLock { $0.loop = nil }
    // Something may have been asked for while the lock was given back.
    run()
  }

  /// Treats an error of the file: those who wait for the end of sending get it.
  private func fail(_ error: any Error) async {
    if (error as? NetworkError)?.code == .clientShutDown { return end() }
    core.tell(OutboxEvent(.failed, message: "\(error)", error: error))
    let drains = state.withLock { state in
      defer { state.drains = [:] }
      return Array(state.drains.values)
    }
    for drain in drains { drain.waiter.settle(.failure(error)) }
    if core.store.state.isClosed { end() }
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
      guard isWanted(state) else { return false }
      return state.pause.permits(running: state.workers.count, limit: core.settings.concurrency, now: now)
    }
  }

  /// Ends the calls of `drain` when nothing more can be sent for them.
  ///
  /// - Parameter canSend: Whether this outbox sends, and not another one on the file.
  /// - Throws: The error of reading the file.
  private func finishDrains(canSend: Bool) async throws {
    // A call that comes from now on may be about an entry that the next line does not see.
    let (isIdle, drains, isPaused) = state.withLock { ($0.workers.isEmpty, $0.drains, $0.pause.isActive) }
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

  /// The time until the loop looks again, unless the signal comes before.
  private func timeToWait() async -> Duration {
    let poll = max(core.settings.pollInterval, .milliseconds(1))
    if let end = state.withLock({ $0.pause.until }) {
      return min(poll, max(.milliseconds(1), end - core.clock.now()))
    }
    guard let next = try? await nextTime(), state.withLock({ $0.workers.isEmpty }) else { return poll }
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
      // Under the lock, so that an attempt that ends at once finds its entry.
      let task = Task {
        await self.attempt(row)
        _ = self.state.withLock { $0.workers.removeValue(forKey: row.seq) }
        self.core.signal.raise()
      }
      state.workers[row.seq] = task
      if !isWanted(state) { task.cancel() }
    }
  }

  private func attempt(_ row: OutboxRow) async {
    defer { core.end(row.id, with: nil) }
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
      }
      try? await core.clock.sleep(for: delay)
      delay = min(delay * 2, .seconds(10))
    }
  }

  /// Begins or ends a pause.
  private func note(_ outcome: OutboxOutcome) {
    let now = core.clock.now()
    switch outcome {
    case .nothing(let text):
      guard let length = state.withLock({ $0.pause.begin(now: now) }) else { return }
      let date = core.clock.date().addingTimeInterval(Double(length.outboxTime) / 1_000)
      core.tell(OutboxEvent(.paused, date: date, message: text))
    default:
      let wasPaused = state.withLock { $0.pause.end() }
      if wasPaused { core.tell(OutboxEvent(.resumed)) }
    }
  }
}
