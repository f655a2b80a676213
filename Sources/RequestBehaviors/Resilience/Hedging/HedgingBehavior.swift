/// Sends a request a second time when its response takes unusually long, and returns the response that comes first.
///
/// ```swift
/// let client = NetworkClient(
///   baseURL: baseURL,
///   behaviors: [.retry(), .hedging(after: .milliseconds(300))])
/// ```
///
/// Hedging cuts the longest waits where a few requests are slow by chance, at the price of a few more sends. It applies
/// to GET and HEAD, and to other methods with an ``IdempotencyKey``. A request with a one-shot body is never hedged.
///
/// The second send is authenticated, limited and signed separately. It draws from the ``RetryBudget`` of the retry
/// behavior, or from this behavior's own if none is listed. A hedge cannot use the budget's reserve: with the default
/// ratio, the window must hold at least five calls before one is hedged. If the client refuses the second send, for
/// example because a circuit breaker is open, the first continues alone. So it does where a redirect or another
/// behavior removes the key of a request that is not idempotent: the server could not tell the second send from another
/// request.
///
/// Second sends make an overloaded server slower. The behavior makes none while more than a tenth of the requests to
/// the origin fail, while more than a fifth of them take unusually long, or while hedges lose more often than they win.
///
/// The first acceptable response wins. The behavior cancels the other send and waits for it to end. If neither response
/// is acceptable, the outcome of the first send is the outcome, unless it is a 401 or a 409 that the second send may
/// have caused, and the second send got another status or failed with a transient error.
///
/// The first send runs on the caller's thread until it first waits. If it computes for longer than the delay, the
/// second send begins only then.
public struct HedgingBehavior: UniqueBehavior {
  /// Inside the retries: each attempt may be hedged.
  public let order = BehaviorOrder.hedging
  /// A prerequisite request is hedged separately: no permit or lock is held meanwhile.
  public let runsForPrerequisites = true

  let policy: HedgingPolicy
  let budget: RetryBudget
  let history: LatencyHistory

  /// Creates the behavior.
  ///
  /// - Parameters:
  ///   - policy: When the second request is sent. A request's ``RequestOptions/hedging`` overrides it.
  ///   - budget: The share of further sends among the calls, used if no ``RetryBehavior`` is listed; by default a
  ///     budget of the behavior's own.
  ///   - history: How long requests took; by default a history of the behavior's own.
  public init(
    _ policy: HedgingPolicy = HedgingPolicy(), budget: RetryBudget = RetryBudget(),
    history: LatencyHistory = LatencyHistory()
  ) {
    self.policy = policy
    self.budget = budget
    self.history = history
  }

  /// Sends the request, and sends it once more if the response takes too long.
  public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    guard HedgingPolicy.permits(request), let key = LimitKey.byOrigin(request),
      let policy = request.options.explicit(HedgingOption.self) ?? policy
    else { return try await next(request) }
    let start = request.call.clock.now()
    let retry = next.pipeline.behavior(RetryBehavior.self)
    // A listed retry behavior counts the calls itself.
    if retry == nil { budget.noteCall(to: request.origin, at: start) }
    let budget = retry?.budget ?? budget
    // Failures and durations decide later whether and when requests to the origin are hedged.
    history.signs(of: key) { $0.noteRequest(at: start) }
    let outcome =
      if let delay = policy.delay(history, of: key) {
        await race(request, after: delay, key, budget, next)
      } else {
        await AttemptOutcome(of: request, next)
      }
    let end = request.call.clock.now()
    if CircuitVerdict(outcome, of: request.call) == .failure { history.signs(of: key) { $0.noteFailure(at: end) } }
    if outcome.isAcceptable { history.add(end - start, of: key) }
    return try outcome.get()
  }

  /// Clears the history of durations and the counts of the budget.
  public func reset() async {
    history.reset()
    budget.reset()
  }

  /// The send whose response was acceptable first.
  private enum Winner { case first, hedge }

  /// Sends the request, sends it again after the delay, and returns the first acceptable response.
  private func race(
    _ request: NetworkRequest, after delay: Duration, _ key: LimitKey, _ budget: RetryBudget, _ next: Next
  ) async -> AttemptOutcome {
    // The outcome of the first, or `nil` when it is late.
    let waiter = Waiter<AttemptOutcome?>()
    let clock = request.call.clock
    let start = clock.now()
    let task = CancellableTask<NetworkResponse>()
    let winner = Locked<Winner?>(nil)
    return await withTaskCancellationHandler {
      let first = task.begin(onThisThread: true) {
        let outcome = await AttemptOutcome(of: request, next)
        if outcome.isAcceptable { winner.withLock { $0 = $0 ?? .first } }
        waiter.settle(.success(outcome))
        return try outcome.get()
      }
      // A send that ended before it first waited needs no timer.
      if case .some(let early?) = waiter.settledValue { return early }
      let timer = clock.schedule(after: max(.zero, start + delay - clock.now())) { waiter.settle(.success(nil)) }
      defer { timer.cancel() }
      if let early = try? await waiter.value() { return early }
      guard !Task.isCancelled, takeHedge(request, after: delay, key, budget) else { return await first.result }
      var hedge = request
      hedge.options.isHedge = true
      let second = CancellableTask<NetworkResponse>().begin(onThisThread: false) { [hedge] in
        let outcome = await AttemptOutcome(of: hedge, next)
        if outcome.isAcceptable {
          winner.withLock { $0 = $0 ?? .hedge }
          first.cancel()
        }
        var response = try outcome.get()
        // A request that a behavior makes of this one is no second send.
        response.request.options.isHedge = false
        return response
      }
      return await withTaskCancellationHandler {
        await better(of: first, second, winner, request, key)
      } onCancel: {
        second.cancel()
      }
    } onCancel: {
      task.cancel()
    }.orCancelled()
  }

  /// Waits for both sends, so that no work for the request continues.
  ///
  /// The losing send has been cancelled.
  private func better(
    of first: Task<NetworkResponse, any Error>, _ second: Task<NetworkResponse, any Error>,
    _ winner: Locked<Winner?>, _ request: NetworkRequest, _ key: LimitKey
  ) async -> AttemptOutcome {
    let outcome = await first.result
    if outcome.isAcceptable { second.cancel() }
    let other = await second.result
    // A behavior further in may make a response of the cancellation of the first send, which does not win.
    guard winner.withLock({ $0 }) == .hedge else {
      let isOfHedge = outcome.mayBeCaused(by: other)
      (isOfHedge ? outcome : other).response?.body.cancel()
      return isOfHedge ? other : outcome
    }
    request.call.record("the second send won", from: "HedgingBehavior", kind: .hedge)
    history.signs(of: key) { $0.noteWin(at: request.call.clock.now()) }
    outcome.response?.body.cancel()
    return other
  }

  /// Whether a late request may be sent a second time.
  private func takeHedge(
    _ request: NetworkRequest, after delay: Duration, _ key: LimitKey, _ budget: RetryBudget
  ) -> Bool {
    let call = request.call
    let now = call.clock.now()
    let isOverloaded = history.signs(of: key) { signs in
      signs.noteLate(at: now)
      return signs.arePresent(at: now)
    }
    let isGranted = !isOverloaded && budget.takeHedge(to: request.origin, at: now)
    if isGranted { history.signs(of: key) { $0.noteHedge(at: now) } }
    let reason = isOverloaded ? "the origin is overloaded" : "no budget is left"
    let message = isGranted ? "sent a second time after \(delay.inWords)" : "not sent a second time: \(reason)"
    call.record(message, from: "HedgingBehavior", kind: .hedge)
    return isGranted
  }
}

extension Result where Success == NetworkResponse, Failure == any Error {
  fileprivate var isAcceptable: Bool { response?.isAcceptable == true }

  /// Whether another send of the request, whose outcome tells more, may have led to this response.
  ///
  /// It may have used the call's turn to refresh a token (401), or be under way with the same idempotency key (409).
  fileprivate func mayBeCaused(by other: AttemptOutcome) -> Bool {
    guard let response, response.statusCode == 401 || response.statusCode == 409 && response.request.hasIdempotencyKey
    else { return false }
    switch other {
    case .success(let other): return other.statusCode != response.statusCode
    case .failure(let error as NetworkError): return error.isTransient && !error.isRefusedLocally
    case .failure: return false
    }
  }

  /// Returns the outcome, or a cancellation if the task was cancelled: an earlier failure is not why the call ended.
  fileprivate func orCancelled() -> AttemptOutcome {
    guard Task.isCancelled, !isAcceptable else { return self }
    response?.body.cancel()
    return .failure(CancellationError())
  }
}

extension RequestOptions {
  /// When the request is sent a second time, instead of the behavior's policy; `nil` for never.
  ///
  /// It takes effect if a ``HedgingBehavior`` is listed.
  public var hedging: HedgingPolicy? {
    get { self[HedgingOption.self] }
    set { self[HedgingOption.self] = newValue }
  }
}

extension RequestBehavior where Self == HedgingBehavior {
  /// Sends a slow request a second time; see ``HedgingBehavior``.
  ///
  /// - Parameters:
  ///   - delay: How long to wait for the first response; by default the time within which 95 of 100 requests ended.
  ///   - budget: The share of further sends among the calls, used if no ``RetryBehavior`` is listed.
  /// - Returns: The behavior.
  public static func hedging(
    after delay: Duration? = nil, budget: RetryBudget = RetryBudget()
  ) -> HedgingBehavior {
    HedgingBehavior(delay.map { HedgingPolicy(delay: .fixed($0)) } ?? HedgingPolicy(), budget: budget)
  }
}
