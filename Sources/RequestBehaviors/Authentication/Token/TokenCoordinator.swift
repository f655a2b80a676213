/// The state of all sessions over one store, and the waiters for it to change.
final class TokenCoordinator: Sendable {
  /// Names the coordinator where only its identity counts.
  typealias ID = ObjectIdentifier

  private struct State {
    var token: TokenState
    var clock: RequestClock
    /// Whether the clock is one that a user or a client gave.
    var hasClock: Bool
    var waiters: [UInt64: (isRefused: Bool, waiter: Waiter<IssuedToken?>)] = [:]
    var lastWaiter: UInt64 = 0
    /// The task of a refresh.
    var run: Task<Void, Never>?
    /// Settled when the refresh that has the store's lock ends.
    var end: Waiter<Void>?
    /// The timer of the wait for a refresh.
    var timer: RequestClock.Timer?
    /// The task that tries to save again.
    var retry: Task<Void, Never>?
  }

  /// The kind of token that a request needs.
  enum Need: Sendable {
    case token
    /// A newer one than a token that was rejected, for sure or perhaps.
    case newer(than: IssuedToken, isCertain: Bool = true)
  }

  let stores: Locked<TokenStores>
  let policy: TokenRefreshPolicy
  let queue = TokenStoreQueue()
  let broadcast = Broadcast<TokenEvent>(limit: 64)
  let scopes = SessionScopes()
  /// The requests with a token of this session that are being handed to transports.
  let handOvers = HandOvers()
  /// The digests of the sign-ins that were finished, the newest last.
  let finishedSignIns = Locked<[Digest]>([])
  private let state: Locked<State>

  init(store: any TokenStore, policy: TokenRefreshPolicy, clock: RequestClock?, account: String? = nil) {
    stores = Locked(TokenStores(store))
    self.policy = policy
    let token = TokenState(policy: policy, account: account)
    state = Locked(State(token: token, clock: clock ?? .system, hasClock: clock != nil))
  }

  deinit { state.withLock { $0.retry }?.cancel() }

  var id: ID { ObjectIdentifier(self) }

  /// The store, which is open if that of any session is.
  var store: any TokenStore { stores.withLock { $0.open } }

  /// Whether the stores of all sessions are closed.
  var isClosed: Bool { (store as? any ClosableTokenStore)?.isClosed == true }

  /// The owner of the responses, which is no secret, and the user's generation; `nil` if no user is signed in.
  ///
  /// Before the store is read, neither is certain, and the owner may change.
  var user: (scope: String, generation: Int?, isKnown: Bool) {
    state.withLock { ($0.token.scope, $0.token.user, $0.token.isLoaded) }
  }

  /// Whether there is a token, fresh or not.
  var hasToken: Bool { update { state, _ in state.hasToken } }

  /// The number of the signed-in user: grows with every sign-in and sign-out.
  var generation: Int { state.withLock { $0.token.generation } }

  /// The newest token of the same user; `nil` if that is this one, or if the user has left.
  func newest(after issued: IssuedToken) -> IssuedToken? {
    state.withLock { state in
      guard let newest = state.token.issued, newest.generation == issued.generation, newest.version > issued.version
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
    state.withLock { state in
      if !state.hasClock {
        state.token.follow(clock, now: state.clock.now())
        state.clock = clock
        state.hasClock = true
      }
      let now = state.clock.now()
      return Lookup(&state.token, now: now)
    }
  }

  /// Changes the state in place and returns the closure's result; the closure gets the session's clock.
  func update<Result>(_ change: (inout TokenState, RequestClock) throws -> Result) rethrows -> Result {
    try state.withLock { try change(&$0.token, $0.clock) }
  }

  // MARK: - Waiting

  /// Returns a token, after waiting for one if need be; `nil` if there is no newer one in place of a refused one.
  ///
  /// `launch` begins a refresh; it is called outside of the lock, because it asks the user's behaviors.
  func wait(
    for need: Need, snapshot: SessionSnapshot, launch: (TokenState.Refresh) -> Task<Void, Never>
  ) async throws -> IssuedToken? {
    switch enter(need, snapshot) {
    case .over(let result): return try result.get()
    case .wait(let number, let waiter, let new):
      if let new { keep(launch(new), of: new) }
      // The refresh goes on when a waiter leaves.
      defer { state.withLock { _ = $0.waiters.removeValue(forKey: number) } }
      return try await waiter.value()
    }
  }

  /// The decision about a request that needs a token.
  private enum Entry {
    case over(Result<IssuedToken?, any Error>)
    /// The request waits, and begins the refresh if there is a new one.
    case wait(UInt64, Waiter<IssuedToken?>, beginning: TokenState.Refresh?)
  }

  /// Decides for a request, and stores its waiter if it has to wait.
  private func enter(_ need: Need, _ snapshot: SessionSnapshot) -> Entry {
    state.withLock { state in
      // A task that was cancelled before it waited begins no refresh. A call keeps its user.
      if Task.isCancelled { return .over(.failure(CancellationError())) }
      guard snapshot.generation == state.token.generation else { return .over(.failure(NetworkError.signedOut())) }
      let now = state.clock.now()
      let decision =
        switch need {
        case .token: state.token.acquire(now: now, snapshot: snapshot.failures)
        case .newer(let refused, let isCertain):
          state.token.renew(refused, isCertain: isCertain, now: now, snapshot: snapshot.failures)
        }
      var new: TokenState.Refresh?
      switch decision {
      case .use(let issued): return .over(.success(issued))
      case .stand: return .over(.success(nil))
      case .fail(let error): return .over(.failure(error))
      case .wait: break
      case .start(let refresh): new = refresh
      }
      let waiter = Waiter<IssuedToken?>()
      state.lastWaiter += 1
      state.waiters[state.lastWaiter] = (need.isRefused, waiter)
      // One timer serves all waiters of a refresh.
      if state.timer == nil, let refresh = state.token.refresh {
        state.timer = makeTimer(refresh, clock: state.clock, limit: state.token.policy.timeout)
      }
      return .wait(state.lastWaiter, waiter, beginning: new)
    }
  }

  /// Keeps the task of a refresh, for a sign-out to cancel; cancels it if the refresh has ended meanwhile.
  private func keep(_ run: Task<Void, Never>, of refresh: TokenState.Refresh) {
    let isUnderWay = state.withLock { state in
      guard state.token.isUnderWay(refresh.id) else { return false }
      state.run = run
      return true
    }
    if !isUnderWay { run.cancel() }
  }

  /// Makes the timer that releases the waiters of a refresh that takes too long.
  private func makeTimer(_ refresh: TokenState.Refresh, clock: RequestClock, limit: Duration) -> RequestClock.Timer {
    clock.schedule(after: limit) {
      self.complete(isCancelling: true) { state, _ in
        state.timeOut(on: refresh)
      } telling: {
        $0.error.map { .refreshFailed($0) }
      }
    }
  }

  /// Changes the state, then releases all waiters with the outcome.
  ///
  /// After a failed refresh, waiters that were not refused get the old token if it has not expired.
  ///
  /// - Parameters:
  ///   - isCancelling: Whether to cancel the task of a refresh that this ends.
  ///   - change: Changes the state; called under the lock.
  ///   - event: Returns the event that tells of the outcome; called after the change, under the lock too.
  func complete(
    isCancelling: Bool = false, _ change: (inout TokenState, RequestClock) -> TokenState.RefreshOutcome,
    telling event: (TokenState.RefreshOutcome) -> TokenEvent? = { _ in nil }
  ) {
    var released: [UInt64: (isRefused: Bool, waiter: Waiter<IssuedToken?>)] = [:]
    var endedRun: Task<Void, Never>?
    var end: Waiter<Void>?
    var endedTimer: RequestClock.Timer?
    var spare: IssuedToken?
    let outcome = state.withLock { state in
      // Under the same lock as the change, so that no call sees the new user before the old owner has ended.
      let scope = state.token.hasToken ? state.token.scope : nil
      let changes = state.token.userChanges
      let outcome = change(&state.token, state.clock)
      // An account that no user signs in to leaves at a sign-out and is there again at once. A token that its server
      // refuses ends only the token.
      let hasLeft = !state.token.hasToken && (state.token.account == nil || state.token.userChanges != changes)
      if let scope, state.token.scope != scope || hasLeft { scopes.end(scope, handingOver: handOvers) }
      if state.token.isLoaded { scopes.release() }
      // Under the lock too, so that the last event that a subscriber gets tells of the last change.
      if let event = event(outcome) { broadcast.publish(event) }
      guard !outcome.isIgnored else { return outcome }
      swap(&released, &state.waiters)
      swap(&endedTimer, &state.timer)
      // An overdue refresh goes on, and a sign-out must still be able to cancel it.
      if state.token.refresh == nil {
        swap(&endedRun, &state.run)
        swap(&end, &state.end)
      }
      if case .fail = outcome { spare = state.token.unexpired(now: state.clock.now()) }
      return outcome
    }
    endedTimer?.cancel()
    if isCancelling { endedRun?.cancel() }
    end?.settle(.success(()))
    // In the order of arrival. Outside of the lock, because resumed tasks may take it.
    for (_, entry) in released.sorted(by: { $0.key < $1.key }) {
      let issued = entry.isRefused ? nil : spare
      entry.waiter.settle(issued.map { .success($0) } ?? outcome.result)
    }
  }

  /// Records that a refresh has the store's lock.
  ///
  /// - Returns: A waiter that is settled when the refresh ends; `nil` if no request waits for it any more.
  func enter(_ refresh: TokenState.Refresh) -> Waiter<Void>? {
    state.withLock { state in
      guard state.token.enter(refresh) else { return nil }
      let end = Waiter<Void>()
      state.end = end
      return end
    }
  }

  // MARK: - Saving again

  /// Tries again to store the last change, after longer and longer waits, until it is stored or the session is gone.
  func saveLater() {
    state.withLock { state in
      guard state.retry == nil, state.token.isUnsaved else { return }
      state.retry = Task { [weak self, clock = state.clock] in
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
    return state.withLock { state in
      if !state.token.isUnsaved { state.retry = nil }
      return !state.token.isUnsaved
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

  /// The error of a refresh that failed for now; `nil` for another outcome.
  fileprivate var error: (any Error)? { if case .fail(let error) = self { error } else { nil } }

  fileprivate var result: Result<IssuedToken?, any Error> {
    switch self {
    case .use(let issued): .success(issued)
    case .fail(let error), .signOut(let error): .failure(error)
    case .ignore: .success(nil)
    }
  }
}
