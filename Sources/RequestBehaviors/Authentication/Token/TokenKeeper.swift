import Foundation

/// The state of all sessions over one store, and those who wait for it to change.
final class TokenKeeper: Sendable {
  /// Stands for the keeper where only its identity counts.
  typealias ID = ObjectIdentifier

  /// What runs a flight, and what ends the wait for it.
  struct FlightTasks: Sendable {
    let run: Task<Void, Never>
    let timer: Task<Void, Never>
  }

  private struct Waiter: Sendable {
    let isRefused: Bool
    let continuation: CheckedContinuation<TokenLease?, any Error>
  }

  /// What a request needs.
  enum Need: Sendable {
    case token
    case newer(than: TokenLease)
  }

  let store: any TokenStore
  let clock: RequestClock
  let queue = TokenStoreQueue()
  let broadcast = TokenBroadcast()
  private let lock = NSLock()
  // Protected by `lock`, so that its exclusivity need not be checked as well.
  @exclusivity(unchecked) nonisolated(unsafe) private var state: TokenState
  nonisolated(unsafe) private var waiters: [UInt64: Waiter] = [:]
  // Protected by `lock`.
  nonisolated(unsafe) private var leavers: Set<UInt64> = []
  nonisolated(unsafe) private var lastWaiter: UInt64 = 0
  // Protected by `lock`.
  nonisolated(unsafe) private var tasks: FlightTasks?

  init(store: any TokenStore, policy: TokenRefreshPolicy, clock: RequestClock) {
    self.store = store
    self.clock = clock
    self.state = TokenState(policy: policy)
  }

  var id: ID { ObjectIdentifier(self) }

  /// Whose answers these are, no secret, and the generation of who is signed in; `nil` if nobody is known to be.
  var user: (scope: String, generation: Int?) { update { ($0.scope, $0.hasToken ? $0.generation : nil) } }

  /// Whether there is a token, fresh or not.
  var hasToken: Bool { update { $0.hasToken } }

  /// What has happened so far, for a call that arrives, and a token if one can be sent as it is.
  func arrive() -> (ticket: TokenTicket, lease: TokenLease?, isAnybodys: Bool) {
    let now = clock.now()
    return update { state in
      let ticket = TokenTicket(generation: state.generation, failures: state.failureCount)
      return (ticket, state.usable(now: now), state.hasToken)
    }
  }

  /// Changes the state, in its place, and returns what the closure returns.
  func update<Result>(_ change: (inout TokenState) throws -> Result) rethrows -> Result {
    try lock.withLock { try change(&state) }
  }

  // MARK: - Waiting

  /// Returns a token, after waiting for one if need be; `nil` if there is none to replace a refused one.
  ///
  /// What starts a flight is called under the lock, so that no other is started.
  func wait(
    for need: Need, ticket: TokenTicket, launch: (TokenState.Flight) -> FlightTasks
  ) async throws -> TokenLease? {
    let waiter = lock.withLock {
      lastWaiter += 1
      return lastWaiter
    }
    defer { lock.withLock { _ = leavers.remove(waiter) } }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        if let answer = enter(waiter, need, ticket, continuation, launch) { continuation.resume(with: answer) }
      }
    } onCancel: {
      leave(waiter, CancellationError())
    }
  }

  /// Decides for a waiter, and keeps it if it is to wait.
  private func enter(
    _ waiter: UInt64, _ need: Need, _ ticket: TokenTicket, _ continuation: CheckedContinuation<TokenLease?, any Error>,
    _ launch: (TokenState.Flight) -> FlightTasks
  ) -> Result<TokenLease?, any Error>? {
    let now = clock.now()
    return lock.withLock {
      if leavers.contains(waiter) { return .failure(CancellationError()) }
      guard ticket.generation == state.generation else { return .failure(NetworkError.signedOut()) }
      let decision =
        switch need {
        case .token: state.acquire(now: now, ticket: ticket.failures)
        case .newer(let refused): state.renew(refused, now: now, ticket: ticket.failures)
        }
      switch decision {
      case .use(let lease): return .success(lease)
      case .stand: return .success(nil)
      case .fail(let error): return .failure(error)
      case .wait: waiters[waiter] = Waiter(isRefused: need.isRefused, continuation: continuation)
      case .start(let flight):
        waiters[waiter] = Waiter(isRefused: need.isRefused, continuation: continuation)
        tasks = launch(flight)
      }
      return nil
    }
  }

  /// Lets one waiter go with an error; the flight goes on.
  func leave(_ waiter: UInt64, _ error: any Error) {
    let left = lock.withLock {
      let left = waiters.removeValue(forKey: waiter)
      if left == nil { leavers.insert(waiter) }
      return left
    }
    left?.continuation.resume(throwing: error)
  }

  /// Changes the state by what ends a flight, then lets all waiters go as the closure tells.
  ///
  /// Where a flight failed, a token that is due but has not expired is good enough for those who were not refused.
  ///
  /// - Parameters:
  ///   - isCancelling: Whether the flight's work is of no use any more.
  ///   - change: Changes the state; called under the lock.
  /// - Returns: What the closure returned.
  @discardableResult
  func land(
    isCancelling: Bool = false, _ change: (inout TokenState) -> TokenState.Landing
  ) -> TokenState.Landing {
    let now = clock.now()
    var released: [UInt64: Waiter] = [:]
    var ended: FlightTasks?
    var spare: TokenLease?
    let landing = lock.withLock {
      let landing = change(&state)
      guard !landing.isIgnored else { return landing }
      swap(&released, &waiters)
      swap(&ended, &tasks)
      if case .fail = landing { spare = state.unexpired(now: now) }
      return landing
    }
    ended?.timer.cancel()
    if isCancelling { ended?.run.cancel() }
    for waiter in released.values {
      let lease = waiter.isRefused ? nil : spare
      waiter.continuation.resume(with: lease.map { .success($0) } ?? landing.result)
    }
    return landing
  }
}

/// What had happened to a session when a call first came.
struct TokenTicket: Sendable, Hashable {
  let generation: Int
  let failures: Int
}

extension TokenKeeper.Need {
  fileprivate var isRefused: Bool { if case .newer = self { true } else { false } }
}

extension TokenState.Landing {
  fileprivate var isIgnored: Bool { if case .ignore = self { true } else { false } }

  fileprivate var result: Result<TokenLease?, any Error> {
    switch self {
    case .use(let lease): .success(lease)
    case .fail(let error), .signOut(let error): .failure(error)
    case .ignore: .success(nil)
    }
  }
}
