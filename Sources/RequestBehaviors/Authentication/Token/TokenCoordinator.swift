import Foundation

/// The state of all sessions over one store, and the waiters for it to change.
final class TokenCoordinator: Sendable {
  /// Names the coordinator where only its identity counts.
  typealias ID = ObjectIdentifier

  private struct Waiter: Sendable {
    let isRefused: Bool
    let continuation: CheckedContinuation<IssuedToken?, any Error>
  }

  /// The kind of token that a request needs.
  enum Need: Sendable {
    case token
    case newer(than: IssuedToken)
  }

  let store: any TokenStore
  let policy: TokenRefreshPolicy
  let queue = TokenStoreQueue()
  let broadcast = TokenBroadcast()
  let scopes = SessionScopes()
  /// The requests with a token of this session that are being handed to transports.
  let handOvers = HandOvers()
  private let lock = NSLock()
  // All of these are protected by `lock`.
  nonisolated(unsafe) private var state: TokenState
  nonisolated(unsafe) private var clock: RequestClock
  // Protected by `lock` too: whether the clock is one that a user or a client gave.
  nonisolated(unsafe) private var hasClock: Bool
  // Protected by `lock` too: the waiters, and those that left before they waited.
  nonisolated(unsafe) private var waiters: [UInt64: Waiter] = [:]
  nonisolated(unsafe) private var leavers: Set<UInt64> = []
  // Protected by `lock` too.
  nonisolated(unsafe) private var lastWaiter: UInt64 = 0
  // Protected by `lock` too: the task of a refresh, the timer of the wait for it, and the task that tries to save
  // again.
  nonisolated(unsafe) private var run: Task<Void, Never>?
  nonisolated(unsafe) private var timer: Task<Void, Never>?
  // Protected by `lock` too.
  nonisolated(unsafe) private var retry: Task<Void, Never>?

  init(store: any TokenStore, policy: TokenRefreshPolicy, clock: RequestClock?) {
    self.store = store
    self.policy = policy
    self.clock = clock ?? .system
    self.hasClock = clock != nil
    self.state = TokenState(policy: policy)
  }

  deinit { retry?.cancel() }

  var id: ID { ObjectIdentifier(self) }

  /// The owner of the responses, which is no secret, and the user's generation; `nil` if no user is signed in.
  ///
  /// Before the store is read, neither is certain, and the owner may change.
  var user: (scope: String, generation: Int?, isKnown: Bool) {
    lock.withLock { (state.scope, state.user, state.isLoaded) }
  }

  /// Whether there is a token, fresh or not.
  var hasToken: Bool { update { state, _ in state.hasToken } }

  /// The number of the signed-in user: grows with every sign-in and sign-out.
  var generation: Int { lock.withLock { state.generation } }

  /// The newest token of the same user; `nil` if that is this one, or if the user has left.
  func newest(after issued: IssuedToken) -> IssuedToken? {
    lock.withLock {
      guard let newest = state.issued, newest.generation == issued.generation, newest.version > issued.version
      else { return nil }
      return newest
    }
  }

  /// The state that a call finds at first: the history so far, and a token if one can be sent as it is.
  struct Lookup: Sendable {
    let snapshot: SessionSnapshot
    let emptyGeneration: Int?
    let issued: IssuedToken?

    // The state is inout because it would be copied for each of these.
    init(_ state: inout TokenState, now: Duration) {
      snapshot = SessionSnapshot(generation: state.generation, failures: state.failureCount)
      emptyGeneration = state.emptyGeneration
      issued = state.usable(now: now)
    }
  }

  /// Returns the state that a call finds at first.
  ///
  /// A session without a clock of its own uses this one from now on.
  func lookUp(_ clock: RequestClock) -> Lookup {
    lock.withLock {
      if !hasClock {
        state.follow(clock, now: self.clock.now())
        self.clock = clock
        hasClock = true
      }
      return Lookup(&state, now: self.clock.now())
    }
  }

  /// Changes the state in place and returns the closure's result; the closure gets the session's clock.
  func update<Result>(_ change: (inout TokenState, RequestClock) throws -> Result) rethrows -> Result {
    try lock.withLock { try change(&state, clock) }
  }

  // MARK: - Waiting

  /// Returns a token, after waiting for one if need be; `nil` if there is no newer one in place of a refused one.
  ///
  /// `launch` is called under the lock, so that only one refresh begins.
  func wait(
    for need: Need, snapshot: SessionSnapshot, launch: (TokenState.Refresh) -> Task<Void, Never>
  ) async throws -> IssuedToken? {
    let waiter = lock.withLock {
      lastWaiter += 1
      return lastWaiter
    }
    defer { lock.withLock { _ = leavers.remove(waiter) } }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        if let answer = enter(waiter, need, snapshot, continuation, launch) { continuation.resume(with: answer) }
      }
    } onCancel: {
      leave(waiter, CancellationError())
    }
  }

  /// Decides for a waiter, and stores it if it has to wait.
  private func enter(
    _ waiter: UInt64, _ need: Need, _ snapshot: SessionSnapshot,
    _ continuation: CheckedContinuation<IssuedToken?, any Error>,
    _ launch: (TokenState.Refresh) -> Task<Void, Never>
  ) -> Result<IssuedToken?, any Error>? {
    lock.withLock {
      // A task cancelled before it waited must not wait for ever. A call keeps its user.
      if leavers.contains(waiter) { return .failure(CancellationError()) }
      guard snapshot.generation == state.generation else { return .failure(NetworkError.signedOut()) }
      let now = clock.now()
      let decision =
        switch need {
        case .token: state.acquire(now: now, snapshot: snapshot.failures)
        case .newer(let refused): state.renew(refused, now: now, snapshot: snapshot.failures)
        }
      switch decision {
      case .use(let issued): return .success(issued)
      case .stand: return .success(nil)
      case .fail(let error): return .failure(error)
      case .wait: break
      case .start(let refresh): run = launch(refresh)
      }
      // One timer serves all waiters of a refresh.
      waiters[waiter] = Waiter(isRefused: need.isRefused, continuation: continuation)
      if timer == nil, let refresh = state.refresh { timer = makeTimer(refresh) }
      return nil
    }
  }

  /// Makes the task that releases the waiters of a refresh that takes too long; called under the lock.
  private func makeTimer(_ refresh: TokenState.Refresh) -> Task<Void, Never> {
    let (clock, limit) = (clock, state.policy.timeout)
    return Task {
      guard (try? await clock.sleep(for: limit)) != nil else { return }
      let outcome = self.complete(isCancelling: true) { state, _ in state.timeOut(on: refresh) }
      if case .fail(let error) = outcome { self.broadcast.publish(.refreshFailed(error)) }
    }
  }

  /// Releases one waiter with an error; the refresh goes on.
  private func leave(_ waiter: UInt64, _ error: any Error) {
    let left = lock.withLock {
      let left = waiters.removeValue(forKey: waiter)
      if left == nil { leavers.insert(waiter) }
      return left
    }
    left?.continuation.resume(throwing: error)
  }

  /// Changes the state, then releases all waiters with the outcome.
  ///
  /// After a failed refresh, waiters that were not refused get the old token if it has not expired.
  ///
  /// - Parameters:
  ///   - isCancelling: Whether to cancel the task of a refresh that this ends.
  ///   - change: Changes the state; called under the lock.
  /// - Returns: The outcome that the closure returned.
  @discardableResult
  func complete(
    isCancelling: Bool = false, _ change: (inout TokenState, RequestClock) -> TokenState.RefreshOutcome
  ) -> TokenState.RefreshOutcome {
    var released: [UInt64: Waiter] = [:]
    var endedRun: Task<Void, Never>?
    var endedTimer: Task<Void, Never>?
    var spare: IssuedToken?
    let outcome = lock.withLock {
      // Under the same lock as the change, so that no call sees the new user before the old owner has ended.
      let scope = state.hasToken ? state.scope : nil
      let outcome = change(&state, clock)
      if let scope, state.scope != scope { scopes.end(scope) }
      if state.isLoaded { scopes.release() }
      guard !outcome.isIgnored else { return outcome }
      swap(&released, &waiters)
      swap(&endedTimer, &timer)
      // An overdue refresh goes on, and a sign-out must still be able to cancel it.
      if state.refresh == nil { swap(&endedRun, &run) }
      if case .fail = outcome { spare = state.unexpired(now: clock.now()) }
      return outcome
    }
    endedTimer?.cancel()
    if isCancelling { endedRun?.cancel() }
    // In the order of arrival. Outside of the lock, because resumed tasks may take it.
    for (_, waiter) in released.sorted(by: { $0.key < $1.key }) {
      let issued = waiter.isRefused ? nil : spare
      waiter.continuation.resume(with: issued.map { .success($0) } ?? outcome.result)
    }
    return outcome
  }

  // MARK: - Saving again

  /// Tries again to store the last change, after longer and longer waits, until it is stored or the session is gone.
  func saveLater() {
    lock.withLock {
      guard retry == nil, state.isUnsaved else { return }
      retry = Task { [weak self, clock] in
        var delay = Duration.seconds(1)
        while (try? await clock.sleep(for: delay)) != nil, await self?.saveAgain() == false {
          delay = min(delay * 2, .seconds(60))
        }
      }
    }
  }

  /// Tries once more; returns whether no further try is needed.
  private func saveAgain() async -> Bool {
    await saveUnsaved()
    return lock.withLock {
      if !state.isUnsaved { retry = nil }
      return !state.isUnsaved
    }
  }
}

/// The history of a session at the moment when a call first came.
struct SessionSnapshot: Sendable, Hashable {
  let generation: Int
  let failures: Int
}

extension TokenCoordinator.Need {
  fileprivate var isRefused: Bool { if case .newer = self { true } else { false } }
}

extension TokenState.RefreshOutcome {
  fileprivate var isIgnored: Bool { if case .ignore = self { true } else { false } }

  fileprivate var result: Result<IssuedToken?, any Error> {
    switch self {
    case .use(let issued): .success(issued)
    case .fail(let error), .signOut(let error): .failure(error)
    case .ignore: .success(nil)
    }
  }
}
