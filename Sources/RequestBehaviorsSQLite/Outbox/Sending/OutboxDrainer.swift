import Foundation
import RequestBehaviors

/// Sends the entries of an outbox: one loop that claims them, and a task for each request.
final class OutboxDrainer: Sendable {
  struct State {
    var isStarted = false
    var isSuspended = false
    var isEnded = false
    /// The error of the file after which nothing is sent any more.
    var endError: (any Error)?
    var drains: [Int: Drain] = [:]
    var lastDrain = 0
    var loop: Task<Void, Never>?
    /// The attempts under way, by numbers of their own.
    ///
    /// The next attempt of an entry can begin before the last one has ended.
    var workers: [Int: AwaitedTask] = [:]
    var lastWorker = 0
    /// The workers that send, and those that wait until they may.
    var slots = OutboxSlots()
    var pause = OutboxPause()
    /// The pauses of owners for whom no token could be got.
    ///
    /// A pause of one does not stop the entries of another.
    var ownerPauses: [String?: OutboxPause] = [:]
    /// The members of the last look, which change with each sign-in and sign-out.
    var members: [ClientOwners.Member]?
    /// The number of reasons to try everything at once: sign-ins, calls of `drain`, other networks.
    var freshStarts = 0
    /// Whether the entries without a user are to be tried again now.
    var wakesWithoutUser = true
    /// The difference between the wall clock and the monotonic one.
    var drift: Double?
    /// The milliseconds by which the wall clock was set forward since the entries last followed it; 0 if it was only
    /// set back, and nil if they have followed it.
    var unfollowedJump: Int64?
    /// The milliseconds by which the wall clock was ever set forward.
    var setForward: Int64 = 0
    /// The time of the last look for entries of users whom another process may have signed in.
    var lookedForSignIns: Duration?
    /// Whether the token stores are being read.
    var isReadingSessions = false
    /// The owners and the time of the last look for accounts that are away.
    var lookedForAbsent: (present: Set<String?>, time: Duration)?
    /// Whether an entry is claimed whose attempt is over.
    var hasLostClaims = false
    /// The calls that wait for the end of the loop.
    var endings: [Waiter<Void>] = []

    /// Tries everything at once that waits for the network or for a user; returns whether there was a pause.
    mutating func forgetPauses() -> Bool {
      freshStarts += 1
      defer { (pause, ownerPauses, wakesWithoutUser) = (OutboxPause(), [:], true) }
      return pause.isActive || !ownerPauses.isEmpty
    }
  }

  /// A call of `drain`.
  struct Drain {
    let waiter: Waiter<Void>
    /// The time on the monotonic clock at which the call ends in any case; nil for a call without a limit.
    ///
    /// Until then the call waits for the end of a pause, and for entries that rest.
    let end: Duration?
  }

  let core: OutboxCore
  let lock: OutboxLock
  let state = Locked(State())

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
    await finish(cancel())
  }

  func suspend() async {
    state.withLock { $0.isSuspended = true }
    await finish(cancel())
  }

  func resume() {
    state.withLock { $0.isSuspended = false }
    endPauses()
    run()
  }

  /// Ends sending for good; the claims of requests under way are given back.
  ///
  /// - Parameter error: The error of the file after which nothing can be sent; nil at the end of the client.
  func end(with error: (any Error)? = nil) {
    state.withLock { state in
      state.isEnded = true
      state.endError = state.endError ?? error
    }
    cancel()
  }

  /// Sends what is due, or becomes due before a time on the monotonic clock, until nothing more can be sent.
  func drain(until end: Duration?) async throws {
    let waiter = Waiter<Void>()
    let begun = try state.withLock { state -> (id: Int, hasEndedPause: Bool)? in
      if state.isEnded { throw state.endError ?? NetworkError.clientShutDown() }
      guard !state.isSuspended else { return nil }
      state.lastDrain += 1
      state.drains[state.lastDrain] = Drain(waiter: waiter, end: end)
      return (state.lastDrain, state.forgetPauses())
    }
    guard let (id, hasEndedPause) = begun else { return }
    if hasEndedPause { core.tell(OutboxEvent(.resumed)) }
    run()
    core.signal.raise()
    defer {
      // The loop of a call that is cancelled may wait for an entry, and holds the lock of the file meanwhile.
      if state.withLock({ $0.drains.removeValue(forKey: id) }) != nil { core.signal.raise() }
    }
    try await waiter.value()
  }

  /// Ends the requests under way of a `drain` whose time is over, unless sending goes on without it.
  func cancelUnlessStarted() async {
    // One question: a call that begins to send meanwhile keeps its requests.
    let workers = state.withLock { state in
      !state.isStarted && state.drains.isEmpty ? Array(state.workers.values) : nil
    }
    guard let workers else { return }
    cancel(workers)
    await finish(workers)
  }

  /// Returns when the ends of cancelled requests are recorded and the lock is given back.
  ///
  /// A later call that wants to send keeps the lock; then it is not waited for.
  private func finish(_ workers: [AwaitedTask]) async {
    var areOver = true
    for worker in workers {
      // A behavior may call this while it serves an entry, or sign out, and what is told of that may call this. Only a
      // task that the behavior has created is not cancelled with it, and can wait.
      let isFree = WorkWait.current === worker && !Task.isCancelled
      if await worker.result(isFree: isFree) == nil { areOver = false }
    }
    // The loop waits for a worker that waits for this task.
    guard areOver else { return }
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
  private func cancel() -> [AwaitedTask] {
    let (workers, drains, error) = state.withLock { state in
      defer { state.drains = [:] }
      return (Array(state.workers.values), Array(state.drains.values), state.endError)
    }
    for drain in drains { drain.waiter.settle(error.map { .failure($0) } ?? .success(())) }
    cancel(workers)
    return workers
  }

  private func cancel(_ workers: [AwaitedTask]) {
    for worker in workers { worker.cancel() }
    core.signal.raise()
  }

  // MARK: The loop

  /// Whether the loop has something to do.
  func isWanted(_ state: State) -> Bool {
    !state.isEnded && !state.isSuspended && (state.isStarted || !state.drains.isEmpty)
  }

  func run() {
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
  func goesOn() -> Bool { state.withLock { isWanted($0) || !$0.workers.isEmpty } }
}
