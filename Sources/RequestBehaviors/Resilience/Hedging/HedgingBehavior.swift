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
/// that is listed. If this side refuses it, by an open circuit breaker for example, the first goes on alone.
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
    let response =
      if let delay = delay(of: policy, key) {
        try await race(request, after: delay, budget, next)
      } else {
        try await next(request)
      }
    if response.isAcceptable { history.add(request.call.clock.now() - start, of: key) }
    return response
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
    _ request: NetworkRequest, after delay: Duration, _ budget: RetryBudget, _ next: Next
  ) async throws -> NetworkResponse {
    // The outcome of the first, or `nil` when it is late.
    let waiter = Waiter<AttemptOutcome?>()
    let first = Task {
      let outcome = await AttemptOutcome(of: request, next)
      waiter.settle(.success(outcome))
      return outcome
    }
    let timer = request.call.clock.schedule(after: delay) { waiter.settle(.success(nil)) }
    defer { timer.cancel() }
    if let early = try? await waiter.value() { return try early.get() }
    guard !Task.isCancelled, takeHedge(request, after: delay, budget) else {
      return try await withTaskCancellationHandler {
        try await first.value.get()
      } onCancel: {
        first.cancel()
      }
    }
    let second = Task {
      let outcome = await AttemptOutcome(of: request, next)
      if outcome.isAcceptable { first.cancel() }
      return outcome
    }
    return try await withTaskCancellationHandler {
      try await better(of: first, second, request).get()
    } onCancel: {
      first.cancel()
      second.cancel()
    }
  }

  /// Waits for both sends, so that nothing of the request goes on; the one that lost has been cancelled.
  private func better(
    of first: Task<AttemptOutcome, Never>, _ second: Task<AttemptOutcome, Never>, _ request: NetworkRequest
  ) async -> AttemptOutcome {
    let outcome = await first.value
    if outcome.isAcceptable { second.cancel() }
    let other = await second.value
    guard !outcome.isAcceptable, other.isAcceptable else {
      other.response?.body.cancel()
      return outcome
    }
    request.call.record("the second send won", from: "HedgingBehavior", kind: .hedge)
    outcome.response?.body.cancel()
    return other
  }

  private func takeHedge(_ request: NetworkRequest, after delay: Duration, _ budget: RetryBudget) -> Bool {
    let call = request.call
    let isGranted = budget.takeRetry(to: request.origin, at: call.clock.now())
    let message = isGranted ? "sent a second time after \(delay.inWords)" : "not sent a second time: no budget is left"
    call.record(message, from: "HedgingBehavior", kind: .hedge)
    return isGranted
  }
}

extension AttemptOutcome {
  fileprivate var isAcceptable: Bool { response?.isAcceptable == true }
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
