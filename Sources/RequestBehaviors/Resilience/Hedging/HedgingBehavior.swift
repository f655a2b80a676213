/// Sends a request a second time when its response takes unusually long, and takes the response that comes first.
///
/// ```swift
/// let client = NetworkClient(
///   baseURL: baseURL,
///   behaviors: [.retry(), .hedging(after: .milliseconds(300))])
/// ```
///
/// It cuts the longest waits where a few requests are slow for no reason of their own, at the price of a few more sends.
/// GET and HEAD are hedged, others with an ``IdempotencyKey``; never one with a one-shot body. The second send is
/// authenticated, limited and signed for itself, and draws from the ``RetryBudget``, the one of the retry behavior where
/// that is listed. There is no reserve for it: of fewer than five calls within the budget's window none is hedged. If
/// this side refuses it, by an open circuit breaker for example, the first goes on alone.
///
/// Second sends make an overloaded server slower. So there are none while more than a tenth of the requests to the origin
/// fail, while more than a fifth of them take unusually long, or while the first response comes first more often than the
/// second.
///
/// The first acceptable response wins; the other send is cancelled and waited for. If neither is acceptable, the outcome
/// is that of the first.
public struct HedgingBehavior: UniqueBehavior {
  /// Inside of retries: each attempt may be hedged.
  public let order = BehaviorOrder.hedging
  /// A prerequisite request is hedged for itself: nothing is held meanwhile.
  public let runsForPrerequisites = true

  let policy: HedgingPolicy
  let budget: RetryBudget
  let history: LatencyHistory

  /// Creates the behavior.
  ///
  /// - Parameters:
  ///   - policy: When the second request is sent; a request's ``RequestOptions/hedging`` wins.
  ///   - budget: The share of further sends among the calls, where no ``RetryBehavior`` is listed; by default one of the
  ///     behavior's own.
  ///   - history: How long requests took; by default one of the behavior's own.
  public init(
    _ policy: HedgingPolicy = HedgingPolicy(), budget: RetryBudget = RetryBudget(),
    history: LatencyHistory = LatencyHistory()
  ) {
    self.policy = policy
    self.budget = budget
    self.history = history
  }

  /// Sends the request, and once more if that takes too long.
  public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    guard mayBeHedged(request), let key = LimitKey.byOrigin(request),
      let policy = request.options.explicit(HedgingOption.self) ?? policy
    else { return try await next(request) }
    let start = request.call.clock.now()
    let retry = next.pipeline.behavior(RetryBehavior.self)
    // What is listed to retry counts the calls itself.
    if retry == nil { budget.noteCall(to: request.origin, at: start) }
    let budget = retry?.budget ?? budget
    history.signs(of: key) { $0.noteRequest(at: start) }
    let outcome =
      if let delay = delay(of: policy, key) {
        await race(request, after: delay, key, budget, next)
      } else {
        await AttemptOutcome(of: request, next)
      }
    let end = request.call.clock.now()
    if CircuitVerdict(outcome, of: request.call) == .failure { history.signs(of: key) { $0.noteFailure(at: end) } }
    if outcome.isAcceptable { history.add(end - start, of: key) }
    return try outcome.get()
  }

  /// Forgets how long requests took and what the budget counted.
  public func reset() async {
    history.reset()
    budget.reset()
  }

  private func mayBeHedged(_ request: NetworkRequest) -> Bool {
    // A one-shot body looks replayable until it is sent.
    if case .oneShot? = request.body?.content { return false }
    return [.get, .head].contains(request.method) || request.hasIdempotencyKey
  }

  private func delay(of policy: HedgingPolicy, _ key: LimitKey) -> Duration? {
    switch policy.delay {
    case .fixed(let delay): delay
    case .percentile(let share): history.percentile(share, of: key)
    }
  }

  /// Sends the request, sends it again after the delay, and returns the first acceptable response.
  private func race(
    _ request: NetworkRequest, after delay: Duration, _ key: LimitKey, _ budget: RetryBudget, _ next: Next
  ) async -> AttemptOutcome {
    // The outcome of the first, or `nil` when it is late.
    let waiter = Waiter<AttemptOutcome?>()
    let first = Task {
      let outcome = await AttemptOutcome(of: request, next)
      waiter.settle(.success(outcome))
      return outcome
    }
    let timer = request.call.clock.schedule(after: delay) { waiter.settle(.success(nil)) }
    defer { timer.cancel() }
    if let early = try? await waiter.value() { return early }
    guard !Task.isCancelled, takeHedge(request, after: delay, key, budget) else {
      return await withTaskCancellationHandler {
        await first.value
      } onCancel: {
        first.cancel()
      }.orCancelled()
    }
    let second = Task {
      let outcome = await AttemptOutcome(of: request, next)
      if outcome.isAcceptable { first.cancel() }
      return outcome
    }
    return await withTaskCancellationHandler {
      await better(of: first, second, request, key)
    } onCancel: {
      first.cancel()
      second.cancel()
    }.orCancelled()
  }

  /// Waits for both sends, so that nothing of the request goes on; the one that lost has been cancelled.
  private func better(
    of first: Task<AttemptOutcome, Never>, _ second: Task<AttemptOutcome, Never>, _ request: NetworkRequest,
    _ key: LimitKey
  ) async -> AttemptOutcome {
    let outcome = await first.value
    if outcome.isAcceptable { second.cancel() }
    let other = await second.value
    guard !outcome.isAcceptable, other.isAcceptable else {
      other.response?.body.cancel()
      return outcome
    }
    request.call.record("the second send won", from: "HedgingBehavior", kind: .hedge)
    history.signs(of: key) { $0.noteWin(at: request.call.clock.now()) }
    outcome.response?.body.cancel()
    return other
  }

  /// Whether a request that is late may be sent a second time.
  private func takeHedge(
    _ request: NetworkRequest, after delay: Duration, _ key: LimitKey, _ budget: RetryBudget
  ) -> Bool {
    let call = request.call
    let now = call.clock.now()
    let isOverloaded = history.signs(of: key) { signs in
      signs.noteLate(at: now)
      return signs.areThere(at: now)
    }
    let isGranted = !isOverloaded && budget.takeHedge(to: request.origin, at: now)
    if isGranted { history.signs(of: key) { $0.noteHedge(at: now) } }
    let reason = isOverloaded ? "the origin is overloaded" : "no budget is left"
    let message = isGranted ? "sent a second time after \(delay.inWords)" : "not sent a second time: \(reason)"
    call.record(message, from: "HedgingBehavior", kind: .hedge)
    return isGranted
  }
}

extension AttemptOutcome {
  fileprivate var isAcceptable: Bool { response?.isAcceptable == true }

  /// The outcome, or a cancellation where the task was cancelled: what a server said before is not why it ended.
  fileprivate func orCancelled() -> AttemptOutcome {
    guard Task.isCancelled, !isAcceptable else { return self }
    response?.body.cancel()
    return .failure(CancellationError())
  }
}

enum HedgingOption: RequestOption {
  static let defaultValue: HedgingPolicy? = nil
  static let isPortable = true
  static let affectsResponse = false

  static func warning(for value: HedgingPolicy?, in pipeline: Pipeline) -> String? {
    value == nil ? nil : warning("hedging", isObeyedBy: HedgingBehavior.self, in: pipeline)
  }
}

extension RequestOptions {
  /// When the request is sent a second time, instead of the behavior's policy; `nil` for never.
  ///
  /// It is obeyed where a ``HedgingBehavior`` is listed.
  public var hedging: HedgingPolicy? {
    get { self[HedgingOption.self] }
    set { self[HedgingOption.self] = newValue }
  }
}

extension RequestBehavior where Self == HedgingBehavior {
  /// Sends a slow request a second time; see ``HedgingBehavior``.
  ///
  /// - Parameters:
  ///   - delay: How long to wait for the first; by default as long as 95 of 100 requests took.
  ///   - budget: The share of further sends among the calls, where no ``RetryBehavior`` is listed.
  /// - Returns: The behavior.
  public static func hedging(
    after delay: Duration? = nil, budget: RetryBudget = RetryBudget()
  ) -> HedgingBehavior {
    HedgingBehavior(delay.map { HedgingPolicy(delay: .fixed($0)) } ?? HedgingPolicy(), budget: budget)
  }
}
